#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

namespace residua::python {

// How far a job is, written by the thread that works and read by the one that waits.
struct JobProgress {
  enum Phase { kNone, kReading, kMeasuring };
  std::atomic<Phase> phase = kNone;
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> total = 0;
};

struct Job {
  std::stop_source stop;
  JobProgress progress;
};

// What Python wants to interrupt a job with: a signal's exception, or the progress bar's own. With
// the GIL.
std::unique_ptr<nanobind::python_error> LookAtPython(const nanobind::object& show,
                                                     const JobProgress& progress);

// Says in the exception what became of the work that it interrupted.
void AddNote(const nanobind::python_error& interruption, const std::exception& failure);

// Runs `work(job)` on a thread of its own. The calling thread, which holds the GIL and gives it up
// meanwhile, looks now and then whether Python was asked to stop (Ctrl-C), and calls
// `show(phase, done, total)` unless it is None. An interruption asks the work to stop, waits until
// it has, and is then raised: no work goes on behind the caller's back.
template <typename Work>
auto RunJob(const Work& work, const nanobind::object& show = nanobind::none()) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  Job job;
  using Result = decltype(work(job));
  std::packaged_task<Result()> task([&] { return work(job); });
  std::future<Result> result = task.get_future();
  std::unique_ptr<nanobind::python_error> interruption;
  {
    const nanobind::gil_scoped_release release;
    std::jthread worker(std::move(task));
    while (result.wait_for(kBetweenLooks) != std::future_status::ready) {
      if (interruption) continue;
      const nanobind::gil_scoped_acquire acquire;
      interruption = LookAtPython(show, job.progress);
      if (interruption) job.stop.request_stop();
    }
  }
  if (!interruption) return result.get();
  try {
    result.get();
  } catch (const std::exception& error) {
    AddNote(*interruption, error);
  }
  throw std::move(*interruption);
}

}  // namespace residua::python
