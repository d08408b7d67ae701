#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace residua::python {

// How far a job is, written by the thread that works and read by the one that waits. Every phase is
// shown before its work begins: whoever wants to stop there can.
class JobProgress {
 public:
  enum Phase { kNone, kReading, kMeasuring };
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> total = 0;

  Phase phase() const { return phase_; }

  // By the thread that works; returns when the other one has looked.
  void Enter(Phase phase);

  // By the thread that waits: returns after `time`, or at once when a phase begins or the work ends;
  // false when it has ended.
  bool Await(std::chrono::milliseconds time);

  // By the thread that waits, when it has shown `phase`.
  void MarkShown(Phase phase);

  // By the thread that works, at its end.
  void End();

 private:
  std::atomic<Phase> phase_ = kNone;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_new_ = false;  // a phase that was not shown yet
  bool is_ended_ = false;
};

struct Job {
  std::stop_source stop;
  JobProgress progress;
};

// What Python wants to interrupt a job with: a signal's exception, or the progress bar's own. With
// the GIL.
std::unique_ptr<nanobind::python_error> LookAtPython(const nanobind::object& show,
                                                     JobProgress::Phase phase,
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
  std::packaged_task<Result()> task([&] {
    struct AtEnd {
      JobProgress& progress;
      ~AtEnd() { progress.End(); }
    } at_end{job.progress};
    return work(job);
  });
  std::future<Result> result = task.get_future();
  std::unique_ptr<nanobind::python_error> interruption;
  {
    const nanobind::gil_scoped_release release;
    std::jthread worker(std::move(task));
    while (job.progress.Await(kBetweenLooks)) {
      const JobProgress::Phase phase = job.progress.phase();
      if (!interruption) {
        {
          const nanobind::gil_scoped_acquire acquire;
          interruption = LookAtPython(show, phase, job.progress);
        }
        // A database may take a while to hear of it.
        if (interruption) job.stop.request_stop();
      }
      job.progress.MarkShown(phase);
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
