// See modules_of_code.h.
//
// That a module was unloaded shows when another's code is met where it was: nobody has to tell us,
// and what the C library loads and unloads for itself is seen as well.
#include "modules_of_code.h"
#include "own_memory.h"
#include <climits>
#include <cstring>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr uint32_t most_modules = 1024;
constexpr uintptr_t page = 4096;

CodeModule *modules;
uint32_t count;
uint32_t epoch;

const char *keep(const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = static_cast<char *>(own_memory_map(bytes));
    return copy ? static_cast<const char *>(memcpy(copy, text, bytes)) : "";
}

uint64_t first_words(const void *table) {
    uint64_t words[4] = {}; // header, number of entries, first entry
    memcpy(words, table, 24);
    return words[0] ^ words[1] * 3 ^ words[2] * 5;
}

// FNV-1a over the sorted table of functions: relative to the table, so that it is the same
// wherever the module is loaded.
uint32_t fingerprint_of(const UnwindTable &table) {
    const size_t bytes = 12 + size_t(unwind_entries(table)) * 8;
    uint64_t h = 14695981039346656037u;
    for (size_t at = 0; at + 4 <= bytes && table.header + at + 4 <= table.end; at += 4) {
        uint32_t word;
        memcpy(&word, table.header + at, sizeof word);
        h = (h ^ word) * 1099511628211u;
    }
    return static_cast<uint32_t>(h ^ h >> 32);
}

bool is_library(const char *base) {
    // Not what merely links to them, and not Python's.
    constexpr const char *names[] = {"libc.so",      "libstdc++.so",   "libc++.so",
                                     "libc++abi.so", "libgfortran.so", "ld-linux-"};
    for (const char *name : names)
        if (strncmp(base, name, strlen(name)) == 0)
            return true;
    return false;
}

struct Segments {
    const ElfW(Phdr) * first;
    size_t count; // 0: not known
};

// The executable's may lie apart, and then each counts as an object: its headers are the kernel's
// word.  A library's are mapped at its beginning.
Segments segments_of(const dl_find_object &found, bool executable) {
    if (executable)
        return {reinterpret_cast<const ElfW(Phdr) *>(getauxval(AT_PHDR)), getauxval(AT_PHNUM)};
    const auto *header = static_cast<const ElfW(Ehdr) *>(found.dlfo_map_start);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return {};
    const auto at = reinterpret_cast<uintptr_t>(header) + header->e_phoff;
    return {reinterpret_cast<const ElfW(Phdr) *>(at), header->e_phnum};
}

// False where none is executable.
bool read_segments(const Segments &segments, CodeModule &module) {
    const auto table = reinterpret_cast<uintptr_t>(module.unwind.header);
    module.start = module.text_start = UINTPTR_MAX;
    for (size_t i = 0; i < segments.count; i++) {
        const ElfW(Phdr) &segment = segments.first[i];
        if (segment.p_type != PT_LOAD)
            continue;
        const uintptr_t from = module.bias + segment.p_vaddr;
        const uintptr_t to = from + segment.p_filesz, end = from + segment.p_memsz;
        module.start = from < module.start ? from : module.start;
        module.end = end > module.end ? end : module.end;
        if (segment.p_flags & PF_X) {
            module.text_start = from < module.text_start ? from : module.text_start;
            module.text_end = to > module.text_end ? to : module.text_end;
        }
        if (table >= from && table < to && segment.p_flags & PF_R) {
            module.unwind.start = reinterpret_cast<const uint8_t *>(from);
            module.unwind.end = reinterpret_cast<const uint8_t *>(to);
        }
    }
    return module.text_start < module.text_end;
}

const CodeModule *add(const dl_find_object &found, const char *path) {
    char executable[PATH_MAX];
    const Segments segments = segments_of(found, !*path);
    if (!*path) {
        const ssize_t n = readlink("/proc/self/exe", executable, sizeof executable - 1);
        executable[n > 0 ? n : 0] = 0;
        path = executable;
    }
    if (!modules)
        modules = static_cast<CodeModule *>(own_memory_map(most_modules * sizeof(CodeModule)));
    if (!modules || count == most_modules)
        return nullptr;
    CodeModule &module = modules[count];
    module = {};
    module.bias = found.dlfo_link_map->l_addr;
    module.unwind.header = static_cast<const uint8_t *>(found.dlfo_eh_frame);
    if (!read_segments(segments, module))
        return nullptr;
    if (module.unwind.start) {
        module.fingerprint = fingerprint_of(module.unwind);
        module.table_start = first_words(module.unwind.header);
    } else {
        module.unwind.header = nullptr;
    }
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    for (size_t i = 0; base[i] && i < sizeof module.name - 1; i++) {
        const char c = base[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                           (c >= 'a' && c <= 'z') || strchr("._+-", c);
        module.name[i] = plain ? c : '_';
    }
    module.library = is_library(base);
    module.own = strncmp(base, "libthermocline.so", 17) == 0;
    module.path = keep(path);
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    return &module;
}

} // namespace

const CodeModule *module_of_code(uintptr_t address) {
    dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void *>(address), &found) != 0 || !found.dlfo_link_map)
        return nullptr;
    const auto start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
    const auto end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
    const char *path = found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "";
    const CodeModule *known = nullptr;
    for (uint32_t i = 0; i < count; i++) {
        CodeModule &module = modules[i];
        if (module.gone || module.end <= start || end <= module.start)
            continue;
        if (module.start <= start && end <= module.end + page &&
            (!*path || strcmp(path, module.path) == 0) &&
            (!module.unwind.header || first_words(module.unwind.header) == module.table_start)) {
            known = &module;
            continue;
        }
        module.gone = true;
        epoch++;
    }
    if (!known)
        known = add(found, path);
    return known && address >= known->text_start && address < known->text_end ? known : nullptr;
}

bool is_in_module(uintptr_t address) {
    dl_find_object found;
    return _dl_find_object(reinterpret_cast<void *>(address), &found) == 0;
}

uint32_t code_module_count() { return __atomic_load_n(&count, __ATOMIC_ACQUIRE); }
const CodeModule &code_module(uint32_t number) { return modules[number]; }
uint32_t code_epoch() { return __atomic_load_n(&epoch, __ATOMIC_RELAXED); }

} // namespace tc
