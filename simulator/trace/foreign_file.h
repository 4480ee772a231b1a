// Files of other tools as their users have them: plain, gzip or xz.
#pragma once
#include "simulator/trace/error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace thermocline {

// Reads either; which it is, the file's first bytes say.
class ForeignInput {
  public:
    explicit ForeignInput(std::string path);
    ~ForeignInput();
    size_t read(void *to, size_t bytes); // fewer at the end
    bool line(std::string &);            // without its end; false at the file's end
    const std::string &name() const { return path_; }
    uint64_t lines() const { return lines_; } // so far

  private:
    struct Coder;
    bool fill();

    std::string path_;
    std::unique_ptr<Coder> coder_;
    std::vector<uint8_t> buffer_;
    size_t at_ = 0, end_ = 0;
    uint64_t lines_ = 0;
};

// Writes aside; finish() gives the name.  A name ending in .gz or .xz is compressed so.
class ForeignOutput {
  public:
    ForeignOutput(std::string path, bool overwrite);
    ~ForeignOutput();
    void write(const void *, size_t);
    void finish();

  private:
    struct Coder;
    void flush();

    std::string path_, aside_;
    bool overwrite_;
    std::unique_ptr<Coder> coder_;
    std::vector<uint8_t> buffer_;
};

} // namespace thermocline
