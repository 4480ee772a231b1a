// An annotated library in a program that knows nothing of it: loaded with dlopen, or linked
// into an executable that brings its own operator new.
#include "check.h"
#include <cstdint>
#include <dlfcn.h>
#include <malloc.h>

namespace {

struct Guest {
    void *handle = dlopen(GUEST, RTLD_NOW);
    void *(*block)(size_t);
    void *(*made)(size_t);
    void *(*resized)(void *, size_t);
    void (*released)(void *);
    Guest() {
        if (!handle) {
            check::fail(__FILE__, __LINE__, dlerror());
            exit(1);
        }
        block = reinterpret_cast<void *(*)(size_t)>(dlsym(handle, "guest_block"));
        made = reinterpret_cast<void *(*)(size_t)>(dlsym(handle, "guest_new"));
        resized = reinterpret_cast<void *(*)(void *, size_t)>(dlsym(handle, "guest_resized"));
        released = reinterpret_cast<void (*)(void *)>(dlsym(handle, "guest_free"));
    }
};

constexpr char guided[] = "heap guided\nreport %DIR%/report\ntier 0 nodes - capacity 0\n"
                          "default-tier 0\nsite 0 g!f@g.c:1\n";

void exchange(Guest &guest) {
    for (int i = 0; i < 1000; i++) {
        free(guest.block(100));
        operator delete(guest.made(100));
        guest.released(malloc(100));
        guest.released(guest.resized(malloc(100), 5000));
        free(realloc(guest.block(10), 3000));
    }
}

} // namespace

TEST(blocks_cross_the_border) {
    Guest guest;
    exchange(guest);
    for (int i = 0; i < 20; i++) { // again and again
        dlclose(guest.handle);
        guest = Guest();
        exchange(guest);
    }
}

TEST_WITH_CONFIG(blocks_cross_the_border_guided, guided) {
    Guest guest;
    exchange(guest);
    dlclose(guest.handle);
    usleep(150000); // what the library left behind in the process runs on
}
