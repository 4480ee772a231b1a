// Where a name is taken, nothing of the other file is touched.
#include "simulator/trace/aside.h"
#include "simulator/trace/error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace thermocline {

namespace {

[[noreturn]] void exists(const std::string &path) {
    throw TraceMisuse(path + " exists: give another name with -o, or --force");
}

} // namespace

std::string aside_name(const std::string &path) {
    return path + ".part." + std::to_string(getpid());
}

void refuse_to_overwrite(const std::string &path, bool overwrite) {
    if (!overwrite && access(path.c_str(), F_OK) == 0)
        exists(path);
}

void give_name(const std::string &aside, const std::string &path, bool overwrite) {
    const unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;
    int result = renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), flags);
    // Not every file system knows RENAME_NOREPLACE.
    if (result != 0 && errno == EINVAL) {
        refuse_to_overwrite(path, overwrite);
        result = std::rename(aside.c_str(), path.c_str());
    }
    if (result == 0)
        return;
    const int error = errno;
    unlink(aside.c_str());
    if (error == EEXIST)
        exists(path);
    throw TraceError(path + " can't be written: " + std::strerror(error));
}

} // namespace thermocline
