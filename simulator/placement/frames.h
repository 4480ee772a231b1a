// Physical memory as the operating system sees it: nodes (a tier's part on one socket) and
// their free frames.
#pragma once
#include <cstdint>
#include <vector>

namespace thermocline {

constexpr uint64_t page_bytes = 4096;

struct Place {
    uint32_t node = 0;
    uint64_t address = 0; // in the node
};

// Whose memory pages come from, if not a certain socket's.
constexpr uint32_t toucher = UINT32_MAX;     // the socket's that touches them first
constexpr uint32_t in_turn = UINT32_MAX - 1; // each socket's, one after the other

struct FramesConfig {
    uint32_t sockets = 1;
    uint32_t socket = toucher;
    std::vector<uint64_t> node_bytes; // node = tier * sockets + socket
    uint64_t contiguous_pages = 16;   // of a run of frames that lie together
    uint64_t seed = 0;
};

// Frames come in runs: pages that are touched one after the other lie side by side for so many
// pages, and runs are strewn over the node, as on a host that has been up for a while.
class Frames {
  public:
    explicit Frames(const FramesConfig &config);

    uint32_t tiers() const { return uint32_t(nodes_.size()) / sockets_; }
    uint64_t free_pages(uint32_t tier) const;
    uint64_t pages(uint32_t tier) const;

    // A frame of the tier, on the socket if there is one free; what was given back comes first.
    bool take(uint32_t tier, uint32_t socket, Place &place);
    void give(const Place &place); // that was taken

  private:
    struct Node {
        uint64_t pages, fresh = 0;       // so many have been taken at least once
        std::vector<uint64_t> back = {}; // addresses of those that are free again
        uint64_t free() const { return pages - fresh + back.size(); }
    };
    uint64_t frame(uint32_t node, uint64_t number) const;

    uint32_t sockets_;
    uint64_t run_, seed_;
    std::vector<Node> nodes_;
};

} // namespace thermocline
