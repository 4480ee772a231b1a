// A trace file that can be sought.  Its index says where each thread's chunks are; a file
// that was cut off has none, and is read through to its last whole chunk once.
#include "simulator/trace/source.h"
#include <cerrno>
#include <cstring>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace thermocline {

namespace {

class FileSource final : public TraceSource {
  public:
    FileSource(int fd, std::string name) : TraceSource(std::move(name)), fd_(fd) {
        try {
            open();
        } catch (...) {
            close(fd_);
            throw;
        }
    }
    ~FileSource() override { close(fd_); }

    bool next(uint32_t thread, const Wanted &wanted, Chunk &chunk) override {
        const auto found = threads_.find(thread);
        if (found == threads_.end())
            return false;
        auto &[entries, at] = found->second;
        bool skipped = false;
        while (at < entries.size()) {
            const IndexEntry &entry = index_[entries[at++]];
            chunk.header = entry.header;
            if (!skipped)
                chunk.skipped_from = entry.header.first_instruction;
            if (!wanted(entry.header)) {
                skipped = true;
                continue;
            }
            load(entry, chunk.payload);
            chunk.raw = false;
            return true;
        }
        return false;
    }

    std::vector<uint32_t> threads() const override {
        std::vector<uint32_t> numbers;
        numbers.reserve(threads_.size());
        for (const auto &[number, _] : threads_)
            numbers.push_back(number);
        return numbers;
    }

    const std::vector<IndexEntry> *index() const override { return &index_; }

  private:
    [[noreturn]] void damaged(uint64_t offset) const {
        throw TraceError(name + " is damaged at byte " + std::to_string(offset) +
                         ": record it again, or use what `thermocline trace info` counts before");
    }

    size_t read_at(uint64_t offset, void *to, size_t bytes) const {
        size_t done = 0;
        while (done < bytes) {
            const ssize_t n =
                pread(fd_, static_cast<char *>(to) + done, bytes - done, off_t(offset + done));
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

    // A chunk's payload as it is stored, checked.  `entry` was read from the index or the file.
    bool read_chunk(const IndexEntry &entry, std::vector<uint8_t> &payload) const {
        if (entry.offset > size_ || size_ - entry.offset < sizeof(ChunkHeader) ||
            size_ - entry.offset - sizeof(ChunkHeader) < entry.header.stored_bytes)
            return false;
        payload.resize(entry.header.stored_bytes);
        return read_at(entry.offset + sizeof(ChunkHeader), payload.data(), payload.size()) ==
                   payload.size() &&
               chunk_checksum(entry.header, payload) == entry.header.checksum;
    }

    void load(const IndexEntry &entry, std::vector<uint8_t> &payload) const {
        ChunkHeader header;
        if (read_at(entry.offset, &header, sizeof header) != sizeof header ||
            std::memcmp(&header, &entry.header, sizeof header) != 0 || !read_chunk(entry, payload))
            damaged(entry.offset);
    }

    void open() {
        struct stat status;
        if (fstat(fd_, &status) != 0)
            throw TraceError(name + " can't be read: " + std::strerror(errno));
        size_ = uint64_t(status.st_size);
        FileHead head;
        if (read_at(0, &head, sizeof head) != sizeof head)
            throw TraceError(name + " is too short for a trace: make one with thermocline trace, "
                                    "or import it");
        checked_head(head, name);
        if (!read_index()) {
            cut_off = true;
            scan();
        }
        std::vector<uint8_t> stored, plain;
        for (uint32_t i = 0; i < index_.size(); i++) {
            const ChunkHeader &header = index_[i].header;
            if (header.kind == ChunkKind::records) {
                threads_[header.thread].first.push_back(i);
                continue;
            }
            load(index_[i], stored);
            try {
                expand(stored, plain, header.plain_bytes);
                tables.add(header.kind, header.records, plain);
            } catch (const TraceError &) {
                damaged(index_[i].offset);
            }
        }
    }

    bool read_index() {
        FileEnd end;
        const FileEnd expected;
        if (size_ < sizeof(FileHead) + sizeof(ChunkHeader) + sizeof end ||
            read_at(size_ - sizeof end, &end, sizeof end) != sizeof end ||
            std::memcmp(end.magic, expected.magic, sizeof end.magic) != 0 ||
            end_checksum(end.index_offset) != end.checksum)
            return false;
        IndexEntry at{end.index_offset, {}};
        std::vector<uint8_t> stored, plain;
        if (at.offset > size_ ||
            read_at(at.offset, &at.header, sizeof at.header) != sizeof at.header ||
            !plausible(at.header) || at.header.kind != ChunkKind::index ||
            at.header.plain_bytes != at.header.records * sizeof(IndexEntry) ||
            at.header.records > size_ / sizeof(ChunkHeader) || !read_chunk(at, stored))
            return false;
        try {
            expand(stored, plain, at.header.plain_bytes);
        } catch (const TraceError &) {
            return false;
        }
        index_.resize(at.header.records);
        if (!plain.empty())
            std::memcpy(index_.data(), plain.data(), plain.size());
        // An index that is whole and yet wrong was made so; it only has to do no harm.
        for (const IndexEntry &entry : index_)
            if (!plausible(entry.header) || entry.header.kind == ChunkKind::index)
                damaged(at.offset);
        return true;
    }

    void scan() {
        index_.clear();
        std::vector<uint8_t> payload;
        IndexEntry entry{sizeof(FileHead), {}};
        while (read_at(entry.offset, &entry.header, sizeof entry.header) == sizeof entry.header &&
               plausible(entry.header) && entry.header.kind != ChunkKind::index &&
               read_chunk(entry, payload)) {
            index_.push_back(entry);
            entry.offset += sizeof entry.header + entry.header.stored_bytes;
        }
    }

    int fd_;
    uint64_t size_ = 0;
    std::vector<IndexEntry> index_;
    // A thread's chunks in the index, and the next of them.
    std::map<uint32_t, std::pair<std::vector<uint32_t>, size_t>> threads_;
};

} // namespace

std::unique_ptr<TraceSource> file_source(int fd, std::string name) {
    return std::make_unique<FileSource>(fd, std::move(name));
}

} // namespace thermocline
