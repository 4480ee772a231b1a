// Chunks in the order in which they come: those of other threads than the one that is asked
// for wait, in the form they came in.
#include "simulator/trace/raw_reader.h"
#include "simulator/trace/source.h"
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace thermocline {

namespace {

class StreamSource : public TraceSource {
  public:
    StreamSource(std::string name, size_t max_waiting_bytes)
        : TraceSource(std::move(name)), max_waiting_(max_waiting_bytes) {}
    ~StreamSource() override {
        if (closes >= 0)
            close(closes);
    }

    bool next(uint32_t thread, const Wanted &wanted, Chunk &chunk) override {
        bool skipped = false;
        uint64_t from = 0;
        for (;;) {
            const auto found = waiting_.find(thread);
            if (found == waiting_.end() || found->second.empty()) {
                if (!advance())
                    return false;
                continue;
            }
            waiting_bytes_ -= found->second.front().payload.size();
            chunk = std::move(found->second.front());
            found->second.pop_front();
            if (!skipped)
                from = chunk.header.first_instruction;
            chunk.skipped_from = from;
            if (wanted(chunk.header))
                return true;
            skipped = true;
        }
    }

    std::vector<uint32_t> threads() const override {
        std::vector<uint32_t> numbers;
        numbers.reserve(waiting_.size());
        for (const auto &[number, _] : waiting_)
            numbers.push_back(number);
        return numbers;
    }
    size_t waiting_bytes() const override { return waiting_bytes_; }

    int closes = -1; // a descriptor

  protected:
    void wait(Chunk chunk) {
        waiting_bytes_ += chunk.payload.size();
        if (waiting_bytes_ > max_waiting_)
            throw TraceError(name + ": one thread's records are so far behind another's that " +
                             std::to_string(max_waiting_ >> 20) +
                             " MiB wait: make a trace file of it with -o and simulate that");
        waiting_[chunk.header.thread].push_back(std::move(chunk));
    }

  private:
    size_t max_waiting_, waiting_bytes_ = 0;
    std::map<uint32_t, std::deque<Chunk>> waiting_;
};

class RawSource final : public StreamSource {
  public:
    RawSource(int fd, std::string name, size_t max_waiting_bytes, Bytes first)
        : StreamSource(name, max_waiting_bytes), reader_(fd, std::move(name), first) {}

    bool advance() override {
        if (!reader_.next()) {
            cut_off = !tables.ended;
            return false;
        }
        const tc_raw_header &raw = reader_.header();
        if (raw.kind != TC_RAW_RECORDS) {
            tables.add(ChunkKind(raw.kind), raw.records, reader_.payload());
            return true;
        }
        Chunk chunk;
        chunk.raw = true;
        chunk.header.kind = ChunkKind::records;
        chunk.header.flags = ChunkHeader::has_functions | ChunkHeader::has_windows;
        chunk.header.records = raw.records;
        chunk.header.thread = raw.thread;
        chunk.header.window = raw.window;
        chunk.header.first_instruction = raw.first_instruction;
        chunk.header.begin_ns = raw.begin_ns;
        chunk.header.end_ns = raw.end_ns;
        chunk.payload.assign(reader_.payload().begin(), reader_.payload().end());
        wait(std::move(chunk));
        return true;
    }

  private:
    RawReader reader_;
};

// A trace file through a pipe: its chunks are in order, and its index is not needed.
class PipedFile final : public StreamSource {
  public:
    PipedFile(int fd, std::string name, size_t max_waiting_bytes)
        : StreamSource(std::move(name), max_waiting_bytes), fd_(fd) {}

    bool advance() override {
        if (ended_)
            return false;
        Chunk chunk;
        ChunkHeader &header = chunk.header;
        const size_t got = read_fully(fd_, &header, sizeof header, name);
        if (got < sizeof header) {
            ended_ = cut_off = true;
            return false;
        }
        if (!plausible(header))
            damaged();
        if (header.kind == ChunkKind::index) {
            // Read to the end, so that who writes the pipe is not told that nobody reads.
            char rest[4096];
            while (read_fully(fd_, rest, sizeof rest, name))
                ;
            ended_ = true;
            return false;
        }
        chunk.payload.resize(header.stored_bytes);
        if (read_fully(fd_, chunk.payload.data(), header.stored_bytes, name) <
            header.stored_bytes) {
            ended_ = cut_off = true;
            return false;
        }
        if (chunk_checksum(header, chunk.payload) != header.checksum)
            damaged();
        if (header.kind == ChunkKind::records) {
            wait(std::move(chunk));
            return true;
        }
        expand(chunk.payload, plain_, header.plain_bytes);
        tables.add(header.kind, header.records, plain_);
        return true;
    }

  private:
    [[noreturn]] void damaged() { throw TraceError(name + " is damaged: record it again"); }

    int fd_;
    bool ended_ = false;
    std::vector<uint8_t> plain_;
};

} // namespace

std::unique_ptr<TraceSource> stream_source(int fd, std::string name, size_t max_waiting_bytes) {
    uint8_t first[sizeof(FileHead)];
    const size_t got = read_fully(fd, first, sizeof first, name);
    if (is_raw({first, got}))
        return std::make_unique<RawSource>(fd, std::move(name), max_waiting_bytes,
                                           Bytes{first, got});
    if (got < sizeof first)
        throw TraceError(name + (got ? " is too short for a trace" : " is empty") +
                         ": make a trace with thermocline trace, or import one");
    FileHead head;
    std::memcpy(&head, first, sizeof head);
    checked_head(head, name);
    return std::make_unique<PipedFile>(fd, std::move(name), max_waiting_bytes);
}

std::unique_ptr<TraceSource> open_source(const std::string &path, size_t max_waiting_bytes) {
    if (path == "-")
        return stream_source(STDIN_FILENO, "standard input", max_waiting_bytes);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
        const int error = fd < 0 ? errno : EISDIR;
        if (fd >= 0)
            close(fd);
        throw TraceError(path + " can't be read: " + std::strerror(error));
    }
    uint8_t first[4];
    if (S_ISREG(status.st_mode) &&
        !(pread(fd, first, sizeof first, 0) == sizeof first && is_raw(first)))
        return file_source(fd, path);
    try {
        auto stream = stream_source(fd, path, max_waiting_bytes);
        static_cast<StreamSource &>(*stream).closes = fd;
        return stream;
    } catch (...) {
        close(fd);
        throw;
    }
}

} // namespace thermocline
