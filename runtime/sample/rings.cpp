// See rings.h.
#include "rings.h"
#include "own_memory.h"
#include "records.h"
#include "ring_table.h"
#include "text.h"
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc::sample {

RingTable ring_table;

namespace {

RingTable &table = ring_table;

constexpr unsigned max_processors = 4096;
constexpr unsigned max_ids = id_slots / 2;
constexpr unsigned most_pages = 64, area_pages = 256; // of data; of an AUX area

pollfd *wakers; // one for each ring
unsigned id_count;
size_t page_bytes;

int open_event(perf_event_attr &attributes, pid_t thread, int processor) {
    const auto open = [&] {
        return int(
            syscall(SYS_perf_event_open, &attributes, thread, processor, -1, PERF_FLAG_FD_CLOEXEC));
    };
    int fd = open();
    if (fd < 0 && errno == EINVAL && attributes.inherit_thread) { // before Linux 5.13
        attributes.inherit_thread = 0;
        fd = open();
    }
    return fd;
}

// Not more than needed: some keep the processor from writing several samples at a time, and with
// its period asked for the kernel samples every single occurrence of a software event.
uint64_t fields_of(const Event *events, unsigned count) {
    uint64_t wanted = known_fields & ~uint64_t(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_PERIOD);
    for (unsigned i = 0; i < count; i++) {
        wanted |= events[i].weight ? uint64_t(PERF_SAMPLE_WEIGHT) : 0;
        wanted |= events[i].frequency ? uint64_t(PERF_SAMPLE_PERIOD) : 0;
    }
    return wanted;
}

// As large as the kernel grants (kernel.perf_event_mlock_kb), down to one page.
bool map_ring(int fd, ProcessorRing &ring) {
    for (size_t pages = most_pages; pages; pages /= 2) {
        void *at =
            mmap(nullptr, (1 + pages) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            continue;
        ring.page = static_cast<perf_event_mmap_page *>(at);
        ring.data = {static_cast<uint8_t *>(at) + page_bytes, pages * page_bytes};
        return true;
    }
    return false;
}

bool map_area(int fd, ProcessorRing &ring) {
    for (size_t pages = area_pages; pages; pages /= 2) {
        ring.page->aux_offset = page_bytes + ring.data.size;
        ring.page->aux_size = pages * page_bytes;
        void *at = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        off_t(ring.page->aux_offset));
        if (at == MAP_FAILED)
            continue;
        ring.area = {static_cast<uint8_t *>(at), pages * page_bytes};
        return true;
    }
    return false;
}

// One event of one thread on one processor; the processor's first has the ring.
bool add_event(const Event &event, pid_t thread, int processor, ProcessorRing &ring, int &owner) {
    perf_event_attr attributes;
    fill_attributes(event, table.fields, attributes);
    attributes.wakeup_watermark = uint32_t(most_pages * page_bytes / 4);
    if (event.area)
        attributes.aux_watermark = uint32_t(area_pages * page_bytes / 4);
    const int fd = open_event(attributes, thread, processor);
    if (fd < 0)
        return false;
    if (owner < 0) {
        if (!map_ring(fd, ring) || (event.area && !map_area(fd, ring))) {
            close(fd); // ends the event
            return false;
        }
        ring.in_area = event.area ? &event : nullptr;
        owner = fd;
    } else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) != 0) {
        close(fd);
        return false;
    }
    uint64_t id;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 && id_count < max_ids) {
        id_count++;
        *table.slot_of(id) = {id, &event};
    }
    return true;
}

ProcessorRing *ring_of(int processor) {
    for (unsigned i = 0; i < table.count; i++)
        if (table.rings[i].processor == processor)
            return &table.rings[i];
    return nullptr;
}

void open_for_thread(const Event *events, unsigned count, pid_t thread) {
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    for (int processor = 0; processor < processors; processor++) {
        ProcessorRing *ring = ring_of(processor);
        const bool first = !ring;
        if (first && table.count == max_processors)
            return;
        if (first)
            ring = &table.rings[table.count];
        int owner = first ? -1 : wakers[ring - table.rings].fd;
        for (unsigned i = 0; i < count; i++)
            add_event(events[i], thread, processor, *ring, owner);
        if (!first || owner < 0) // negative: not online, most probably
            continue;
        ring->processor = processor;
        wakers[table.count++] = {owner, POLLIN, 0};
    }
}

// The runtime's own threads bear its name.
bool is_own_thread(pid_t thread) {
    char path[64], name[16] = "";
    Line(path, sizeof path) << "/proc/self/task/" << uint64_t(thread) << "/comm";
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true; // it has ended
    const ssize_t got = ::read(file, name, sizeof name - 1);
    close(file);
    return got >= 11 && memcmp(name, "thermocline", 11) == 0;
}

} // namespace

int try_event(const Event &event) {
    perf_event_attr attributes;
    fill_attributes(event, fields_of(&event, 1), attributes);
    attributes.disabled = 1;
    const int fd = open_event(attributes, 0, -1);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

bool open_rings(const Event *events, unsigned count) {
    page_bytes = size_t(sysconf(_SC_PAGESIZE));
    if (!table.rings) {
        table.rings =
            static_cast<ProcessorRing *>(own_memory_map(max_processors * sizeof *table.rings));
        wakers = static_cast<pollfd *>(own_memory_map(max_processors * sizeof *wakers));
        table.ids = static_cast<OpenEvent *>(own_memory_map(id_slots * sizeof *table.ids));
        if (!table.rings || !wakers || !table.ids)
            return false;
    }
    table.fields = fields_of(events, count);
    table.totals.processors = unsigned(sysconf(_SC_NPROCESSORS_ONLN));
    // Those that are there by now; mostly the main thread alone.
    char names[4096];
    const pid_t self = gettid(); // may have no name yet
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long got; (got = syscall(SYS_getdents64, folder, names, sizeof names)) > 0;)
        for (long at = 0; at < got;) {
            const auto *entry = reinterpret_cast<const dirent64 *>(names + at);
            const pid_t thread = atoi(entry->d_name); // 0: . and ..
            if (thread && thread != self && !is_own_thread(thread))
                open_for_thread(events, count, thread);
            at += entry->d_reclen;
        }
    close(folder);
    table.totals.rings = table.count;
    return table.count > 0;
}

void wait_for_rings(int milliseconds) {
    if (poll(wakers, table.count, milliseconds) <= 0)
        return;
    for (unsigned i = 0; i < table.count; i++)
        if (wakers[i].revents & POLLHUP) // its threads have ended: it would wake us for ever
            wakers[i].fd = -1;
}

void forget_rings() {
    table.count = 0;
    for (unsigned i = 0; id_count && i < id_slots; i++)
        if (table.ids[i].event) // or every page of it would be copied
            table.ids[i].event = nullptr;
    id_count = 0;
}

const Totals &ring_totals() { return table.totals; }

} // namespace tc::sample
