#pragma once

#include <chrono>
#include <cstdint>
#include <string>

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

}  // namespace residua::cli
