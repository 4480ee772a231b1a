// See events.h.
#include "events.h"
#include "text.h"
#include <cstring>
#include <linux/perf_event.h>

namespace tc::sample {
namespace {

// Decimal or 0x...; returns what follows, or null.
const char *parse_number(const char *text, uint64_t &value) {
    const bool hex = text[0] == '0' && text[1] == 'x';
    const uint64_t base = hex ? 16 : 10;
    text += hex ? 2 : 0;
    const char *const start = text;
    for (value = 0;; text++) {
        const char c = *text;
        const int digit = c >= '0' && c <= '9'          ? c - '0'
                          : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                        : -1;
        if (digit < 0)
            return text > start ? text : nullptr;
        if (value > (UINT64_MAX - uint64_t(digit)) / base)
            return nullptr;
        value = value * base + uint64_t(digit);
    }
}

bool set(Event &event, const char *key, size_t length, uint64_t value) {
    const auto is = [&](const char *name) {
        return strlen(name) == length && memcmp(key, name, length) == 0;
    };
    if (is("counts") && value <= Event::references)
        event.counts = Event::Counts(value);
    else if (is("type") && value <= UINT32_MAX)
        event.type = uint32_t(value);
    else if (is("config"))
        event.config = value;
    else if (is("config1"))
        event.config1 = value;
    else if (is("config2"))
        event.config2 = value;
    else if (is("period"))
        event.period = value;
    else if (is("frequency"))
        event.frequency = value;
    else if (is("precise") && value <= 3)
        event.precise = uint8_t(value);
    else if (is("user") && value <= 1)
        event.user = value;
    else if (is("weight") && value <= 1)
        event.weight = value;
    else if (is("area") && value <= 1)
        event.area = value;
    else if (is("memory-source") && value <= 255)
        event.memory_source = int(value);
    else
        return false;
    return true;
}

} // namespace

bool parse_event(const char *text, Event &event) {
    event = {};
    event.user = true;
    event.memory_source = -1;
    while (strncmp(text, "name=", 5) != 0) {
        const char *const equals = strchr(text, '=');
        uint64_t value;
        const char *const rest = equals ? parse_number(equals + 1, value) : nullptr;
        if (!rest || *rest != ',' || !set(event, text, size_t(equals - text), value))
            return false;
        text = rest + 1;
    }
    event.name = text + 5;
    constexpr uint64_t most_period = uint64_t(1) << 31; // the kernel's own limit is above
    return *event.name && (event.period == 0) != (event.frequency == 0) &&
           event.period <= most_period && event.frequency <= 1000000;
}

const char *read_events(const Config &config, Event *events, unsigned &count) {
    for (count = 0; count < max_events; count++) {
        char name[16];
        Line(name, sizeof name) << "event." << uint64_t(count + 1);
        const char *text = config.option(name);
        if (!text)
            break;
        if (!parse_event(text, events[count]))
            return "an event is KEY=NUMBER,...,name=NAME, with a period or a frequency";
    }
    return count ? nullptr : "sampler sample needs option event.1";
}

void fill_attributes(const Event &event, uint64_t fields, perf_event_attr &attributes) {
    attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.config1 = event.config1;
    attributes.config2 = event.config2;
    if (event.frequency) {
        attributes.freq = 1;
        attributes.sample_freq = event.frequency;
    } else {
        attributes.sample_period = event.period;
    }
    if (event.type == PERF_TYPE_BREAKPOINT) { // config1 and 2 are the address and the length
        attributes.bp_type = uint32_t(event.config);
        attributes.config = 0;
    }
    attributes.sample_type = fields;
    attributes.precise_ip = event.precise;
    attributes.exclude_kernel = event.user;
    attributes.exclude_hv = event.user;
    attributes.inherit = 1;
    attributes.inherit_thread = 1; // a forked child's accesses are not ours
    attributes.watermark = 1;
}

} // namespace tc::sample
