// The cursor: decodes its thread's chunks, and leaves out what the region does not hold.
#include "simulator/trace/reader.h"
#include "simulator/trace/raw_reader.h"
#include <algorithm>

namespace thermocline {

Cursor::Cursor(TraceSource &source, uint32_t thread, Region region)
    : source_(source), thread_(thread), region_(std::move(region)),
      wanted_([this](const ChunkHeader &header) { return wanted(header); }),
      everything_(region_.everything()) {}

// By a chunk's header: whether it may hold something of the region.
bool Cursor::wanted(const ChunkHeader &header) const {
    // Enter and leave are counted wherever they are, and begin anew behind a hole.
    if (!region_.function.empty() &&
        header.flags & (ChunkHeader::has_functions | ChunkHeader::has_windows))
        return true;
    if (!region_.function.empty() && depth_ == 0)
        return false;
    if (header.end_ns < region_.from_ns || header.begin_ns >= region_.to_ns)
        return false;
    return header.flags & ChunkHeader::has_windows ||
           (header.window >= region_.first_window && header.window <= region_.last_window);
}

bool Cursor::inside() const {
    return (region_.function.empty() || depth_ > 0) && ns_ >= region_.from_ns &&
           ns_ < region_.to_ns && window_ >= region_.first_window && window_ <= region_.last_window;
}

bool Cursor::next_chunk() {
    if (!source_.next(thread_, wanted_, chunk_))
        return false;
    const ChunkHeader &header = chunk_.header;
    const TableSizes sizes{source_.tables.statics.size(), source_.tables.owners.size(),
                           source_.tables.functions.size()};
    uint64_t hole = header.first_instruction - chunk_.skipped_from;
    if (header.first_instruction < chunk_.skipped_from)
        throw TraceError("the count of instructions goes back: the trace is damaged");
    if (chunk_.raw) {
        raw_.clear();
        raw_at_ = 0;
        convert(chunk_.payload, sizes, raw_);
        if (header.first_instruction < executed_)
            throw TraceError("the count of instructions goes back: the recording is damaged");
        hole = header.first_instruction - executed_;
        if (hole)
            depth_ = 0;
        executed_ = header.first_instruction;
        for (const Reference &r : raw_)
            executed_ += r.instructions();
    } else {
        expand(chunk_.payload, plain_, header.plain_bytes);
        decoder_.begin(plain_, header.records, sizes);
    }
    decoding_ = true;
    ns_ = std::max(ns_, header.begin_ns);
    window_ = header.window;
    skipped_ += hole;
    return true;
}

// The next records as the trace has them, [at_, end_); it may be none.
bool Cursor::next_batch() {
    if (!decoding_ && !next_chunk())
        return false;
    Reference *records = buffer_.data() + 1;
    size_t count = 0;
    if (chunk_.raw) {
        count = std::min(batch, raw_.size() - raw_at_);
        std::copy_n(raw_.begin() + long(raw_at_), count, records);
        raw_at_ += count;
        decoding_ = raw_at_ < raw_.size();
    } else {
        count = decoder_.next(records, batch);
        if (decoder_.at_clock())
            ns_ = std::max(ns_, decoder_.clock());
        decoding_ = decoder_.left() > 0;
    }
    at_ = records;
    end_ = records + count;
    return true;
}

bool Cursor::refill() {
    try {
        for (;;) {
            if (!next_batch())
                return false;
            if (!everything_) {
                if (keep_inside() == 0)
                    continue;
            } else if (at_ == end_) {
                continue;
            } else if (skipped_) [[unlikely]] {
                Reference &hole = buffer_[0];
                hole = Reference();
                hole.event = TraceEvent::window_begin;
                hole.address = skipped_;
                hole.owner = window_;
                skipped_ = 0;
                at_ = &hole;
            }
            return true;
        }
    } catch (const TraceError &error) {
        throw TraceError(source_.name + ", thread " + std::to_string(thread_) + ": " +
                         error.what());
    }
}

// The records of [at_, end_) that are in the region, which they are from then on.
size_t Cursor::keep_inside() {
    kept_.clear();
    for (; at_ != end_; at_++) {
        const Reference &r = *at_;
        const bool call = r.event == TraceEvent::enter || r.event == TraceEvent::leave;
        bool matches = false;
        if (call && !region_.function.empty()) {
            const std::string &name = source_.tables.functions[r.function()];
            matches =
                name.starts_with(region_.function) &&
                (name.size() == region_.function.size() || name[region_.function.size()] == '.');
        }
        if (r.event == TraceEvent::window_begin) {
            window_ = r.window();
            depth_ = 0;
        }
        if (matches && r.event == TraceEvent::enter)
            depth_++;
        const bool in = inside();
        if (matches && r.event == TraceEvent::leave && depth_ > 0)
            depth_--;
        if (!in || r.event == TraceEvent::window_begin) {
            skipped_ += r.instructions();
            continue;
        }
        if (skipped_) {
            Reference hole;
            hole.event = TraceEvent::window_begin;
            hole.address = skipped_;
            hole.owner = window_;
            kept_.push_back(hole);
            skipped_ = 0;
        }
        kept_.push_back(r);
    }
    at_ = kept_.data();
    end_ = at_ + kept_.size();
    return kept_.size();
}

Cursor &TraceReader::cursor(uint32_t thread, const Region &region) {
    auto &cursor = cursors_[thread];
    if (!cursor)
        cursor = std::make_unique<Cursor>(*source_, thread, region);
    return *cursor;
}

} // namespace thermocline
