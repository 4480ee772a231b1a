// A method of profiling: what fills a profile's counts of references and traffic.  One file and
// one line in samplers.cpp each; docs/methods.md says how to add one.
#pragma once
#include <cstdint>

namespace tc {

struct Config;
struct Traffic;
class JsonFile;

struct Sampler {
    const char *name; // as in the configuration's `sampler NAME`, and the profile's "method"

    // Before the program's own constructors.  On false `*why` says in a few words what is wrong,
    // and nothing will be recorded.
    bool (*start)(const Config &, const char **why);

    // From any thread, at any time: sums since the start, over all threads.  sites[i] is site i's;
    // sites[0] stays zero.  `outside` has an entry for each NonHeap.
    void (*snapshot)(Traffic *sites, uint32_t count, Traffic *outside);

    // The rest may be null.

    // The watching thread's, beside each sample of residency and under the same limit of one
    // hundredth of a core; `nanoseconds` since the start.
    void (*tick)(uint64_t nanoseconds);

    // Share of the program's user-mode instructions that it could not see; negative: unknown.
    double (*unseen_share)();

    // Members of the profile's object "sampling", and more members of a site's object.
    void (*put)(JsonFile &);
    void (*put_site)(JsonFile &, uint32_t site);
    void (*put_outside)(JsonFile &, unsigned kind); // the same for a NonHeap

    // The child of a fork; its counts start where the parent's were, and the profile takes those
    // off.
    void (*restart_in_child)();
};

// Null if there is none of that name in this library.
const Sampler *find_sampler(const char *name);

} // namespace tc
