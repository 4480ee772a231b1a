// A slow and obvious model of address translation, written from docs/translation.md and sharing
// nothing with the simulator: lists in order of use, maps for page tables.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace reference {

using Name = std::tuple<uint32_t, unsigned, uint64_t>; // space, size, page number

// Sets of names, the last one used in front.
class Lru {
  public:
    Lru(uint64_t entries, uint64_t ways) : ways_(ways), sets_(ways ? entries / ways : 0) {}
    bool find(const Name &name, uint64_t number) {
        lookups++;
        if (sets_.empty())
            return false;
        std::list<Name> &set = sets_[number % sets_.size()];
        for (auto at = set.begin(); at != set.end(); ++at)
            if (*at == name) {
                set.erase(at);
                set.push_front(name);
                hits++;
                return true;
            }
        return false;
    }
    void insert(const Name &name, uint64_t number) {
        if (sets_.empty())
            return;
        std::list<Name> &set = sets_[number % sets_.size()];
        set.push_front(name);
        if (set.size() > ways_)
            set.pop_back();
    }
    void remove(const Name &name, uint64_t number) {
        if (!sets_.empty())
            sets_[number % sets_.size()].remove(name);
    }
    uint64_t lookups = 0, hits = 0;

  private:
    uint64_t ways_;
    std::vector<std::list<Name>> sets_;
};

// A TLB of groups of pages: each entry is a group, where its first page would be, and which pages.
class Groups {
  public:
    Groups(uint64_t entries, uint64_t ways, uint64_t pages)
        : pages_(pages), ways_(ways), sets_(entries / ways) {}
    bool find(const Name &name) {
        lookups++;
        std::list<Entry> &set = set_of(name);
        for (auto at = set.begin(); at != set.end(); ++at)
            if (same_group(at->any, name) && at->members.count(number(name))) {
                set.splice(set.begin(), set, at);
                hits++;
                together += at->members.size() > 1;
                return true;
            }
        return false;
    }
    // `frames`: of all pages that are mapped; `walked`: neighbours become known.
    void insert(const Name &name, const std::map<Name, uint64_t> &frames, bool walked) {
        const uint64_t mine = frames.at(name);
        Entry made{name, mine - number(name), {number(name)}};
        const uint64_t first = number(name) / pages_ * pages_;
        for (uint64_t each = first; walked && each < first + pages_; each++) {
            const auto known = frames.find({std::get<0>(name), std::get<1>(name), each});
            if (known != frames.end() && known->second - each == made.distance)
                made.members.insert(each);
        }
        std::list<Entry> &set = set_of(name);
        for (auto at = set.begin(); at != set.end(); ++at)
            if (same_group(at->any, name) && at->distance == made.distance) {
                at->members.insert(made.members.begin(), made.members.end());
                set.splice(set.begin(), set, at);
                return;
            }
        set.push_front(made);
        if (set.size() > ways_)
            set.pop_back();
    }
    void remove(const Name &name) {
        std::list<Entry> &set = set_of(name);
        for (Entry &each : set)
            if (same_group(each.any, name))
                each.members.erase(number(name));
        set.remove_if([](const Entry &each) { return each.members.empty(); });
    }
    uint64_t lookups = 0, hits = 0, together = 0; // together: entries of several pages

  private:
    struct Entry {
        Name any;
        uint64_t distance; // of frames from page numbers
        std::set<uint64_t> members;
    };
    static uint64_t number(const Name &name) { return std::get<2>(name); }
    bool same_group(const Name &a, const Name &b) const {
        return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b) &&
               number(a) / pages_ == number(b) / pages_;
    }
    std::list<Entry> &set_of(const Name &name) {
        return sets_[number(name) / pages_ % sets_.size()];
    }
    uint64_t pages_, ways_;
    std::vector<std::list<Entry>> sets_;
};

