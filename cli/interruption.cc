#include "cli/interruption.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

namespace residua::cli {
namespace {

std::atomic<const char*> g_message = nullptr;
std::atomic<int> g_signal = 0;  // that has come
int g_signals[2];               // a pipe: one byte for a signal

// Calls only what a signal handler may.
void Say(const char* message) {
  for (size_t left = std::strlen(message); left > 0;) {
    const ssize_t written = write(STDERR_FILENO, message, left);
    if (written <= 0) break;
    message += written;
    left -= static_cast<size_t>(written);
  }
}

void End(int signal) {
  Say(g_message.load());
  _exit(128 + signal);
}

// Has the thread of StopOnInterruption do it, for a handler may call next to nothing.
void PassOn(int signal) {
  if (g_signal.exchange(signal) != 0) _exit(128 + signal);
  Say(g_message.load());
  if (write(g_signals[1], "", 1) != 1) _exit(128 + signal);
}

}  // namespace

void OnInterruption(const char* message) {
  g_message.store(message);
  std::signal(SIGINT, End);
  std::signal(SIGTERM, End);
}

std::stop_token StopOnInterruption(const char* message) {
  OnInterruption(message);
  if (pipe(g_signals) != 0) return {};
  std::stop_source stop;
  std::thread([stop]() mutable {
    char signal = 0;
    if (read(g_signals[0], &signal, 1) != 1) return;
    stop.request_stop();
    _exit(128 + g_signal);
  }).detach();
  std::signal(SIGINT, PassOn);
  std::signal(SIGTERM, PassOn);
  return stop.get_token();
}

bool IsInterrupted() { return g_signal != 0; }

}  // namespace residua::cli
