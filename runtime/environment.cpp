// The environment.  The loader's own first malloc comes before libc's constructor sets
// `environ`: then the kernel's copy is read.
#include "environment.h"
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

namespace tc {
namespace {

bool take(const char *entry, size_t length, const char *name, char *value, size_t size) {
    const size_t n = strlen(name);
    if (length <= n || strncmp(entry, name, n) != 0 || entry[n] != '=' || length - n - 1 >= size)
        return false;
    memcpy(value, entry + n + 1, length - n - 1);
    value[length - n - 1] = 0;
    return true;
}

bool from_kernel(const char *name, char *value, size_t size) {
    constexpr size_t room = 4 << 20; // more than the kernel lets in by default
    const int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool found = false;
    void *map = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) {
        char *text = static_cast<char *>(map);
        size_t used = 0;
        ssize_t n;
        while (used < room - 1 && (n = read(fd, text + used, room - 1 - used)) > 0)
            used += static_cast<size_t>(n);
        for (size_t at = 0; at < used && !found; at += strlen(text + at) + 1)
            found = take(text + at, strlen(text + at), name, value, size);
        munmap(map, room);
    }
    close(fd);
    return found;
}

} // namespace

bool environment_variable(const char *name, char *value, size_t size) {
    if (getauxval(AT_SECURE)) // a set-user-ID program writes no files for whoever starts it
        return false;
    if (!environ)
        return from_kernel(name, value, size);
    for (char **entry = environ; *entry; entry++)
        if (take(*entry, strlen(*entry), name, value, size))
            return true;
    return false;
}

bool is_static_process() {
    if (getauxval(AT_BASE) != 0) // where the loader is
        return false;
    // Static, or the loader itself was started with the program's name: the first has this
    // code in it.
    const auto *headers = reinterpret_cast<const ElfW(Phdr) *>(getauxval(AT_PHDR));
    const size_t count = getauxval(AT_PHNUM);
    const auto own = reinterpret_cast<uintptr_t>(&is_static_process);
    uintptr_t bias = 0;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_PHDR)
            bias = reinterpret_cast<uintptr_t>(headers) - headers[i].p_vaddr;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && own - (bias + headers[i].p_vaddr) < headers[i].p_memsz)
            return true;
    return false;
}

} // namespace tc
