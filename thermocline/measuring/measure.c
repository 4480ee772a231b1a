/* measure OUT COMMAND...: runs COMMAND and writes to OUT what it cost.
 *
 * One line: wall seconds, user instructions, user cycles, peak resident bytes, then the
 * exit status (128 + signal); a count that this machine does not have is "-".  Children
 * and threads are counted too.  A program of its own because the kernel starts a process's
 * peak resident size with that of the program it was before exec, and a shell's or
 * Python's would hide a small program's.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int open_counter(pid_t pid, uint64_t event) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = event;
    attr.disabled = 1;
    attr.enable_on_exec = 1;
    attr.inherit = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void print_counter(FILE *out, int counter) {
    struct {
        uint64_t value, enabled, running;
    } read_back;
    if (counter < 0 || read(counter, &read_back, sizeof read_back) != sizeof read_back ||
        read_back.running == 0) {
        fprintf(out, " -");
        return;
    }
    /* Other users of the counters may have had them for a part of the time. */
    const double share = (double)read_back.enabled / (double)read_back.running;
    fprintf(out, " %.0f", (double)read_back.value * share);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "thermocline: measure needs a file to write to and a command\n");
        return 2;
    }
    int go[2];
    if (pipe(go) != 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        /* Waits until the counters are there. */
        if (read(go[0], &byte, 1) != 1)
            _exit(127);
        close(go[0]);
        execvp(argv[2], argv + 2);
        fprintf(stderr, "thermocline: cannot run %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    const int instructions = open_counter(child, PERF_COUNT_HW_INSTRUCTIONS);
    const int cycles = open_counter(child, PERF_COUNT_HW_CPU_CYCLES);
    const double start = now();
    if (child < 0 || write(go[1], "", 1) != 1)
        return 1;
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child)
        return 1;
    const double wall = now() - start;
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        fprintf(stderr, "thermocline: cannot write %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(out, "%.9f", wall);
    print_counter(out, instructions);
    print_counter(out, cycles);
    fprintf(out, " %ld %d\n", usage.ru_maxrss * 1024L, code);
    return fclose(out) != 0;
}
