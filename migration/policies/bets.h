// Chunks that came near before their region had shown that it uses so much.  Few may be out at a
// time, twice as many after each that was used, half as many after each that was not, as in TCP's
// slow start (Jacobson 1988): what trying costs is bounded, and a stream is soon followed.
#pragma once
#include <cstdint>

namespace thermocline::migration {

class Bets {
  public:
    explicit Bets(uint32_t first) : window_(first < most ? first : most) {}

    // Whether one more may be out.  Beyond the most that are watched, any number may.
    bool open() const { return window_ == most || count_ < window_; }
    void place(uint64_t address) {
        if (count_ < most)
            out_[count_++] = address;
    }

    enum class Verdict { open, used, unused };
    // judge(address) says what became of a bet; each is asked.
    template <typename Judge> void each(const Judge &judge) {
        for (uint32_t i = 0; i < count_;)
            if (!settle(i, judge(out_[i])))
                i++;
    }
    // One is asked, another one each time.
    template <typename Judge> void next(const Judge &judge) {
        if (count_ == 0)
            return;
        const uint32_t chosen = turn_++ % count_;
        settle(chosen, judge(out_[chosen]));
    }

  private:
    bool settle(uint32_t bet, Verdict verdict) {
        if (verdict == Verdict::open)
            return false;
        out_[bet] = out_[--count_];
        const uint32_t next = verdict == Verdict::used ? window_ * 2 : window_ / 2;
        window_ = next < 1 ? 1 : next > most ? most : next;
        return true;
    }

    static constexpr uint32_t most = 64;
    uint64_t out_[most];
    uint32_t window_, count_ = 0, turn_ = 0;
};

} // namespace thermocline::migration
