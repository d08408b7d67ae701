#pragma once

#include <stop_token>

namespace residua::cli {

// From now on SIGINT and SIGTERM, and SIGHUP unless it is ignored, end the program: it says so in
// one line, deletes the temporary files that it is writing, and ends. A second signal ends it at
// once. Whatever is cut off is as after a crash, which every file and ledger is made for. A file
// that grows too large for the system (SIGXFSZ) ends nothing: writing it fails.
void HandleSignals();

// What the line says from now on, with its end. The text must outlive the program's work.
void OnInterruption(const char* message);

// The same for work that a database does. The token asks to stop before the program ends, so that
// the database is told.
std::stop_token StopOnInterruption(const char* message);

// Waits for the end, if such a signal has come: the program is about to end, and has said so.
void AwaitInterruption();

}  // namespace residua::cli
