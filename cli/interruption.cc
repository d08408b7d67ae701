#include "cli/interruption.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "residua/files/output/own_temporaries.h"

namespace residua::cli {
namespace {

std::atomic<const char*> g_message = "\nresidua: interrupted; nothing unfinished is left behind\n";
std::atomic<int> g_signal = 0;  // that has come
int g_signals[2];               // a pipe: one byte for a signal

// Never destroyed: a signal may come while the program is ending.
std::stop_source& SourceOfStops() {
  static auto* const source = new std::stop_source;
  return *source;
}

// Calls only what a signal handler may.
void Say(const char* message) {
  for (size_t left = std::strlen(message); left > 0;) {
    const ssize_t written = write(STDERR_FILENO, message, left);
    if (written <= 0) break;
    message += written;
    left -= static_cast<size_t>(written);
  }
}

// Has the thread of HandleSignals do it, for a handler may call next to nothing.
void PassOn(int signal) {
  if (g_signal.exchange(signal) != 0) _exit(128 + signal);
  Say(g_message.load());
  if (write(g_signals[1], "", 1) != 1) _exit(128 + signal);
}

void EndOnSignal() {
  char signal = 0;
  if (read(g_signals[0], &signal, 1) != 1) return;
  DeleteOwnTemporaries();
  SourceOfStops().request_stop();
  _exit(128 + g_signal);
}

}  // namespace

void HandleSignals() {
  std::signal(SIGXFSZ, [](int) {});  // a program that is started gets no handlers from this one
  SourceOfStops();
  if (pipe(g_signals) != 0) return;
  try {
    std::thread(EndOnSignal).detach();
  } catch (const std::system_error&) {
    return;  // there may be no more threads; signals then end the program as they do any other
  }
  std::signal(SIGINT, PassOn);
  std::signal(SIGTERM, PassOn);
  if (std::signal(SIGHUP, PassOn) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

void OnInterruption(const char* message) { g_message.store(message); }

std::stop_token StopOnInterruption(const char* message) {
  OnInterruption(message);
  return SourceOfStops().get_token();
}

void AwaitInterruption() {
  while (g_signal != 0) pause();
}

}  // namespace residua::cli
