#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace residua::cli {

// How far a piece of work is, on stderr: on a terminal only, and only once it has taken a second.
// It is removed when this is destroyed.
class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void Show(int64_t done, int64_t total);
  void ShowRows(int64_t num_rows);

 private:
  bool IsDue();
  void Print(const std::string& text);

  std::string what_;
  bool is_terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

// The same for work that cannot say how far it is: how long it has taken, "Planning: 3 s".
class ElapsedTime {
 public:
  explicit ElapsedTime(std::string what);

 private:
  std::jthread thread_;  // shows it until this is destroyed; none where there is no terminal
};

}  // namespace residua::cli
