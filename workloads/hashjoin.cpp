// A partitioned hash join and a key-value store with chained nodes, as in data programs.
//
// The join scatters both relations into partitions, builds a table for each and probes it.
// The store keeps nodes and string values of various lengths, overwrites and erases some,
// and is read with skewed keys.  Both answers are known from how the input was made.
//
//   hashjoin [ROWS [ROUNDS]]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Row {
    uint64_t key, payload;
};

uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return x ^ (x >> 33);
}

struct Relations {
    std::vector<Row> build, probe;
    uint64_t matches = 0, payloadSum = 0; // what the join has to find
};

Relations makeRelations(size_t rows) {
    Relations r;
    for (size_t i = 0; i < rows; i++)
        r.build.push_back({mix(i), i});
    for (size_t i = rows - 1; i > 0; i--)
        std::swap(r.build[i], r.build[mix(i * 3) % (i + 1)]);
    for (size_t i = 0; i < 4 * rows; i++) {
        // Squaring a uniform number skews towards small ones; 1 in 8 has no partner.
        double u = static_cast<double>(mix(i + 77) >> 11) * 0x1p-53;
        auto pick = static_cast<size_t>(u * u * static_cast<double>(rows));
        bool present = mix(i + 5) % 8 != 0;
        r.probe.push_back({mix(present ? pick : pick + rows), i});
        if (present) {
            r.matches++;
            r.payloadSum += pick + i;
        }
    }
    return r;
}

class Partitions {
  public:
    Partitions(const std::vector<Row> &rows, unsigned bits)
        : start((size_t{1} << bits) + 1), rows_(std::make_unique<Row[]>(rows.size())) {
        uint64_t mask = (uint64_t{1} << bits) - 1;
        for (const Row &row : rows)
            start[(row.key & mask) + 1]++;
        for (size_t p = 1; p < start.size(); p++)
            start[p] += start[p - 1];
        std::vector<size_t> next(start.begin(), start.end() - 1);
        for (const Row &row : rows)
            rows_[next[row.key & mask]++] = row;
    }
    const Row *begin(size_t p) const { return rows_.get() + start[p]; }
    const Row *end(size_t p) const { return rows_.get() + start[p + 1]; }

  private:
    std::vector<size_t> start;
    std::unique_ptr<Row[]> rows_;
};

std::pair<uint64_t, uint64_t> join(const Relations &r, unsigned bits) {
    Partitions build(r.build, bits), probe(r.probe, bits);
    uint64_t matches = 0, sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : matches, sum)
    for (size_t p = 0; p < size_t{1} << bits; p++) {
        size_t slots = 16;
        while (slots < 2 * static_cast<size_t>(build.end(p) - build.begin(p)))
            slots *= 2;
        std::vector<const Row *> table(slots);
        auto slot = [&](uint64_t key) { return (key >> bits) & (slots - 1); };
        for (const Row *row = build.begin(p); row != build.end(p); row++) {
            size_t at = slot(row->key);
            while (table[at])
                at = (at + 1) & (slots - 1);
            table[at] = row;
        }
        for (const Row *row = probe.begin(p); row != probe.end(p); row++)
            for (size_t at = slot(row->key); table[at]; at = (at + 1) & (slots - 1))
                if (table[at]->key == row->key) {
                    matches++;
                    sum += table[at]->payload + row->payload;
                    break;
                }
    }
    return {matches, sum};
}

class Store {
  public:
    explicit Store(size_t buckets) : bucket(buckets) {}

    void put(uint64_t key, std::string value) {
        std::unique_ptr<Node> *link = find(key);
        if (!*link)
            *link = std::make_unique<Node>(Node{key, {}, nullptr});
        (*link)->value = std::move(value);
    }
    const std::string *get(uint64_t key) {
        std::unique_ptr<Node> *link = find(key);
        return *link ? &(*link)->value : nullptr;
    }
    void erase(uint64_t key) {
        std::unique_ptr<Node> *link = find(key);
        if (*link)
            *link = std::move((*link)->next);
    }

  private:
    struct Node {
        uint64_t key;
        std::string value;
        std::unique_ptr<Node> next;
    };
    std::unique_ptr<Node> *find(uint64_t key) {
        std::unique_ptr<Node> *link = &bucket[mix(key) % bucket.size()];
        while (*link && (*link)->key != key)
            link = &(*link)->next;
        return link;
    }
    std::vector<std::unique_ptr<Node>> bucket;
};

// The value of a key after it was written `version` times.
std::string valueOf(uint64_t key, int version) {
    return std::string(8 + mix(key + version) % 120, static_cast<char>('a' + (key + version) % 26));
}

bool runStore(size_t keys, uint64_t &bytesRead) {
    Store store(keys);
    for (uint64_t key = 0; key < keys; key++)
        store.put(key, valueOf(key, 0));
    for (uint64_t key = 0; key < keys; key += 3)
        store.put(key, valueOf(key, 1));
    for (uint64_t key = 0; key < keys; key += 7)
        store.erase(key);
    for (size_t i = 0; i < 2 * keys; i++) {
        double u = static_cast<double>(mix(i + 99) >> 11) * 0x1p-53;
        auto key = static_cast<uint64_t>(u * u * u * static_cast<double>(keys));
        const std::string *value = store.get(key);
        if (!value != (key % 7 == 0))
            return false;
        if (value) {
            if (value->front() != static_cast<char>('a' + (key + (key % 3 == 0)) % 26))
                return false;
            bytesRead += value->size();
        }
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    long asked = argc > 1 ? std::atol(argv[1]) : 400000;
    int rounds = argc > 2 ? std::atoi(argv[2]) : 2;
    if (asked < 100 || asked > 1000000000 || rounds < 1) {
        std::fprintf(stderr, "usage: hashjoin [ROWS [ROUNDS]]: 100 <= ROWS <= 1e9, ROUNDS >= 1\n");
        return 2;
    }
    auto rows = static_cast<size_t>(asked);
    Relations relations = makeRelations(rows);
    uint64_t checksum = 0;
    bool ok = true;
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; round++) {
        auto [matches, sum] = join(relations, 6);
        ok &= matches == relations.matches && sum == relations.payloadSum;
        ok &= runStore(rows / 2, checksum);
        checksum += sum % 1000003;
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("check: join and store %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %llu\n", static_cast<unsigned long long>(checksum));
    std::printf("metric: %.4g rows/s\n", 5.0 * rounds * static_cast<double>(rows) / took.count());
    return ok ? 0 : 1;
}
