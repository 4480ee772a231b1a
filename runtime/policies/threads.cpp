// Threads beside their data, and not too many that write.
#include "failure.h"
#include "nodes.h"
#include "policies.h"
#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

// Nearest node with processors; -1 if the kernel does not say.
int processors_near(int node) {
    NodeSet with_processors;
    if (!read_nodes("has_cpu", with_processors))
        return -1;
    int best = -1;
    unsigned least = UINT_MAX;
    for (int other = 0; other < static_cast<int>(TierConfig::max_nodes); other++)
        if (with_processors.has(other) && node_distance(other, node) < least) {
            least = node_distance(other, node);
            best = other;
        }
    return best;
}

// Writers now; the limit, 0: none.  A waiter sleeps until either changes.
unsigned writers, most_writers;

void futex(unsigned *word, int operation, unsigned value) {
    syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" int tc_run_near(const void *p) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *at = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(p) & -page);
    int node = -1;
    if (syscall(SYS_move_pages, 0, 1UL, &at, nullptr, &node, 0) != 0 || node < 0) {
        failure() << "the kernel does not say where that page is (was it touched?): "
                  << because(node < 0 && node != -1 ? -node : errno);
        return -1;
    }
    char list[4096];
    NodeSet processors; // lists of processors look alike
    const int near = processors_near(node);
    if (near < 0 || !read_node_file(near, "cpulist", list, sizeof list) ||
        !parse_node_list(list, processors)) {
        failure() << "the kernel does not say which processors are near node "
                  << static_cast<uint64_t>(node);
        return -1;
    }
    if (syscall(SYS_sched_setaffinity, 0, sizeof processors.words, processors.words) == 0)
        return 0;
    failure() << "the processors near node " << static_cast<uint64_t>(node)
              << " may not be used: " << because(errno);
    return -1;
}

extern "C" void tc_limit_writers(unsigned most) {
    __atomic_store_n(&most_writers, most, __ATOMIC_SEQ_CST);
    futex(&writers, FUTEX_WAKE_PRIVATE, INT_MAX);
}

extern "C" void tc_write_begin() {
    unsigned now = __atomic_load_n(&writers, __ATOMIC_SEQ_CST);
    for (;;) {
        const unsigned most = __atomic_load_n(&most_writers, __ATOMIC_SEQ_CST);
        if (most && now >= most) {
            futex(&writers, FUTEX_WAIT_PRIVATE, now);
            now = __atomic_load_n(&writers, __ATOMIC_SEQ_CST);
        } else if (__atomic_compare_exchange_n(&writers, &now, now + 1, false, __ATOMIC_SEQ_CST,
                                               __ATOMIC_SEQ_CST))
            return;
    }
}

extern "C" void tc_write_end() {
    __atomic_sub_fetch(&writers, 1, __ATOMIC_SEQ_CST);
    futex(&writers, FUTEX_WAKE_PRIVATE, 1);
}
