// Every header is checked before what it announces is read.
#include "simulator/trace/raw_reader.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace thermocline {

size_t read_fully(int fd, void *to, size_t bytes, const std::string &name) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(fd, static_cast<char *>(to) + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            throw TraceError(name + " can't be read: " + std::strerror(errno));
        if (n == 0)
            break;
        done += size_t(n);
    }
    return done;
}

RawReader::RawReader(int fd, std::string name, Bytes first)
    : fd_(fd), name_(std::move(name)), first_(first.begin(), first.end()) {}

size_t RawReader::take(void *to, size_t bytes) {
    const size_t had = std::min(bytes, first_.size() - first_at_);
    if (had)
        std::memcpy(to, first_.data() + first_at_, had);
    first_at_ += had;
    return had + read_fully(fd_, static_cast<char *>(to) + had, bytes - had, name_);
}

bool RawReader::next() {
    if (cut_off_)
        return false;
    const size_t got = take(&header_, sizeof header_);
    if (got == 0)
        return false;
    const auto fail = [&](const std::string &what) {
        throw TraceError(name_ + " " + what + ": record it again");
    };
    if (got >= sizeof header_.magic && header_.magic != TC_RAW_MAGIC)
        fail("is no recording, or is damaged");
    if (got < sizeof header_) {
        cut_off_ = true;
        return false;
    }
    if (header_.version != TC_RAW_VERSION)
        fail("is a recording of version " + std::to_string(header_.version) +
             ", which this thermocline does not read");
    const uint64_t record_bytes = header_.kind == TC_RAW_RECORDS ? sizeof(tc_raw_record) : 0;
    const bool known =
        (header_.kind >= TC_RAW_META && header_.kind <= TC_RAW_END) || header_.kind == TC_RAW_PAGES;
    if (!known || header_.bytes > TC_RAW_MAX_PAYLOAD || header_.reserved[0] ||
        header_.reserved[1] ||
        (record_bytes &&
         (header_.bytes != header_.records * record_bytes || header_.end_ns < header_.begin_ns)))
        fail("is damaged");
    payload_.resize(header_.bytes);
    if (take(payload_.data(), payload_.size()) < payload_.size()) {
        cut_off_ = true;
        return false;
    }
    return true;
}

bool is_raw(Bytes beginning) {
    const uint32_t magic = TC_RAW_MAGIC;
    return beginning.size() >= sizeof magic &&
           std::memcmp(beginning.data(), &magic, sizeof magic) == 0;
}

void convert(Bytes payload, const TableSizes &sizes, std::vector<Reference> &to) {
    const size_t count = payload.size() / sizeof(tc_raw_record);
    to.reserve(to.size() + count);
    for (size_t i = 0; i < count; i++) {
        tc_raw_record raw;
        std::memcpy(&raw, payload.data() + i * sizeof raw, sizeof raw);
        Reference r;
        r.address = raw.address;
        r.instruction = raw.instruction;
        r.owner = raw.owner;
        r.gap = raw.gap;
        r.bytes = raw.word >> 5;
        r.store = raw.word >> 4 & 1;
        if ((raw.word & 15) > TC_RAW_RETURN)
            throw TraceError("the recording has a record of no known kind: it is damaged");
        r.event = TraceEvent(raw.word & 15);
        check_names(r, sizes);
        to.push_back(r);
    }
}

} // namespace thermocline
