// What happens next: a binary heap of components by the time of their next event, with a
// place of its own for each, so that a component's time can change where it stands.  Equal
// times are served in the order of the components' numbers, so that a run repeats exactly.
#pragma once
#include "simulator/time.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace thermocline {

class Schedule {
  public:
    explicit Schedule(uint32_t components) : time_(components, never) {
        for (uint32_t each = 0; each < components; each++) {
            heap_.push_back(each);
            place_.push_back(each);
        }
    }

    uint32_t first() const { return heap_[0]; }
    Ps first_time() const { return time_[heap_[0]]; }
    Ps time(uint32_t component) const { return time_[component]; }

    // The earliest time of all the others than the first.
    Ps second_time() const {
        Ps least = never;
        for (size_t child = 1; child < heap_.size() && child <= 2; child++)
            least = time_[heap_[child]] < least ? time_[heap_[child]] : least;
        return least;
    }

    void set(uint32_t component, Ps time) {
        const Ps old = time_[component];
        time_[component] = time;
        if (time < old)
            rise(place_[component]);
        else if (time > old)
            sink(place_[component]);
    }

  private:
    bool before(uint32_t a, uint32_t b) const {
        return time_[a] != time_[b] ? time_[a] < time_[b] : a < b;
    }
    void put(size_t place, uint32_t component) {
        heap_[place] = component;
        place_[component] = uint32_t(place);
    }
    void rise(size_t place) {
        const uint32_t component = heap_[place];
        for (; place > 0 && before(component, heap_[(place - 1) / 2]); place = (place - 1) / 2)
            put(place, heap_[(place - 1) / 2]);
        put(place, component);
    }
    void sink(size_t place) {
        const uint32_t component = heap_[place];
        for (size_t child; (child = 2 * place + 1) < heap_.size(); place = child) {
            if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child]))
                child++;
            if (!before(heap_[child], component))
                break;
            put(place, heap_[child]);
        }
        put(place, component);
    }

    std::vector<Ps> time_;
    std::vector<uint32_t> heap_, place_;
};

} // namespace thermocline
