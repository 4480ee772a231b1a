// Each thread's records wait until they fill a chunk.
#include "simulator/trace/writer.h"
#include "simulator/trace/aside.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace thermocline {

namespace {

[[noreturn]] void fail(const std::string &path, int error) {
    throw TraceError(path + " can't be written: " + std::strerror(error));
}

} // namespace

TraceWriter::TraceWriter(std::string path, Options options)
    : path_(std::move(path)), aside_(aside_name(path_)), options_(options) {
    refuse_to_overwrite(path_, options_.overwrite);
    file_ = std::fopen(aside_.c_str(), "wb");
    if (!file_)
        fail(path_, errno);
    const FileHead head;
    write(&head, sizeof head);
}

TraceWriter::~TraceWriter() {
    if (!file_)
        return;
    std::fclose(file_);
    unlink(aside_.c_str());
}

void TraceWriter::write(const void *data, size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_) != bytes)
        fail(path_, errno);
    offset_ += bytes;
}

void TraceWriter::put(ChunkHeader header, Bytes plain, std::span<const size_t> ends) {
    compress(plain, options_.level, stored_, ends);
    header.plain_bytes = uint32_t(plain.size());
    header.stored_bytes = uint32_t(stored_.size());
    header.checksum = chunk_checksum(header, stored_);
    index_.push_back({offset_, header});
    write(&header, sizeof header);
    write(stored_.data(), stored_.size());
}

void TraceWriter::table(ChunkKind kind, uint32_t records, Bytes payload) {
    ChunkHeader header;
    header.kind = kind;
    header.records = records;
    put(header, payload);
}

void TraceWriter::position(uint32_t number, uint64_t instruction, uint32_t window, uint64_t ns) {
    const bool begins = !threads_.contains(number);
    Thread &thread = threads_[number];
    if (instruction < thread.instruction)
        throw TraceError("thread " + std::to_string(number) +
                         "'s count of instructions goes back: the recording is damaged");
    const bool moved = !begins && window != thread.window;
    if (begins)
        thread.window = window;
    Reference clock;
    clock.event = TraceEvent::clock;
    clock.address = thread.ns = std::max(thread.ns, ns);
    append(number, thread, clock);
    if (instruction > thread.instruction || moved) {
        Reference hole;
        hole.event = TraceEvent::window_begin;
        hole.address = instruction - thread.instruction;
        hole.owner = window;
        append(number, thread, hole);
    }
}

void TraceWriter::append(uint32_t number, Thread &thread, const Reference &r) {
    if (thread.records.empty()) {
        thread.header = ChunkHeader();
        thread.header.kind = ChunkKind::records;
        thread.header.thread = number;
        thread.header.window = thread.window;
        thread.header.first_instruction = thread.instruction;
        thread.header.begin_ns = thread.ns;
    }
    thread.records.push_back(r);
    switch (r.event) {
    case TraceEvent::reference:
        thread.header.references++;
        break;
    case TraceEvent::window_begin:
        thread.header.flags |= ChunkHeader::has_windows;
        thread.window = r.window();
        break;
    case TraceEvent::enter:
    case TraceEvent::leave:
        thread.header.flags |= ChunkHeader::has_functions;
        break;
    default:
        break;
    }
    if (r.event != TraceEvent::clock)
        thread.instruction += r.instructions();
    if (thread.records.size() == max_records)
        flush(number, thread);
}

void TraceWriter::add(uint32_t number, std::span<const Reference> records) {
    Thread &thread = threads_[number];
    for (const Reference &r : records)
        append(number, thread, r);
}

void TraceWriter::end_time(uint32_t number, uint64_t ns) {
    Thread &thread = threads_[number];
    thread.ns = std::max(thread.ns, ns);
}

void TraceWriter::flush(uint32_t number, Thread &thread) {
    if (thread.records.empty())
        return;
    thread.header.records = uint32_t(thread.records.size());
    thread.header.end_ns = thread.ns;
    encoder_.encode(thread.records, plain_);
    if (plain_.size() > max_plain_bytes)
        throw TraceError("thread " + std::to_string(number) + "'s chunk is too large");
    put(thread.header, plain_, encoder_.ends());
    thread.records.clear();
}

void TraceWriter::finish() {
    for (auto &[number, thread] : threads_)
        flush(number, thread);
    FileEnd end;
    end.index_offset = offset_;
    end.checksum = end_checksum(offset_);
    ChunkHeader header;
    header.kind = ChunkKind::index;
    header.records = uint32_t(index_.size());
    const std::vector<IndexEntry> index = index_;
    put(header,
        {reinterpret_cast<const uint8_t *>(index.data()), index.size() * sizeof(IndexEntry)});
    write(&end, sizeof end);
    std::FILE *file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) {
        const int error = errno;
        unlink(aside_.c_str());
        fail(path_, error);
    }
    give_name(aside_, path_, options_.overwrite);
}

} // namespace thermocline
