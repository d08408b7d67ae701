#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "cli/print_text.h"
#include "residua/base/counted.h"

namespace residua::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kBetween{200};
constexpr int64_t kWidth = 30;

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + kFirst) {}

Progress::~Progress() {
  if (is_shown_) PrintText(stderr, "\r\x1b[K");
}

bool Progress::IsDue() {
  if (!is_terminal_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kBetween;
  return true;
}

void Progress::Print(const std::string& text) {
  PrintText(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  is_shown_ = true;
}

void Progress::Show(int64_t done, int64_t total) {
  if (!IsDue() || total <= 0) return;
  const auto filled = static_cast<size_t>(kWidth * done / total);
  Print(fmt::format("{} [{}{}] {} %", what_, std::string(filled, '='),
                    std::string(static_cast<size_t>(kWidth) - filled, ' '), 100 * done / total));
}

void Progress::ShowRows(int64_t num_rows) {
  if (IsDue()) Print(fmt::format("{}: {}", what_, Counted(num_rows, "row")));
}

ElapsedTime::ElapsedTime(std::string what) {
  if (isatty(STDERR_FILENO) == 0) return;
  thread_ = std::jthread([what = std::move(what)](const std::stop_token& stop) {
    const auto start = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    bool is_shown = false;
    while (!stopped.wait_for(lock, stop, is_shown ? kBetween : kFirst,
                             [&] { return stop.stop_requested(); })) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      PrintText(stderr, "\r\x1b[K{}: {:.0f} s", what, elapsed.count());
      std::fflush(stderr);
      is_shown = true;
    }
    if (is_shown) PrintText(stderr, "\r\x1b[K");
  });
}

}  // namespace residua::cli
