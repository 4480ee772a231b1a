// zlib reads and writes plain files too; xz is liblzma's.
#include "simulator/trace/foreign_file.h"
#include "simulator/trace/aside.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

namespace thermocline {

namespace {

constexpr size_t buffer_bytes = 1 << 18;
constexpr uint8_t xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};

[[noreturn]] void fail(const std::string &path, const char *doing, const std::string &why) {
    throw TraceError(path + " can't be " + doing + ": " + why);
}

} // namespace

struct ForeignInput::Coder {
    gzFile gz = nullptr;
    std::FILE *xz_file = nullptr;
    lzma_stream xz = LZMA_STREAM_INIT;
    uint8_t xz_in[1 << 16];
    bool ended = false;

    ~Coder() {
        if (gz)
            gzclose(gz);
        if (xz_file)
            std::fclose(xz_file);
        lzma_end(&xz);
    }

    size_t read_xz(const std::string &path, uint8_t *to, size_t room) {
        xz.next_out = to;
        xz.avail_out = room;
        while (xz.avail_out > 0 && !ended) {
            lzma_action action = LZMA_RUN;
            if (xz.avail_in == 0) {
                xz.next_in = xz_in;
                xz.avail_in = std::fread(xz_in, 1, sizeof xz_in, xz_file);
                if (std::ferror(xz_file))
                    fail(path, "read", std::strerror(errno));
                if (xz.avail_in == 0)
                    action = LZMA_FINISH;
            }
            const lzma_ret result = lzma_code(&xz, action);
            if (result == LZMA_STREAM_END)
                ended = true;
            else if (result != LZMA_OK)
                fail(path, "read",
                     result == LZMA_MEMLIMIT_ERROR ? "its xz data needs over 1 GiB of memory"
                                                   : "its xz data is damaged or cut off");
        }
        return room - xz.avail_out;
    }
};

ForeignInput::ForeignInput(std::string path)
    : path_(std::move(path)), coder_(std::make_unique<Coder>()), buffer_(buffer_bytes) {
    std::FILE *file = std::fopen(path_.c_str(), "rb");
    if (!file)
        fail(path_, "read", std::strerror(errno));
    uint8_t first[sizeof xz_magic];
    const bool is_xz = std::fread(first, 1, sizeof first, file) == sizeof first &&
                       std::memcmp(first, xz_magic, sizeof first) == 0;
    if (is_xz) {
        coder_->xz_file = file;
        if (std::fseek(file, 0, SEEK_SET) != 0)
            fail(path_, "read", "xz files can't come through a pipe");
        if (lzma_stream_decoder(&coder_->xz, uint64_t(1) << 30, LZMA_CONCATENATED) != LZMA_OK)
            fail(path_, "read", "liblzma gives no decoder");
        return;
    }
    std::fclose(file);
    coder_->gz = gzopen(path_.c_str(), "rb");
    if (!coder_->gz)
        fail(path_, "read", std::strerror(errno));
    gzbuffer(coder_->gz, 1 << 17);
}

ForeignInput::~ForeignInput() = default;

bool ForeignInput::fill() {
    at_ = end_ = 0;
    if (coder_->xz_file) {
        end_ = coder_->read_xz(path_, buffer_.data(), buffer_.size());
        return end_ > 0;
    }
    const int got = gzread(coder_->gz, buffer_.data(), unsigned(buffer_.size()));
    int error = Z_OK;
    const char *what = gzerror(coder_->gz, &error);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
        fail(path_, "read",
             error == Z_ERRNO ? std::strerror(errno)
             : *what          ? what
                              : "its gzip data is damaged");
    end_ = size_t(got);
    return end_ > 0;
}

size_t ForeignInput::read(void *to, size_t bytes) {
    size_t done = 0;
    while (done < bytes && (at_ < end_ || fill())) {
        const size_t some = std::min(bytes - done, end_ - at_);
        std::memcpy(static_cast<uint8_t *>(to) + done, buffer_.data() + at_, some);
        at_ += some;
        done += some;
    }
    return done;
}

