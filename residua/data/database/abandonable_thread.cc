#include "residua/data/database/abandonable_thread.h"

#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace residua {

struct AbandonableThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> call;      // to run, or running
  bool is_running = false;         // from when it is passed on until it has returned
  bool is_stopping = false;        // no further call is run
  bool is_abandoned = false;       // nobody waits any more
  bool is_ended = false;           // the thread has nothing more to do
  std::exception_ptr thrown = {};  // by the last call

  void Work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_running || is_ended; });
      if (!is_running) return;
      lock.unlock();
      std::exception_ptr failure;
      try {
        call();
      } catch (...) {
        failure = std::current_exception();
      }
      call = {};  // with what it owns
      lock.lock();
      thrown = std::move(failure);
      is_running = false;
      changed.notify_all();
    }
  }
};

AbandonableThread::AbandonableThread() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { state->Work(); }).detach();
}

AbandonableThread::~AbandonableThread() {
  std::unique_lock lock(state_->mutex);
  state_->is_ended = true;
  state_->changed.notify_all();
  if (!state_->is_abandoned) state_->changed.wait(lock, [&] { return !state_->is_running; });
}

bool AbandonableThread::Run(std::function<void()> call) {
  std::unique_lock lock(state_->mutex);
  if (state_->is_stopping) return false;
  state_->call = std::move(call);
  state_->is_running = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return !state_->is_running || state_->is_abandoned; });
  if (state_->is_running) return false;
  if (const std::exception_ptr thrown = std::exchange(state_->thrown, nullptr)) {
    std::rethrow_exception(thrown);
  }
  return true;
}

void AbandonableThread::Abandon(const std::function<void()>& urge,
                                std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kBetween(100);
  const auto end = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(state_->mutex);
  state_->is_stopping = true;
  while (state_->is_running && std::chrono::steady_clock::now() < end) {
    lock.unlock();
    urge();
    lock.lock();
    state_->changed.wait_for(lock, kBetween, [&] { return !state_->is_running; });
  }
  state_->is_abandoned = true;
  state_->changed.notify_all();
}

bool RunAtMost(std::chrono::milliseconds patience, std::function<void()> call) {
  std::packaged_task<void()> task(std::move(call));
  const std::future<void> result = task.get_future();
  std::thread(std::move(task)).detach();
  return result.wait_for(patience) == std::future_status::ready;
}

}  // namespace residua
