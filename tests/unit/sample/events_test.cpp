// The events of a configuration.
#include "check.h"
#include "sample/events.h"
#include <linux/perf_event.h>

using namespace tc::sample;

TEST(a_whole_event) {
    Event event;
    expect_true(parse_event("counts=1,type=4,config=0x20d1,config1=3,config2=0xff,precise=2,user=0,"
                            "weight=1,area=1,memory-source=14,period=512,name=a/b=1,c=2/",
                            event));
    expect_eq(event.counts, Event::misses);
    expect_eq(event.type, 4u);
    expect_eq(event.config, 0x20d1u);
    expect_eq(event.config2, 0xffu);
    expect_eq(event.memory_source, 14);
    expect_true(!event.user && event.weight && event.area);
    expect_str(std::string(event.name), "a/b=1,c=2/");
    perf_event_attr attributes;
    fill_attributes(event, PERF_SAMPLE_ADDR, attributes);
    expect_eq(uint64_t(attributes.sample_period), 512u);
    expect_eq(uint64_t(attributes.precise_ip), 2u);
    expect_true(!attributes.freq && !attributes.exclude_kernel && attributes.inherit);
}

TEST(a_breakpoint) {
    Event event;
    expect_true(
        parse_event("counts=0,type=5,config=2,config1=0x404040,config2=8,period=1,name=x", event));
    perf_event_attr attributes;
    fill_attributes(event, 0, attributes);
    expect_eq(uint64_t(attributes.bp_type), 2u);
    expect_eq(uint64_t(attributes.bp_addr), 0x404040u);
    expect_eq(uint64_t(attributes.bp_len), 8u);
    expect_eq(uint64_t(attributes.config), 0u);
}

TEST(what_is_no_event) {
    for (const char *text :
         {"", "name=x", "period=1", "period=1,name=", "period=0,name=x", "period=1x,name=x",
          "period=1,frequency=1,name=x", "counts=3,period=1,name=x", "precise=4,period=1,name=x",
          "type=4294967296,period=1,name=x", "period=18446744073709551616,name=x",
          "period=2147483649,name=x", "frequency=1000001,name=x", "what=1,period=1,name=x",
          "period=0x,name=x", "user=2,period=1,name=x", "=1,period=1,name=x", "period,name=x"}) {
        Event event;
        expect_true(!parse_event(text, event));
    }
}
