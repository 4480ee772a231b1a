// Memory that is measured: on the wanted nodes, in pages of the wanted size, or of a file.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace measure {

// What can't be measured here; the message says what to do.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Pages { small, huge };

struct NodeShare {
    unsigned node;
    unsigned weight;
};

// Where memory comes from.  Several nodes take turns, `weight` blocks each: traffic is split so.
struct Source {
    std::vector<NodeShare> nodes; // empty: wherever the kernel puts it
    Pages pages = Pages::huge;
    std::string directory; // of a file; empty: anonymous memory
};

inline constexpr size_t huge_page = size_t(1) << 21;

class Memory {
  public:
    Memory(const Source &source, size_t bytes); // mapped, bound and touched
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    char *data() const { return start_; }
    size_t bytes() const { return bytes_; }
    bool dax() const { return dax_; } // a file's memory itself, without the page cache
    double huge_share() const;        // of its bytes, in huge pages

  private:
    void map_file(const std::string &directory);
    void bind(const std::vector<NodeShare> &nodes);
    void touch();
    void check(const std::vector<NodeShare> &nodes) const;

    char *start_ = nullptr;
    size_t bytes_;
    void *mapped_ = nullptr;
    size_t mapped_bytes_ = 0;
    bool dax_ = false;
};

} // namespace measure
