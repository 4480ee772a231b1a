// PREFIX.PID.json: written each second and at the end, aside and then renamed.
#include "engine.h"
#include "text.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tc {
namespace {

void command_line(JsonFile &json) {
    char words[1024];
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, words, sizeof words - 1) : 0;
    if (fd >= 0)
        close(fd);
    got = got < 0 ? 0 : got;
    words[got] = 0;
    json.open('[', "command");
    for (ssize_t at = 0; at < got; at += ssize_t(strlen(words + at)) + 1)
        json.string(nullptr, words + at);
    json.close(']');
}

} // namespace

bool Engine::write_report() {
    if (!settings.report[0])
        return true;
    Guard guard(lock);
    char name[600], aside[640];
    Line(name, sizeof name) << settings.report << '.' << uint64_t(getpid()) << ".json";
    Line(aside, sizeof aside) << name << ".new";
    const int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    JsonFile json(fd);
    json.open('{');
    json.string("format", "thermocline-migration");
    json.number("version", 1);
    json.number("pid", uint64_t(getpid()));
    command_line(json);
    json.string("granularity", settings.policy);
    json.string("back_end", settings.near_node >= 0 ? "numa" : "emulated");
    json.string("unmanaged_because", why_not ? strerrordesc_np(why_not) : nullptr);
    json.boolean("limited", limited);
    json.seconds("wall_seconds", monotonic_ns() - started);
    const auto pages = [&](const char *field, uint64_t count) {
        json.number(field, count * page_bytes);
    };
    pages("near_bytes", limit);
    pages("peak_near_bytes", counts.peak_near);
    pages("peak_managed_bytes", counts.peak_managed);
    pages("resident_near_bytes", near_pages());
    pages("far_bytes", far_pages);
    json.number("managed_bytes", counts.managed_bytes);
    json.number("unmanaged_bytes", counts.unmanaged_bytes);
    json.number("refused_mappings", counts.refused_mappings);
    json.number("prefetches", counts.prefetches);
    pages("prefetched_bytes", counts.prefetched_pages);
    pages("peak_held_bytes", counts.peak_held);
    json.number("visits", counts.visits);
    json.number("faults", counts.faults);
    json.number("soft_faults", counts.soft_faults);
    json.number("first_touches", counts.first_touches);
    json.number("other_faults", counts.other_faults);
    json.number("evictions", counts.evictions);
    json.open('[', "moves");
    constexpr const char *names[] = {"4K", "64K", "2M"};
    for (unsigned g = 0; g < 3; g++) {
        json.open('{');
        json.string("granularity", names[g]);
        json.number("moves_in", counts.moves_in[g]);
        pages("bytes_in", counts.pages_in[g]);
        json.number("moves_out", counts.moves_out[g]);
        pages("bytes_out", counts.pages_out[g]);
        json.close('}');
    }
    json.close(']');
    json.seconds("charged_in_seconds", back_end->charged.in_ns);
    json.seconds("charged_out_seconds", back_end->charged.out_ns);
    pages("left_on_other_node_bytes", back_end->charged.failed_pages);
    json.number("unmovable_pages", counts.unmovable);
    pages("copied_in_bytes", counts.copied_in);
    pages("overshoot_bytes", counts.overshoot);
    json.number("forks", counts.forks);
    pages("fork_bytes", counts.fork_pages);
    json.number("remaps", counts.remaps);
    json.number("found_pages", counts.found);
    json.number("lost_pages", counts.lost_pages);
    json.number("checked_pages", counts.checked);
    json.number("corrupt_pages", counts.corrupt);
    json.close('}');
    const bool written = json.finish();
    close(fd);
    if (written && rename(aside, name) == 0)
        return true;
    unlink(aside);
    return false;
}

} // namespace tc
