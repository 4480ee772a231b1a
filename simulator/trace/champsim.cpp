// ChampSim's traces (github.com/ChampSim/ChampSim, inc/trace_instruction.h, input_instr): 64
// bytes for each instruction, with its registers and the addresses that it reads and writes.
//
// Registers tell which loads an address comes from: each holds the loads that its value was
// made of, over any number of instructions.  ChampSim doesn't say which of a store's registers
// make its address and which its value, so that both do here.
#include "simulator/trace/foreign.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace thermocline {

namespace {

struct Instruction {
    uint64_t ip = 0;
    uint8_t is_branch = 0, branch_taken = 0;
    uint8_t destination_registers[2] = {}, source_registers[4] = {};
    uint64_t destination_memory[2] = {}, source_memory[4] = {}; // 0: none
};
static_assert(sizeof(Instruction) == 64);

constexpr uint32_t assumed_bytes = 8;
// ChampSim takes these for the stack pointer, flags and instruction pointer.
constexpr std::array<uint8_t, 3> special_registers = {6, 25, 26};

bool special(uint8_t number) {
    return std::find(special_registers.begin(), special_registers.end(), number) !=
           special_registers.end();
}

std::string hexadecimal(uint64_t value) {
    char text[20] = "0x";
    return std::string(text, std::to_chars(text + 2, text + sizeof text, value, 16).ptr);
}

// The loads whose values are in a register, a few of them.
using Loads = std::vector<uint32_t>;
void unite(Loads &loads, const Loads &more) {
    constexpr size_t most = 8;
    for (uint32_t load : more)
        if (loads.size() < most && std::find(loads.begin(), loads.end(), load) == loads.end())
            loads.push_back(load);
}

} // namespace

void import_champsim(ForeignInput &input, TraceWriter &writer, const ForeignOptions &) {
    Importer importer(writer, "champsim", input.name(),
                      {"sites", "threads", "sizes", "which registers make a store's address"},
                      {{"bytes", assumed_bytes}});
    std::unordered_map<uint64_t, uint32_t> loads, stores; // by ip
    std::array<Loads, 256> registers;
    uint64_t gap = 0, extra = 0, at = 0;
    Instruction instruction;
    for (size_t got; (got = input.read(&instruction, sizeof instruction)) > 0; at += got) {
        if (got < sizeof instruction)
            throw TraceError(input.name() + " ends within an instruction, at byte " +
                             std::to_string(at) + ": it is cut off, or no ChampSim trace");
        if (instruction.is_branch > 1 || instruction.branch_taken > 1)
            throw TraceError(input.name() + " has a branch that is neither, at byte " +
                             std::to_string(at) + ": it is no ChampSim trace");
        Loads values; // of the registers that are read
        for (uint8_t number : instruction.source_registers)
            if (number && !special(number))
                unite(values, registers[number]);
        Loads loaded;
        unsigned operands = 0;
        const auto refer = [&](uint64_t address, bool store) {
            if (address == 0)
                return;
            const auto [found, fresh] = (store ? stores : loads).try_emplace(instruction.ip, 0);
            if (fresh)
                found->second = importer.add_instruction(
                    {assumed_bytes, store, {}, hexadecimal(instruction.ip)});
            for (uint32_t load : values)
                importer.depends(found->second, load);
            if (!store)
                unite(loaded, {found->second});
            // An instruction of several operands counts as so many references: the gap, of
            // which there is enough, gives them back.
            if (operands++ == 0) {
                const uint64_t back = std::min(gap, extra);
                gap -= back;
                extra -= back;
            } else {
                extra++;
            }
            Reference r;
            if (gap > UINT32_MAX)
                throw TraceError(input.name() + " has 2^32 instructions without a reference");
            r.gap = uint32_t(gap);
            r.address = address;
            r.instruction = found->second;
            r.bytes = assumed_bytes;
            r.store = store;
            importer.add(r);
            gap = 0;
        };
        for (uint64_t address : instruction.source_memory)
            refer(address, false);
        for (uint64_t address : instruction.destination_memory)
            refer(address, true);
        if (operands == 0)
            gap++;
        // What a load's value was loaded with is behind it.
        const Loads &result = loaded.empty() ? values : loaded;
        for (uint8_t number : instruction.destination_registers)
            if (number && !special(number))
                registers[number] = result;
    }
    importer.finish(gap);
}

namespace {

// A register for each load that others' addresses are made of; there are 252 of them.
std::vector<uint8_t> assign_registers(const Tables &tables) {
    std::vector<uint8_t> registers(tables.statics.size(), 0);
    uint8_t next = 0;
    for (uint32_t i = 0; i < tables.statics.size(); i++)
        for (uint32_t producer : tables.producers_of(i)) {
            if (producer >= registers.size() || registers[producer])
                continue;
            do
                next++;
            while (next == 0 || special(next));
            registers[producer] = next;
        }
    return registers;
}

// Where an instruction stands: room for the others before it, in a loop of their own.
constexpr uint64_t text_base = 0x400000, text_stride = 64, instruction_bytes = 4;
constexpr uint64_t fillers = text_stride / instruction_bytes - 1;

} // namespace

void export_champsim(Cursor &cursor, const Tables &tables, ForeignOutput &output,
                     const ForeignOptions &) {
    const std::vector<uint8_t> registers = assign_registers(tables);
    while (const Reference *r = cursor.next()) {
        // A hole is closed: ChampSim has no word for it.
        if (r->event == TraceEvent::window_begin)
            continue;
        const bool known = r->event == TraceEvent::reference && r->instruction != no_static;
        const uint64_t ip =
            text_base + text_stride * (known ? uint64_t(r->instruction) + 1 : 0) + fillers * 4;
        for (uint64_t i = r->gap; i > 0; i--) {
            Instruction filler;
            filler.ip = ip - instruction_bytes * ((i - 1) % fillers + 1);
            output.write(&filler, sizeof filler);
        }
        if (r->event != TraceEvent::reference || r->address == 0)
            continue;
        Instruction instruction;
        instruction.ip = ip;
        if (r->store)
            instruction.destination_memory[0] = r->address;
        else
            instruction.source_memory[0] = r->address;
        if (known) {
            if (!r->store)
                instruction.destination_registers[0] = registers[r->instruction];
            size_t sources = 0;
            for (uint32_t producer : tables.producers_of(r->instruction))
                if (producer < registers.size() &&
                    sources < std::size(instruction.source_registers))
                    instruction.source_registers[sources++] = registers[producer];
        }
        output.write(&instruction, sizeof instruction);
    }
}

} // namespace thermocline
