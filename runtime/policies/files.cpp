// Files on big memory: one in each directory, recombined into one range.
//
// They never have a name, so that nothing is left behind however the process ends; their room
// is taken before anything is mapped, so that a full file system is an error and no SIGBUS.
#include "files.h"
#include "failure.h"
#include "policies.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tc {
namespace {

struct Files {
    int fds[TC_MAX_FILES];
    unsigned count = 0;
    ~Files() {
        while (count)
            close(fds[--count]); // mappings keep a file
    }
};

// How much of the range lies in that file.
size_t part(const Blocks &blocks, unsigned file, unsigned files) {
    size_t bytes = 0;
    if (blocks.count > file)
        bytes = ((blocks.count - file - 1) / files + 1) * blocks.block;
    if ((blocks.count - 1) % files == file) // the last block may be short
        bytes -= blocks.count * blocks.block - whole_pages(blocks.bytes);
    return bytes;
}

bool is_dax(int fd) {
    // glibc's name for it: STATX_ATTR_DAX (Linux 5.8).
    constexpr uint64_t dax = 0x200000;
    struct statx found;
    return statx(fd, "", AT_EMPTY_PATH, 0, &found) == 0 && (found.stx_attributes & dax);
}

// All directories' file systems: what several of them ask of one is added up.
bool has_room(const Blocks &blocks, const char *const *directories, unsigned count) {
    struct stat where[TC_MAX_FILES];
    for (unsigned i = 0; i < count; i++)
        if (!directories[i] || stat(directories[i], &where[i]) != 0) {
            failure() << (directories[i] ? directories[i] : "(null)") << ": " << because(errno);
            return false;
        }
    for (unsigned i = 0; i < count; i++) {
        uint64_t wanted = 0;
        for (unsigned k = 0; k < count; k++)
            if (where[k].st_dev == where[i].st_dev)
                wanted += part(blocks, k, count);
        struct statfs room;
        if (statfs(directories[i], &room) != 0) {
            failure() << directories[i] << ": " << because(errno);
            return false;
        }
        const uint64_t there = room.f_bavail * static_cast<uint64_t>(room.f_bsize);
        if (there < wanted) {
            failure() << directories[i] << ": " << (wanted >> 20) << " MiB asked for, "
                      << (there >> 20) << " MiB free";
            return false;
        }
    }
    return true;
}

bool open_files(Files &files, const Blocks &blocks, const char *const *directories, unsigned count,
                bool allow_page_cache) {
    for (unsigned i = 0; i < count; i++) {
        const int fd = open(directories[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0) {
            failure() << directories[i] << ": no nameless file: " << because(errno);
            return false;
        }
        files.fds[files.count++] = fd;
        if (!allow_page_cache && !is_dax(fd)) {
            failure() << directories[i] << " is not on a file system with DAX: mount it with -o "
                      << "dax, or allow the page cache";
            return false;
        }
        const size_t bytes = part(blocks, i, count);
        const int refused = bytes ? posix_fallocate(fd, 0, static_cast<off_t>(bytes)) : 0;
        if (refused) {
            failure() << directories[i] << ": no " << uint64_t(bytes >> 20)
                      << " MiB: " << because(refused);
            return false;
        }
    }
    return true;
}

} // namespace

char *map_files(const Blocks &blocks, const char *const *directories, unsigned count,
                bool allow_page_cache) {
    if (count > TC_MAX_FILES || !directories) {
        failure() << uint64_t(count) << " files: at most " << uint64_t(TC_MAX_FILES);
        return nullptr;
    }
    Files files;
    if (!has_room(blocks, directories, count) ||
        !open_files(files, blocks, directories, count, allow_page_cache))
        return nullptr;
    char *start = reserve_range(blocks.bytes);
    const size_t mapped = whole_pages(blocks.bytes);
    for (size_t block = 0; start && block < blocks.count; block++) {
        const size_t at = block * blocks.block;
        const size_t bytes = block + 1 == blocks.count ? mapped - at : blocks.block;
        const size_t offset = block / count * blocks.block;
        if (mmap(start + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 files.fds[block % count], static_cast<off_t>(offset)) != MAP_FAILED)
            continue;
        failure() << directories[block % count] << ": not mapped: " << because(errno);
        release_range(start, blocks.bytes);
        start = nullptr;
    }
    return start;
}

} // namespace tc
