// Which pages of the profiled heap were written since the last look: by the kernel's asynchronous
// write protection (userfaultfd, Linux 6.7), read and renewed by PAGEMAP_SCAN; or, on older
// kernels, by soft-dirty bits, which can only be renewed for the whole process.
//
// A page's first write after it was protected costs a fault in the program, about a microsecond;
// nothing else changes for it.
#pragma once
#include <cstdint>

namespace tc::pages {

// Whether the kernel can do it; opens the userfaultfd, which stays open in the calling thread's
// table of descriptors.  Null, or what it lacks.
// `soft_dirty`: only that is wanted.
const char *written_open(bool soft_dirty);
const char *written_means(); // how, in a few words
void written_forget();       // in the child of a fork

// Nanoseconds that the first write of a protected page costs here, measured.
uint64_t written_fault_ns();

// Lets the kernel track [from, to), which may be reserved memory.  Once for a range.
bool written_track(uintptr_t from, uintptr_t to);

// Called with runs of pages that were written since they were last protected, or since they came
// to be.  Pages that only show the kernel's zeroes do not count.
using WrittenRun = void (*)(void *context, uintptr_t from, uintptr_t to);

// `protect`: they are protected again, so that the next call tells what was written after this
// one.  `pagemap`: a descriptor of /proc/self/pagemap.
bool written_scan(int pagemap, uintptr_t from, uintptr_t to, bool protect, WrittenRun,
                  void *context);

// Whether a scan can protect; else written_protect_all does it, after all scans.
bool written_by_range();
bool written_protect_all();

} // namespace tc::pages
