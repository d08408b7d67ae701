#pragma once

namespace residua::cli {

// From now on SIGINT and SIGTERM end the program with this message, one line with its end. The text
// must outlive the program's work. Whatever is cut off is as after a crash, which every file and
// ledger is made for.
void OnInterruption(const char* message);

}  // namespace residua::cli
