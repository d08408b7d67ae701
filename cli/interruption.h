#pragma once

#include <stop_token>

namespace residua::cli {

// From now on SIGINT and SIGTERM end the program with this message, one line with its end. The text
// must outlive the program's work. Whatever is cut off is as after a crash, which every file and
// ledger is made for.
void OnInterruption(const char* message);

// The same for work that a database does. After the message the token asks to stop, so that the
// database is told, and then the program ends. A second signal ends it at once. May be called once.
std::stop_token StopOnInterruption(const char* message);

// Whether such a signal has come: the program is about to end, and has said so.
bool IsInterrupted();

}  // namespace residua::cli
