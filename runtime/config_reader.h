// Reads the configuration's lines, one after the other.
#pragma once
#include "config.h"
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tc {

// The words of one line.  Only blanks separate; the line is ended with a NUL.
class Words {
  public:
    explicit Words(char *line) : at(line) {}
    char *next() { // null at the end
        skip();
        if (!*at)
            return nullptr;
        char *word = at;
        while (*at && *at != ' ')
            at++;
        if (*at)
            *at++ = 0;
        return word;
    }
    char *rest() { // to the end of the line, null if there is nothing
        skip();
        return *at ? at : nullptr;
    }
    char *last() { // the same, and nothing follows
        char *const found = rest();
        while (*at)
            at++;
        return found;
    }
    bool is(const char *expected) {
        const char *word = next();
        return word && strcmp(word, expected) == 0;
    }
    bool number(uint64_t &value, uint64_t most) {
        const char *word = next();
        return word && parse(word, value) == 0 && value <= most;
    }
    bool end() { return !rest(); }

    // Digits only; returns the character that ended them, or -1.
    static int parse(const char *&word, uint64_t &value) {
        if (*word < '0' || *word > '9')
            return -1;
        for (value = 0; *word >= '0' && *word <= '9'; word++) {
            if (value > (UINT64_MAX - 9) / 10)
                return -1;
            value = value * 10 + static_cast<uint64_t>(*word - '0');
        }
        return *word;
    }

  private:
    void skip() {
        while (*at == ' ')
            at++;
    }
    char *at;
};

class ConfigReader {
  public:
    explicit ConfigReader(Config &config) : config(config) {}

    // Each returns null, or what is wrong: with the line, and with all of them together.
    const char *line(char *text);
    const char *finish();

  private:
    struct Path {
        const char *word;
        const char *Config::*path;
    };
    struct Directive {
        const char *word;
        const char *(ConfigReader::*read)(Words &);
    };
    static const Path paths[];
    static const Directive directives[];

    const char *cache(Words &);
    const char *default_tier(Words &);
    const char *heap(Words &);
    const char *interval(Words &);
    const char *nonheap_tier(Words &);
    const char *only_functions(Words &);
    const char *option(Words &);
    const char *preload(Words &);
    const char *sampler(Words &);
    const char *site(Words &);
    const char *split(Words &);
    const char *stream_budget(Words &);
    const char *stream_function(Words &);
    const char *stream_time(Words &);
    const char *tier(Words &);

    bool nodes(const char *list, TierConfig &);
    const char *tier_or_none(Words &, int &);
    Config &config;
    bool versioned = false;
};

} // namespace tc
