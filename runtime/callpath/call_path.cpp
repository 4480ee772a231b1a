// Paths are kept as a tree from the allocation up: a node is a return address below its parent's,
// and knows how to find the next one on the stack.  So a path that was seen before costs a few
// instructions and one look into a hash table a caller, without a lock; and as each address is read
// from the place that the unwind table gives for this very path, a remembered path can't be taken
// for another, whatever longjmp, alloca or a switch of stacks did to what lies on the stack.
#include "call_path.h"
#include "frame_rule.h"
#include "lock.h"
#include "modules_of_code.h"
#include "own_memory.h"
#include "sites.h"
#include "text.h"
#include "thread_stack.h"

namespace tc {
namespace {

constexpr uint32_t most_nodes = 1 << 18;
constexpr uint32_t most_sites = 1 << 16;
constexpr uint32_t bucket_count = 2 * most_nodes;
constexpr unsigned most_frames = 48; // of a path, those of libraries included
constexpr unsigned most_library_frames = 24;

struct Node {
    uintptr_t pc;
    FrameRule rule;
    uint32_t parent; // or the epoch and root_mark
    uint32_t site;   // of the path that ends here; 0: none has yet
    uint32_t child;  // its first; most have one
    uint16_t module;
    uint8_t level;   // of nodes above it, with itself
    uint8_t counted; // of those, what is not a library's on the way to the first that is not
};
static_assert(sizeof(Node) == 40);
constexpr uint32_t root_mark = 1u << 31;

Lock lock; // of everything that changes
Node *nodes;
uint32_t *buckets; // node, or 0
uint32_t node_count, site_count;
unsigned wanted; // frames
uint32_t rest_site, own_site;
bool full;

// What was found out about an address: it may follow on many.
struct Known {
    uintptr_t pc;
    const CodeModule *module;
    FrameRule rule;
    uint32_t epoch;
};
constexpr uint32_t most_known = 1 << 12;
Known *known_codes;

// Its module, and the rule there; null if it is in no module's code.  Under the lock.
const Known *known_code(uintptr_t pc) {
    Known &known = known_codes[pc * 0x9e3779b97f4a7c15u >> 52];
    static_assert(most_known == 1 << (64 - 52));
    if (known.pc == pc && known.epoch == code_epoch())
        return &known;
    const CodeModule *module = module_of_code(pc);
    if (!module)
        return nullptr;
    known = {pc, module, find_rule(module->unwind, pc), code_epoch()};
    return &known;
}

uint32_t bucket_of(uint32_t parent, uintptr_t pc) {
    const uint64_t h = (pc ^ uint64_t(parent) << 32) * 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>(h >> 40) & (bucket_count - 1);
}

// Looks without the lock; `at` is then where it would be.
uint32_t find(uint32_t parent, uintptr_t pc, uint32_t &at) {
    for (at = bucket_of(parent, pc);; at = (at + 1) & (bucket_count - 1)) {
        const uint32_t number = __atomic_load_n(&buckets[at], __ATOMIC_ACQUIRE);
        if (!number || (nodes[number].pc == pc && nodes[number].parent == parent))
            return number;
    }
}

// A return address comes after a call: e8 and 4 bytes, or ff /2 with 0, 1 or 4 bytes behind it.
bool follows_call(uintptr_t pc, const CodeModule &module) {
    if (pc - module.text_start < 7)
        return false;
    const auto *code = reinterpret_cast<const uint8_t *>(pc);
    if (code[-5] == 0xe8)
        return true;
    constexpr int lengths[] = {2, 3, 4, 6, 7};
    for (const int bytes : lengths)
        if (code[-bytes] == 0xff && (code[1 - bytes] >> 3 & 7) == 2)
            return true;
    return false;
}

uint16_t number_of(const CodeModule &module) {
    return static_cast<uint16_t>(&module - &code_module(0));
}

// The node of a return address that is new below its parent; 0 if it is in no module's code, or
// there is no room.
uint32_t add(uint32_t parent, uintptr_t pc) {
    if (__atomic_load_n(&full, __ATOMIC_RELAXED) || !is_in_module(pc))
        return 0;
    Guard guard(lock);
    const bool is_root = parent & root_mark;
    const Known *known = known_code(pc);
    if (!known)
        return 0;
    const CodeModule *module = known->module;
    if (is_root) {
        parent = root_mark | code_epoch();
    } else if (nodes[parent].rule.guessed && !follows_call(pc, *module)) {
        nodes[parent].rule.base = FrameRule::none; // no frame pointer here
        return 0;
    }
    uint32_t at;
    if (const uint32_t number = find(parent, pc, at)) // another thread was faster
        return number;
    if (node_count + 1 >= most_nodes) {
        full = true;
        return 0;
    }
    Node node{};
    node.pc = pc;
    node.parent = parent;
    node.module = number_of(*module);
    const uint8_t level = is_root ? 0 : nodes[parent].level;
    const uint8_t counted = is_root ? 0 : nodes[parent].counted;
    node.level = static_cast<uint8_t>(level + 1);
    const bool passed = counted == 0 && module->library && node.level <= most_library_frames;
    node.counted = static_cast<uint8_t>(counted + !passed);
    if (module->own) // what starting a thread of ours takes
        node.site = own_site;
    else if (node.counted < wanted && node.level < most_frames)
        node.rule = known->rule;
    nodes[++node_count] = node;
    if (!is_root && !nodes[parent].child)
        __atomic_store_n(&nodes[parent].child, node_count, __ATOMIC_RELEASE);
    __atomic_store_n(&buckets[at], node_count, __ATOMIC_RELEASE);
    return node_count;
}

Line &hexadecimal(Line &line, uint64_t number, unsigned digits) {
    while (digits < 16 && number >> 4 * digits)
        digits++;
    while (digits--)
        line << "0123456789abcdef"[number >> 4 * digits & 15];
    return line;
}

// `@prog#1a2b3c4d+0x123<libfoo.so#...`: see docs/internals.md.
uint32_t make_site(uint32_t leaf, const char *routine) {
    static char key[most_frames * 96];
    Guard guard(lock);
    if (nodes[leaf].site)
        return nodes[leaf].site;
    if (site_count == most_sites) {
        full = true;
        return nodes[leaf].site = rest_site;
    }
    uint32_t path[most_frames];
    unsigned length = 0;
    for (uint32_t at = leaf; !(at & root_mark); at = nodes[at].parent)
        path[length++] = at;
    Line text(key, sizeof key);
    text << '@';
    for (unsigned i = length; i--;) {
        const Node &node = nodes[path[i]];
        const CodeModule &module = code_module(node.module);
        text << module.name << '#';
        hexadecimal(text, module.fingerprint, 8) << "+0x";
        hexadecimal(text, node.pc - module.bias, 1);
        if (i)
            text << '<';
    }
    const uint32_t site = intern_site(key, routine);
    site_count++;
    __atomic_store_n(&nodes[leaf].site, site ? site : rest_site, __ATOMIC_RELEASE);
    return nodes[leaf].site;
}

} // namespace

bool start_call_paths(unsigned context) {
    wanted = context + 1;
    nodes = static_cast<Node *>(own_memory_map(most_nodes * sizeof(Node)));
    known_codes = static_cast<Known *>(own_memory_map(most_known * sizeof(Known)));
    buckets = static_cast<uint32_t *>(own_memory_map(bucket_count * sizeof(uint32_t)));
    rest_site = intern_site("(rest)!unannotated", nullptr);
    own_site = intern_site("libthermocline.so!unannotated", nullptr);
    return nodes && buckets && known_codes && rest_site && own_site;
}

uint32_t call_path_site(const CallFrame *frame, const char *routine) {
    // Just after the return: the return address is below the stack pointer.
    Registers at{frame->return_address, reinterpret_cast<uintptr_t>(frame + 1), frame->caller_bp};
    const uintptr_t top = readable_until(at.sp);
    uint32_t leaf = 0, next = 0, above = root_mark | code_epoch();
    for (;;) {
        uint32_t bucket;
        if (!next || nodes[next].pc != at.pc)
            next = find(above, at.pc, bucket);
        if (__builtin_expect(!next, 0) && !(next = add(above, at.pc)))
            break;
        leaf = above = next;
        next = __atomic_load_n(&nodes[leaf].child, __ATOMIC_ACQUIRE);
        if (!step(nodes[leaf].rule, at, top))
            break;
    }
    if (!leaf) // code that was made at run time
        return rest_site;
    const uint32_t site = __atomic_load_n(&nodes[leaf].site, __ATOMIC_ACQUIRE);
    return __builtin_expect(site != 0, 1) ? site : make_site(leaf, routine);
}

void put_call_paths(JsonFile &json) {
    json.number("preload_context", wanted - 1);
    json.open('[', "modules");
    for (uint32_t i = 0; i < code_module_count(); i++) {
        const CodeModule &module = code_module(i);
        char name[sizeof module.name + 16];
        Line text(name, sizeof name);
        text << module.name << '#';
        hexadecimal(text, module.fingerprint, 8);
        json.open('{');
        json.string("name", name);
        json.string("path", module.path);
        json.close('}');
    }
    json.close(']');
}

const char *call_path_note() {
    return full ? "there are more call paths than are told apart: what came last is counted with "
                  "shorter paths or as (rest)!unannotated; try a smaller --context"
                : nullptr;
}

void lock_call_paths() { lock.acquire(); }
void unlock_call_paths() { lock.release(); }
uint32_t call_path_nodes() { return node_count; }

} // namespace tc