// Where tables and guests' pages lie: tables in the order in which they are first needed, all of
// one numbering; a guest's pages by size, each in the order of first use.
class Physical {
  public:
    Physical(unsigned levels, uint32_t spaces) : levels_(levels) {
        for (uint32_t space = 0; space < spaces; space++)
            for (int dimension : {0, 1})
                table(dimension, space, levels - 1, 0);
    }
    uint64_t table(int dimension, uint32_t space, unsigned level, uint64_t address) {
        const uint64_t prefix = level + 1 == levels_ ? 0 : address >> (12 + 9 * (level + 1));
        const auto [at, fresh] = tables_.try_emplace({dimension, space, level, prefix}, next_);
        next_ += fresh;
        return at->second;
    }
    void need(int dimension, uint32_t space, unsigned size, uint64_t address) {
        for (unsigned level = levels_; level-- > size;)
            table(dimension, space, level, address);
    }
    uint64_t page(uint32_t space, unsigned size, uint64_t address) {
        const unsigned bits = 12 + 9 * size;
        uint64_t &count = counts_[{space, size}];
        const auto [at, fresh] = pages_.try_emplace({space, size, address >> bits}, count);
        count += fresh;
        return (uint64_t(size + 1) << 45) + (at->second << bits);
    }

  private:
    unsigned levels_;
    uint64_t next_ = 0;
    std::map<std::tuple<int, uint32_t, unsigned, uint64_t>, uint64_t> tables_;
    std::map<Name, uint64_t> pages_;
    std::map<std::pair<uint32_t, unsigned>, uint64_t> counts_;
};

struct Shape {
    bool nested = false;
    unsigned levels = 4;
    std::vector<std::pair<uint64_t, uint64_t>> first, walk_caches; // entries, ways
    std::pair<uint64_t, uint64_t> second, second_huge, nested_tlb;
};

// One core's; `shared` second levels and buffers in memory are the caller's.
class Core {
  public:
    explicit Core(const Shape &shape)
        : second(shape.second.first, shape.second.second),
          second_huge(shape.second_huge.first, shape.second_huge.second),
          nested_tlb(shape.nested_tlb.first, shape.nested_tlb.second), shape_(shape) {
        for (const auto &[entries, ways] : shape.first)
            first.emplace_back(entries, ways);
        for (const auto &[entries, ways] : shape.walk_caches) {
            guest.emplace_back(entries, ways);
            host.emplace_back(entries, ways);
        }
    }
    std::vector<Lru> first, guest, host; // guest[0] points to tables of small pages
    Lru second, second_huge, nested_tlb;
    uint64_t walks = 0, references = 0;

    void walk(uint32_t space, unsigned size, uint64_t address, Physical &physical) {
        walks++;
        physical.need(0, space, size, address);
        if (!shape_.nested) {
            one(guest, space, size, address);
            return;
        }
        int from = int(shape_.levels) - 1;
        bool known = false; // where the first table is, on the host
        for (unsigned level = size + 1; level < shape_.levels; level++)
            if (guest_hit(guest, space, level, address)) {
                from = int(level) - 1;
                known = true;
                break;
            }
        for (int level = from; level >= int(size); level--) {
            if (!(known && level == from))
                host_of(space, 0, physical.table(0, space, unsigned(level), address) << 12,
                        physical);
            references++;
            if (level > int(size))
                keep(guest, space, unsigned(level), address);
        }
        host_of(space, size, physical.page(space, size, address), physical);
    }

  private:
    static uint64_t up(uint64_t address, unsigned level) { return address >> (12 + 9 * level); }
    bool guest_hit(std::vector<Lru> &caches, uint32_t space, unsigned level, uint64_t address) {
        if (level - 1 >= caches.size())
            return false;
        return caches[level - 1].find({space, 0, up(address, level)}, up(address, level));
    }
    void keep(std::vector<Lru> &caches, uint32_t space, unsigned level, uint64_t address) {
        if (level - 1 < caches.size())
            caches[level - 1].insert({space, 0, up(address, level)}, up(address, level));
    }
    void one(std::vector<Lru> &caches, uint32_t space, unsigned size, uint64_t address) {
        unsigned level = size + 1;
        while (level < shape_.levels && !guest_hit(caches, space, level, address))
            level++;
        for (unsigned read = level; read-- > size;) {
            references++;
            if (read > size)
                keep(caches, space, read, address);
        }
    }
    void host_of(uint32_t space, unsigned size, uint64_t address, Physical &physical) {
        const uint64_t number = up(address, size);
        if (nested_tlb.find({space, size, number}, number))
            return;
        physical.need(1, space, size, address);
        one(host, space, size, address);
        nested_tlb.insert({space, size, number}, number);
    }

    Shape shape_;
};

} // namespace reference
