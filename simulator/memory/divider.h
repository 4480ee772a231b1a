// Division by a number that is known when the memory is made, without the processor's division.
#pragma once
#include <cstdint>

namespace thermocline {

class Divider {
  public:
    explicit Divider(uint64_t by) : by_(by), reciprocal_(by > 1 ? UINT64_MAX / by + 1 : 0) {}

    uint64_t divide(uint64_t number) const {
        if (by_ == 1)
            return number;
        // The product's high half is the quotient or one more.
        __extension__ using Wide = unsigned __int128;
        const uint64_t quotient = uint64_t(Wide(number) * reciprocal_ >> 64);
        return quotient - (quotient * by_ > number);
    }
    uint64_t by() const { return by_; }

  private:
    uint64_t by_, reciprocal_;
};

} // namespace thermocline
