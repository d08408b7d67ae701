#include "python/binding/job.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "python/binding/words.h"

namespace residua::python {

namespace nb = nanobind;

namespace {

// Waiting ends by a notification; this is only how often it is looked for in vain.
constexpr std::chrono::hours kLong{1};

}  // namespace

void JobProgress::Enter(Phase phase) {
  std::unique_lock lock(mutex_);
  phase_ = phase;
  is_new_ = true;
  changed_.notify_all();
  while (!changed_.wait_for(lock, kLong, [&] { return !is_new_; })) {
  }
}

bool JobProgress::Await(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return is_new_ || is_ended_; });
  return !is_ended_;
}

void JobProgress::MarkShown(Phase phase) {
  const std::scoped_lock lock(mutex_);
  if (phase == phase_) is_new_ = false;
  changed_.notify_all();
}

void JobProgress::End() {
  const std::scoped_lock lock(mutex_);
  is_ended_ = true;
  changed_.notify_all();
}

std::unique_ptr<nb::python_error> LookAtPython(const nb::object& show, JobProgress::Phase phase,
                                               const JobProgress& progress) {
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!show.is_none() && phase != JobProgress::kNone) {
      show(phase == JobProgress::kReading ? "Reading" : "Measuring", progress.done.load(),
           progress.total.load());
    }
  } catch (nb::python_error& error) {
    return std::make_unique<nb::python_error>(std::move(error));
  }
  return nullptr;
}

void AddNote(const nb::python_error& interruption, const std::exception& failure) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  interruption.value().attr("add_note")("residua: " +
                                        (error != nullptr ? Worded(*error) : MessageOf(failure)));
}

}  // namespace residua::python
