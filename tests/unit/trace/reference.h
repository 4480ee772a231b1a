// The cache hierarchy of docs/trace-profile.md written down as plainly as possible.
#pragma once
#include "simulator/cache.h"
#include "trace/traffic.h"
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <vector>

class ReferenceHierarchy {
  public:
    std::map<uint32_t, tc::Traffic> traffic;

    ReferenceHierarchy(const std::vector<thermocline::CacheGeometry> &levels,
                       std::function<uint32_t(uint64_t)> owner_of_line)
        : owner_of_line(owner_of_line) {
        for (const auto &geometry : levels)
            caches.push_back({geometry.sets(), geometry.ways, {}});
    }

    void refer(uint64_t line, bool store) {
        tc::Traffic &mine = traffic[owner_of_line(line)];
        (store ? mine.stores : mine.loads)++;
        bring(0, line);
        if (store)
            find(0, line)->dirty = true;
    }

  private:
    struct Line {
        uint64_t number;
        bool dirty;
        uint32_t owner;
    };
    struct Level {
        uint64_t sets;
        size_t ways;
        std::map<uint64_t, std::list<Line>> contents; // of a set, most recent first
    };

    std::list<Line> &set(size_t level, uint64_t line) {
        return caches[level].contents[line % caches[level].sets];
    }
    Line *find(size_t level, uint64_t line) {
        for (Line &each : set(level, line))
            if (each.number == line)
                return &each;
        return nullptr;
    }
    // Afterwards the line is in the level and the most recent of its set.
    void bring(size_t level, uint64_t line) {
        if (level == caches.size()) {
            traffic[owner_of_line(line)].read_bytes += 64;
            return;
        }
        if (!find(level, line)) {
            bring(level + 1, line);
            put(level, {line, false, owner_of_line(line)});
        }
        to_front(level, line);
    }
    void to_front(size_t level, uint64_t line) {
        auto &lines = set(level, line);
        for (auto at = lines.begin(); at != lines.end(); ++at)
            if (at->number == line) {
                lines.splice(lines.begin(), lines, at);
                return;
            }
    }
    void put(size_t level, Line line) {
        auto &lines = set(level, line.number);
        Line victim{0, false, 0};
        if (lines.size() == caches[level].ways) {
            victim = lines.back();
            lines.pop_back();
        }
        lines.push_front(line);
        if (!victim.dirty)
            return;
        if (level + 1 == caches.size())
            traffic[victim.owner].write_bytes += 64;
        else
            write_back(level + 1, victim.number);
    }
    void write_back(size_t level, uint64_t line) {
        if (Line *here = find(level, line)) {
            here->dirty = true;
            here->owner = owner_of_line(line);
            to_front(level, line);
        } else {
            put(level, {line, true, owner_of_line(line)});
        }
    }

    std::vector<Level> caches;
    std::function<uint32_t(uint64_t)> owner_of_line;
};
