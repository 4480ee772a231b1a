// See frame_machine.h.
#include "frame_machine.h"

namespace tc {
namespace {

enum : uint64_t { reg_bp = 6, reg_sp = 7, reg_return = 16 }; // x86-64 psABI, figure 3.36
enum : uint8_t { op_deref = 0x06, op_breg_bp = 0x76 };

} // namespace

void FrameMachine::saved_at(uint64_t reg, int64_t factored) {
    const int64_t offset = scaled(factored);
    if (reg == reg_bp) {
        state.rule.saved = FrameRule::in_frame;
        state.rule.saved_bp = static_cast<int32_t>(offset);
    } else if (reg == reg_return) {
        state.returns = offset == -8;
    }
}

// Wraps around, where the table makes no sense.
int64_t FrameMachine::scaled(int64_t factored) const {
    return static_cast<int64_t>(static_cast<uint64_t>(factored) *
                                static_cast<uint64_t>(common.data_align));
}

void FrameMachine::lost(uint64_t reg) {
    if (reg == reg_bp || reg == reg_return)
        state.returns = false;
}

void FrameMachine::restored(uint64_t reg) {
    if (reg == reg_bp) {
        state.rule.saved = initial.rule.saved;
        state.rule.saved_bp = initial.rule.saved_bp;
    } else if (reg == reg_return) {
        state.returns = initial.returns;
    }
}

void FrameMachine::frame_register(uint64_t reg) {
    state.rule.base = reg == reg_sp   ? FrameRule::sp
                      : reg == reg_bp ? FrameRule::bp
                                      : FrameRule::none;
}

// Of expressions only those that compilers write for a realigned stack.
void FrameMachine::frame_expression(Cursor expression) {
    state.rule.base = FrameRule::none;
    if (expression.take<uint8_t>() != op_breg_bp)
        return;
    const int64_t offset = expression.signed_leb();
    if (expression.take<uint8_t>() != op_deref || expression.more() || !expression.good)
        return;
    state.rule.base = FrameRule::bp_pointer;
    state.rule.frame = static_cast<int32_t>(offset);
}

void FrameMachine::saved_expression(uint64_t reg, Cursor expression) {
    if (reg != reg_bp)
        return lost(reg);
    const uint8_t op = expression.take<uint8_t>();
    const int64_t offset = expression.signed_leb();
    if (op != op_breg_bp || expression.more() || !expression.good)
        return lost(reg);
    state.rule.saved = FrameRule::at_bp;
    state.rule.saved_bp = static_cast<int32_t>(offset);
}

bool FrameMachine::run(Cursor in, uint64_t location, uint64_t pc) {
    while (in.more()) {
        const uint8_t byte = in.take<uint8_t>();
        const uint8_t low = byte & 0x3f;
        uint64_t advance = 0;
        switch (byte & 0xc0 ? byte & 0xc0 : byte) {
        case 0x40: // advance_loc
            advance = low;
            break;
        case 0x80: // offset
            saved_at(low, static_cast<int64_t>(in.unsigned_leb()));
            break;
        case 0xc0: // restore
            restored(low);
            break;
        case 0x00: // nop
            break;
        case 0x01: // set_loc
            location = in.encoded(common.pointers);
            break;
        case 0x02: // advance_loc1, 2, 4
            advance = in.take<uint8_t>();
            break;
        case 0x03:
            advance = in.take<uint16_t>();
            break;
        case 0x04:
            advance = in.take<uint32_t>();
            break;
        case 0x05: { // offset_extended
            const uint64_t reg = in.unsigned_leb();
            saved_at(reg, static_cast<int64_t>(in.unsigned_leb()));
            break;
        }
        case 0x06: // restore_extended
            restored(in.unsigned_leb());
            break;
        case 0x07: // undefined
            lost(in.unsigned_leb());
            break;
        case 0x08: // same_value
            if (const uint64_t reg = in.unsigned_leb(); reg == reg_bp)
                state.rule.saved = FrameRule::same;
            else
                lost(reg);
            break;
        case 0x09: // register
            lost(in.unsigned_leb());
            in.unsigned_leb();
            break;
        case 0x0a: // remember_state
            if (depth == deepest)
                return false;
            remembered[depth++] = state;
            break;
        case 0x0b: // restore_state
            if (depth == 0)
                return false;
            state = remembered[--depth];
            break;
        case 0x0c: // def_cfa
            frame_register(in.unsigned_leb());
            state.rule.frame = static_cast<int32_t>(in.unsigned_leb());
            break;
        case 0x0d: // def_cfa_register
            frame_register(in.unsigned_leb());
            break;
        case 0x0e: // def_cfa_offset
            state.rule.frame = static_cast<int32_t>(in.unsigned_leb());
            break;
        case 0x0f: // def_cfa_expression
            frame_expression(in.part(in.unsigned_leb()));
            break;
        case 0x10: { // expression
            const uint64_t reg = in.unsigned_leb();
            saved_expression(reg, in.part(in.unsigned_leb()));
            break;
        }
        case 0x11: { // offset_extended_sf
            const uint64_t reg = in.unsigned_leb();
            saved_at(reg, in.signed_leb());
            break;
        }
        case 0x12: // def_cfa_sf
            frame_register(in.unsigned_leb());
            state.rule.frame = static_cast<int32_t>(scaled(in.signed_leb()));
            break;
        case 0x13: // def_cfa_offset_sf
            state.rule.frame = static_cast<int32_t>(scaled(in.signed_leb()));
            break;
        case 0x14: // val_offset, val_offset_sf
        case 0x15:
            lost(in.unsigned_leb());
            in.unsigned_leb();
            break;
        case 0x16: // val_expression
            lost(in.unsigned_leb());
            in.skip(in.unsigned_leb());
            break;
        case 0x2e: // GNU_args_size
            in.unsigned_leb();
            break;
        default:
            return false;
        }
        location += advance * common.code_align;
        if (location > pc)
            break; // about code behind it
    }
    return in.good;
}

} // namespace tc
