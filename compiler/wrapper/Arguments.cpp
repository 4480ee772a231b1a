// Response files and small helpers on files; Arguments.h says what each does.
#include "Arguments.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace thermocline {

void fail(int status, const std::string &message) {
    fprintf(stderr, "thermocline: %s\n", message.c_str());
    exit(status);
}

bool readFile(const std::string &path, std::string &contents) {
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    contents.clear();
    char block[1 << 16];
    ssize_t got;
    while ((got = read(file, block, sizeof block)) > 0)
        contents.append(block, static_cast<size_t>(got));
    close(file);
    return got == 0;
}

bool fileExists(const std::string &path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

std::string baseName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

std::string writeMemoryFile(const char *name, std::string_view contents) {
    int file = memfd_create(name, 0);
    while (file >= 0 && !contents.empty()) {
        ssize_t wrote = write(file, contents.data(), contents.size());
        if (wrote < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        contents.remove_prefix(static_cast<size_t>(wrote));
    }
    if (file < 0 || !contents.empty())
        fail(1, std::string("can't make a file in memory: ") + strerror(errno));
    return "/proc/self/fd/" + std::to_string(file);
}

Arguments splitQuoted(std::string_view text) {
    Arguments out;
    std::string word;
    bool inWord = false;
    char quote = 0;
    for (size_t i = 0; i < text.size(); i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            word += text[++i];
            inWord = true;
        } else if (quote) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            inWord = true;
        } else if (strchr(" \t\r\n\f\v", c)) {
            if (inWord)
                out.push_back(word);
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (inWord)
        out.push_back(word);
    return out;
}

static void expandInto(Arguments &out, const std::string &argument, int depth) {
    std::string contents;
    // Files that name each other would never end.
    if (argument.size() < 2 || argument[0] != '@' || depth > 20 ||
        !readFile(argument.substr(1), contents)) {
        out.push_back(argument);
        return;
    }
    for (const std::string &inner : splitQuoted(contents))
        expandInto(out, inner, depth + 1);
}

Arguments expandResponseFiles(const Arguments &arguments) {
    Arguments out;
    for (const std::string &argument : arguments)
        expandInto(out, argument, 0);
    return out;
}

} // namespace thermocline
