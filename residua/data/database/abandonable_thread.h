#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace residua {

// Runs calls, one after another, on a thread of their own: whoever waits for a call that cannot be
// interrupted can give up waiting for it.
class AbandonableThread {
 public:
  AbandonableThread();
  AbandonableThread(const AbandonableThread&) = delete;
  AbandonableThread& operator=(const AbandonableThread&) = delete;
  // Does not wait for a call that was abandoned. It ends by itself, and its thread with it.
  ~AbandonableThread();

  // Runs the call, and waits until it has returned. Throws what it throws. False if it was
  // abandoned, or would be: a call that runs then goes on, and may use only what it owns.
  bool Run(std::function<void()> call);

  // By another thread: abandons the call that runs unless it returns within `patience`, and all
  // later ones. Calls `urge` again and again while it waits.
  void Abandon(const std::function<void()>& urge, std::chrono::milliseconds patience);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs the call on a thread of its own, which goes on if it takes longer than `patience`: it may use
// only what it owns, and throw nothing. Whether it has returned.
bool RunAtMost(std::chrono::milliseconds patience, std::function<void()> call);

}  // namespace residua
