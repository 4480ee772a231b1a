// What a guided run did, written when the process ends (docs/internals.md).
#pragma once
#include "config.h"

namespace tc {

// Makes the report's path independent of the working directory.
void start_report(Config &);

// Takes one measurement into the peaks.
void note_residency();

// A process that was just forked starts from nothing.
void restart_report();

// Writes PREFIX.PID.json, once per process, if the configuration asks for it.
void write_report();

} // namespace tc
