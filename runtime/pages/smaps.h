// The text of /proc/PID/smaps, in pieces as they come.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc::pages {

struct SmapsMapping {
    uintptr_t from, to;
    uint64_t referenced; // bytes
};

class SmapsReader {
  public:
    using Each = void (*)(void *context, const SmapsMapping &);
    SmapsReader(Each each, void *context) : each(each), context(context) {}
    void take(const char *text, size_t bytes);

  private:
    void end_line();
    Each each;
    void *context;
    SmapsMapping mapping{};
    char line[64]; // as much of it as matters
    size_t used = 0;
};

} // namespace tc::pages
