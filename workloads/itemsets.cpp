// Frequent itemsets by a tree of common prefixes (freqmine-like).
//
// Transactions, sorted by their items' frequency, share the paths of one tree; for each item the
// paths above its nodes are followed up by parents, and the same is done with what is found there.
// Check: how often each two items come together, counted directly.
//
//   itemsets [TRANSACTIONS [SUPPORT]]     SUPPORT: in one transaction of so many
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

using Item = uint32_t;
using Basket = std::vector<Item>;
constexpr Item items = 512;
constexpr uint32_t none = UINT32_MAX;

uint64_t mix(uint64_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
}

// Half of a basket follows one of some patterns; lower numbers are more frequent.
Basket basket(uint64_t number) {
    Basket made;
    const uint64_t pattern = mix(number) % 200;
    for (uint64_t i = 0; i < 24; i++) {
        const uint64_t draw = i % 2 ? mix(pattern * 64 + i) : mix(number * 64 + i);
        const double u = static_cast<double>(draw >> 11) * 0x1p-53;
        made.push_back(static_cast<Item>(u * u * items));
    }
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
}

class Tree {
  public:
    Tree() : head_(items, none), count_(items, 0) {
        node_.push_back({none, none, none, none, 0, 0});
    }

    // Items in rising order.
    void add(const Item *first, const Item *last, uint32_t times) {
        uint32_t at = 0;
        for (; first != last; first++) {
            uint32_t *link = &node_[at].child;
            while (*link != none && node_[*link].item != *first)
                link = &node_[*link].sibling;
            if (*link == none) {
                const auto fresh = static_cast<uint32_t>(node_.size());
                *link = fresh;
                node_.push_back({at, none, none, head_[*first], *first, 0});
                head_[*first] = fresh;
            }
            for (at = node_[at].child; node_[at].item != *first;)
                at = node_[at].sibling;
            node_[at].times += times;
            count_[*first] += times;
        }
    }

    // Calls found(items, times) for every frequent set that ends with what `set` has.
    template <class Found>
    void mine(uint32_t support, Basket &set, size_t longest, Found &found) const {
        for (Item item = items; item-- > 0;) {
            if (count_[item] < support)
                continue;
            set.push_back(item);
            found(set, count_[item]);
            if (set.size() < longest)
                above(item, support).mine(support, set, longest, found);
            set.pop_back();
        }
    }

  private:
    struct Node {
        uint32_t parent, child, sibling, next; // next: of the same item
        Item item;
        uint32_t times;
    };

    // The tree of the paths above an item's nodes, without what is rare there.
    Tree above(Item item, uint32_t support) const {
        std::vector<uint32_t> together(item, 0);
        for (uint32_t at = head_[item]; at != none; at = node_[at].next)
            for (uint32_t up = node_[at].parent; up != 0; up = node_[up].parent)
                together[node_[up].item] += node_[at].times;
        Tree tree;
        Basket path;
        for (uint32_t at = head_[item]; at != none; at = node_[at].next) {
            path.clear();
            for (uint32_t up = node_[at].parent; up != 0; up = node_[up].parent)
                if (together[node_[up].item] >= support)
                    path.push_back(node_[up].item);
            std::reverse(path.begin(), path.end());
            tree.add(path.data(), path.data() + path.size(), node_[at].times);
        }
        return tree;
    }

    std::vector<Node> node_;
    std::vector<uint32_t> head_, count_;
};

} // namespace

int main(int argc, char **argv) {
    long transactions = argc > 1 ? std::atol(argv[1]) : 60000;
    long share = argc > 2 ? std::atol(argv[2]) : 100;
    if (transactions < 100 || transactions > 100000000 || share < 1) {
        std::fprintf(stderr,
                     "usage: itemsets [TRANSACTIONS [SUPPORT]]: 100 <= TRANSACTIONS <= 1e8, "
                     "SUPPORT >= 1\n");
        return 2;
    }
    const auto support = static_cast<uint32_t>(std::max(1L, transactions / share));
    std::vector<uint32_t> pairs(size_t{items} * items, 0);
    auto start = std::chrono::steady_clock::now();
    Tree tree;
    for (long number = 0; number < transactions; number++) {
        const Basket made = basket(static_cast<uint64_t>(number));
        tree.add(made.data(), made.data() + made.size(), 1);
        for (size_t i = 0; i < made.size(); i++)
            for (size_t j = 0; j < i; j++)
                pairs[size_t{made[i]} * items + made[j]]++;
    }
    uint64_t sets = 0, sum = 0, frequent = 0;
    bool ok = true;
    auto found = [&](const Basket &set, uint32_t times) {
        sets++;
        sum += times * set.size();
        if (set.size() == 2) {
            frequent++;
            ok &= pairs[size_t{set[0]} * items + set[1]] == times;
        }
    };
    Basket set;
    tree.mine(support, set, 3, found);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (uint32_t times : pairs)
        frequent -= times >= support;
    ok &= frequent == 0;
    std::printf("check: pairs %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %llu\n", static_cast<unsigned long long>(sum));
    std::printf("metric: %.4g sets/s\n", static_cast<double>(sets) / took.count());
    return ok ? 0 : 1;
}
