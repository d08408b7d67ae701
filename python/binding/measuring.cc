#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/error.h"
#include "residua/files/measurement_file.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/release.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

// The stream that a capsule of Python's owns; null for None.
ArrowArrayStream* StreamOf(const nb::object& capsule) {
  if (capsule.is_none()) return nullptr;
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
  if (pointer == nullptr) throw nb::python_error();
  return static_cast<ArrowArrayStream*>(pointer);
}

struct Measured {
  std::shared_ptr<const Release> release;
  std::vector<std::string> notes;
  int64_t entry = 0;
  std::string ledger;
  std::string ledger_beside;  // beside the data, where another was named; empty otherwise
};

// Holds the GIL only between the job's looks; see job.h.
Measured MeasurePlan(const PlanFile& plan, const std::filesystem::path& folder,
                     const nb::object& stream, const std::string& source, const std::string& ledger,
                     const std::string& output, bool again, int threads, const nb::object& show) {
  if (threads < 0 || threads > 1024) {
    Fail(ErrorKind::kBadInput, "threads is {}; it must be 0, for one per processor, to 1024",
         threads);
  }
  MeasureRequest request{plan, FindPlaces(plan.data, folder, {source, StreamOf(stream), ledger}),
                         output, again};
  Measured measured;
  measured.ledger = request.places.ledger.string();
  request.options.counting.num_threads = threads;
  request.on_read = [&](const ReadReport& report) {
    measured.notes = NotesOf(report, plan.plan.domain);
  };
  return RunJob(
      [&](Job& job) {
        JobProgress& progress = job.progress;
        progress.phase = JobProgress::kReading;
        request.options.counting.stop = job.stop.get_token();
        request.on_rows = [&](int64_t num_rows) { progress.done = num_rows; };
        request.on_reserved = [&] { progress.phase = JobProgress::kMeasuring; };
        request.on_sets = [&](int64_t done, int64_t total) {
          progress.total = total;
          progress.done = done;
        };
        std::vector<NoisyResidual> residuals;
        const MeasureOutcome outcome =
            output.empty() ? MeasureToMemory(request, &residuals) : MeasureToFile(request);
        measured.entry = outcome.entry;
        measured.ledger_beside = outcome.ledger_beside.string();
        if (!output.empty()) {
          MeasurementFile(output).ForEach(
              [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
        }
        measured.release = std::make_shared<const Release>(plan, std::move(residuals));
        return measured;
      },
      show);
}

}  // namespace

void BindMeasuring(nb::module_& module) {
  nb::class_<Measured>(module, "Measured")
      .def_ro("release", &Measured::release)
      .def_ro("notes", &Measured::notes)
      .def_ro("entry", &Measured::entry)
      .def_ro("ledger", &Measured::ledger)
      .def_ro("ledger_beside", &Measured::ledger_beside);
  module.def("measure", &MeasurePlan, nb::arg("plan"), nb::arg("folder"), nb::arg("stream").none(),
             nb::arg("source"), nb::arg("ledger"), nb::arg("output"), nb::arg("again"),
             nb::arg("threads"), nb::arg("show").none());
}

}  // namespace residua::python