bool ForeignInput::line(std::string &text) {
    constexpr size_t longest = 1 << 16;
    text.clear();
    bool any = false;
    while (at_ < end_ || fill()) {
        any = true;
        const uint8_t *from = buffer_.data() + at_;
        const auto *newline = static_cast<const uint8_t *>(std::memchr(from, '\n', end_ - at_));
        const size_t some = newline ? size_t(newline - from) : end_ - at_;
        if (text.size() + some > longest)
            fail(path_, "read",
                 "line " + std::to_string(lines_ + 1) + " is longer than " +
                     std::to_string(longest) + " bytes: it is no text trace");
        text.append(reinterpret_cast<const char *>(from), some);
        at_ += some + (newline ? 1 : 0);
        if (newline)
            break;
    }
    if (!any)
        return false;
    lines_++;
    if (!text.empty() && text.back() == '\r')
        text.pop_back();
    return true;
}

struct ForeignOutput::Coder {
    gzFile gz = nullptr;
    std::FILE *xz_file = nullptr;
    lzma_stream xz = LZMA_STREAM_INIT;

    ~Coder() {
        if (gz)
            gzclose(gz);
        if (xz_file)
            std::fclose(xz_file);
        lzma_end(&xz);
    }

    bool write_xz(const uint8_t *from, size_t bytes, lzma_action action) {
        uint8_t out[1 << 16];
        xz.next_in = from;
        xz.avail_in = bytes;
        for (;;) {
            xz.next_out = out;
            xz.avail_out = sizeof out;
            const lzma_ret result = lzma_code(&xz, action);
            const size_t made = sizeof out - xz.avail_out;
            if ((result != LZMA_OK && result != LZMA_STREAM_END) ||
                std::fwrite(out, 1, made, xz_file) != made)
                return false;
            if (result == LZMA_STREAM_END ||
                (action == LZMA_RUN && xz.avail_in == 0 && xz.avail_out > 0))
                return true;
        }
    }
};

ForeignOutput::ForeignOutput(std::string path, bool overwrite)
    : path_(std::move(path)), aside_(aside_name(path_)), overwrite_(overwrite),
      coder_(std::make_unique<Coder>()) {
    refuse_to_overwrite(path_, overwrite_);
    if (path_.ends_with(".xz")) {
        coder_->xz_file = std::fopen(aside_.c_str(), "wb");
        if (!coder_->xz_file)
            fail(path_, "written", std::strerror(errno));
        if (lzma_easy_encoder(&coder_->xz, 1, LZMA_CHECK_CRC64) != LZMA_OK)
            fail(path_, "written", "liblzma gives no encoder");
    } else {
        // "T": as it is.
        coder_->gz = gzopen(aside_.c_str(), path_.ends_with(".gz") ? "wb1" : "wbT");
        if (!coder_->gz)
            fail(path_, "written", std::strerror(errno));
    }
    buffer_.reserve(buffer_bytes);
}

ForeignOutput::~ForeignOutput() {
    if (coder_)
        unlink(aside_.c_str());
}

void ForeignOutput::write(const void *from, size_t bytes) {
    const auto *data = static_cast<const uint8_t *>(from);
    buffer_.insert(buffer_.end(), data, data + bytes);
    if (buffer_.size() >= buffer_bytes)
        flush();
}

void ForeignOutput::flush() {
    const bool written = buffer_.empty() ||
                         (coder_->gz ? gzwrite(coder_->gz, buffer_.data(),
                                               unsigned(buffer_.size())) == int(buffer_.size())
                                     : coder_->write_xz(buffer_.data(), buffer_.size(), LZMA_RUN));
    if (!written)
        fail(path_, "written", std::strerror(errno));
    buffer_.clear();
}

void ForeignOutput::finish() {
    flush();
    if (coder_->gz) {
        gzFile gz = coder_->gz;
        coder_->gz = nullptr;
        if (gzclose(gz) != Z_OK)
            fail(path_, "written", std::strerror(errno));
    } else {
        const bool written = coder_->write_xz(nullptr, 0, LZMA_FINISH);
        std::FILE *file = coder_->xz_file;
        coder_->xz_file = nullptr;
        if (std::fclose(file) != 0 || !written)
            fail(path_, "written", std::strerror(errno));
    }
    give_name(aside_, path_, overwrite_);
    coder_.reset();
}

} // namespace thermocline
