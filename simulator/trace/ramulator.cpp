// Ramulator 2's trace front ends (github.com/CMU-SAFARI/ramulator2, src/frontend/impl/
// memory_trace): LoadStoreTrace, whose lines are "LD ADDRESS" or "ST ADDRESS", decimal or
// after 0x hexadecimal; and ReadWriteTrace, whose lines are "R" or "W" and the place in the
// DRAM as decimal numbers between commas: channel, rank, bank group, bank, row, column, or what
// levels the device has.
#include "simulator/trace/foreign.h"
#include <charconv>
#include <string_view>

namespace thermocline {

namespace {

nlohmann::json unknown() {
    return {"sites",        "threads",     "instructions between references",
            "instructions", "dependences", "sizes"};
}

[[noreturn]] void bad_line(const ForeignInput &input, const std::string &wanted) {
    throw TraceError(input.name() + ", line " + std::to_string(input.lines()) + ": not " + wanted);
}

// Ramulator keeps addresses as signed numbers.
bool parse(std::string_view text, uint64_t &value) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size() && value <= INT64_MAX;
}

// Calls each(is it the second word, rest of the line) for each line, and adds what it returns.
template <class Address>
void import_lines(ForeignInput &input, Importer &importer, std::string_view read,
                  std::string_view write, const std::string &wanted, uint32_t bytes,
                  Address address_of) {
    std::string text;
    while (input.line(text)) {
        const std::string_view line = text;
        const size_t blank = line.find(' ');
        const std::string_view word = line.substr(0, blank);
        if (blank == line.npos || (word != read && word != write))
            bad_line(input, wanted);
        Reference r;
        r.store = word == write;
        r.bytes = bytes;
        if (!address_of(line.substr(blank + 1), r.address))
            bad_line(input, wanted);
        importer.add(r);
    }
    importer.finish(0);
}

// Between addresses and places, as Ramulator 2's RoBaRaCoCh: the channel changes with each
// line, then the column, then the levels between, from the rank; the row last.
class Places {
  public:
    explicit Places(const ForeignOptions &options) : options_(options) {
        uint64_t lines = 1;
        for (uint64_t count : options.organization) {
            if (count == 0 || count > INT64_MAX / options.line_bytes / lines)
                throw TraceMisuse("an organization has from 1 to 2^63 bytes: see --organization");
            lines *= count;
        }
        if (options.organization.size() < 3)
            throw TraceMisuse("an organization has a channel, a row and a column at least: see "
                              "--organization");
        order_.push_back(0);
        order_.push_back(options.organization.size() - 1);
        for (size_t level = 1; level + 1 < options.organization.size(); level++)
            order_.push_back(level);
        bytes_ = lines * options.line_bytes;
    }

    bool parse(std::string_view text, uint64_t &address) const {
        std::vector<uint64_t> place;
        for (size_t comma = 0; comma != text.npos;) {
            comma = text.find(',');
            uint64_t value;
            if (place.size() == order_.size() ||
                !thermocline::parse(text.substr(0, comma), value) ||
                value >= options_.organization[place.size()])
                return false;
            place.push_back(value);
            text.remove_prefix(comma == text.npos ? 0 : comma + 1);
        }
        if (place.size() != order_.size())
            return false;
        address = 0;
        for (size_t i = order_.size(); i-- > 0;)
            address = address * options_.organization[order_[i]] + place[order_[i]];
        address *= options_.line_bytes;
        return true;
    }

    std::string print(uint64_t address) const {
        std::vector<uint64_t> place(order_.size());
        uint64_t line = address % bytes_ / options_.line_bytes;
        for (size_t level : order_) {
            place[level] = line % options_.organization[level];
            line /= options_.organization[level];
        }
        std::string text;
        for (uint64_t value : place)
            text += (text.empty() ? "" : ",") + std::to_string(value);
        return text;
    }
    uint64_t bytes() const { return bytes_; }

  private:
    const ForeignOptions &options_;
    std::vector<size_t> order_; // levels, the fastest changing first
    uint64_t bytes_ = 0;
};

} // namespace

void import_ramulator_loads(ForeignInput &input, TraceWriter &writer,
                            const ForeignOptions &options) {
    Importer importer(writer, "ramulator2-loadstore", input.name(), unknown(),
                      {{"bytes", options.line_bytes}, {"gap", 0}});
    import_lines(input, importer, "LD", "ST", "LD or ST, a blank and an address below 2^63",
                 options.line_bytes, parse);
}

void export_ramulator_loads(Cursor &cursor, const Tables &, ForeignOutput &output,
                            const ForeignOptions &) {
    while (const Reference *r = cursor.next()) {
        if (r->event != TraceEvent::reference)
            continue;
        if (r->address > INT64_MAX)
            throw TraceError("Ramulator 2 takes no address from 2^63 on, which this trace has");
        char text[32] = "LD 0x";
        if (r->store)
            text[0] = 'S', text[1] = 'T';
        char *end = std::to_chars(text + 5, text + sizeof text - 1, r->address, 16).ptr;
        *end = '\n';
        output.write(text, size_t(end + 1 - text));
    }
}

void import_ramulator_reads(ForeignInput &input, TraceWriter &writer,
                            const ForeignOptions &options) {
    const Places places(options);
    Importer importer(
        writer, "ramulator2-readwrite", input.name(), unknown(),
        {{"bytes", options.line_bytes}, {"gap", 0}, {"organization", options.organization}});
    import_lines(
        input, importer, "R", "W",
        "R or W, a blank and a place with commas that --organization has", options.line_bytes,
        [&](std::string_view text, uint64_t &address) { return places.parse(text, address); });
}

void export_ramulator_reads(Cursor &cursor, const Tables &, ForeignOutput &output,
                            const ForeignOptions &options) {
    const Places places(options);
    while (const Reference *r = cursor.next()) {
        if (r->event != TraceEvent::reference)
            continue;
        const std::string text = (r->store ? "W " : "R ") + places.print(r->address) + "\n";
        output.write(text.data(), text.size());
    }
}

} // namespace thermocline
