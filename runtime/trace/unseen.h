// The share of a program's instructions that ran outside the twins.
#pragma once
#include <cstdint>

namespace tc {

void unseen_start();
void unseen_add_twins(uintptr_t low, uintptr_t high);
// Code whose samples are nobody's: the recorder's own.
void unseen_set_recorder(uintptr_t low, uintptr_t high);
void unseen_after_fork();

} // namespace tc
