#include "python/binding/job.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "python/binding/words.h"

namespace residua::python {

namespace nb = nanobind;

std::unique_ptr<nb::python_error> LookAtPython(const nb::object& show,
                                               const JobProgress& progress) {
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const JobProgress::Phase phase = progress.phase;
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
