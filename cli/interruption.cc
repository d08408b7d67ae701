#include "cli/interruption.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace residua::cli {
namespace {

std::atomic<const char*> g_message = nullptr;

// Calls only what a signal handler may.
void End(int signal) {
  const char* message = g_message.load();
  for (size_t left = std::strlen(message); left > 0;) {
    const ssize_t written = write(STDERR_FILENO, message, left);
    if (written <= 0) break;
    message += written;
    left -= static_cast<size_t>(written);
  }
  _exit(128 + signal);
}

}  // namespace

void OnInterruption(const char* message) {
  g_message.store(message);
  std::signal(SIGINT, End);
  std::signal(SIGTERM, End);
}

}  // namespace residua::cli
