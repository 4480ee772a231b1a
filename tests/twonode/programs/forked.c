/* fork: the child's copies, its copy-on-write pages and its new blocks keep their tiers, and
 * so do the parent's afterwards; a program that the child executes reads the same plan. */
#include "placement.h"
#include <sys/wait.h>

static char *fast_block(size_t bytes) { return (char *)malloc(bytes); }
static char *slow_block(size_t bytes) { return (char *)malloc(bytes); }

enum { BLOCKS = 64 };
static char *fast[BLOCKS], *slow[BLOCKS];
static const size_t sizes[] = {48, 900, 20000, 3 * MIB};

static void fill(void) {
    for (int i = 0; i < BLOCKS; ++i) {
        const size_t bytes = sizes[i % 4] / (i < 60 && i % 4 == 3 ? 16 : 1);
        fast[i] = fast_block(bytes);
        slow[i] = slow_block(bytes);
        memset(fast[i], i, bytes);
        memset(slow[i], i, bytes);
    }
}

static void check_and_write(void) {
    for (int i = 0; i < BLOCKS; ++i) {
        EXPECT(fast[i][0] == i && slow[i][0] == i, "block %d lost its content", i);
        fast[i][1] = slow[i][1] = 7; /* copies the page after a fork */
        EXPECT_TIER(fast[i], 8, 0);
        EXPECT_TIER(slow[i], 8, 1);
    }
}

static void empty(int every) {
    for (int i = 0; i < BLOCKS; i += every) {
        free(fast[i]);
        free(slow[i]);
    }
}

static void expect_success(pid_t child, const char *who) {
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0, "%s ended with %d", who, status);
}

int main(int argc, char **argv) {
    (void)argc;
    setvbuf(stdout, NULL, _IONBF, 0); /* nothing buffered twice */
    fill();
    check_and_write();
    for (int generation = 0; generation < 3; ++generation) {
        const pid_t child = fork();
        if (child == 0) {
            check_and_write();
            empty(2); /* frees the parent's blocks, in the child's copy */
            for (int i = 0; i < BLOCKS; i += 2)
                fast[i] = slow[i] = NULL;
            fill();
            check_and_write();
            const pid_t grandchild = fork();
            if (grandchild == 0) {
                check_and_write();
                _exit(failures != 0);
            }
            expect_success(grandchild, "the grandchild");
            if (generation == 2 && !getenv("EXECUTED") && !failures) {
                setenv("EXECUTED", "1", 1);
                execv("/proc/self/exe", argv);
            }
            _exit(failures != 0);
        }
        check_and_write();
        expect_success(child, "the child");
        check_and_write();
        empty(1);
        fill();
        check_and_write();
    }
    return finish();
}
