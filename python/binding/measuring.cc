#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/error.h"
#include "residua/io/measurement_file.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

// Where the rows are: a stream that a capsule of Python's owns, a file, or what the plan says.
DataPlaces FindPlaces(const PlanFile& plan, const std::filesystem::path& folder,
                      const nb::object& stream, const std::string& source,
                      const std::string& ledger) {
  DataPlaces places;
  const std::filesystem::path planned_ledger =
      plan.data.ledger.empty() ? "" : (folder / plan.data.ledger).lexically_normal();
  if (!stream.is_none()) {
    void* pointer = PyCapsule_GetPointer(stream.ptr(), "arrow_array_stream");
    if (pointer == nullptr) throw nb::python_error();
    places.data.arrow = static_cast<ArrowArrayStream*>(pointer);
    places.ledger = planned_ledger;
  } else if (!source.empty()) {
    places.data.source = source;
    places.names_ledger = !planned_ledger.empty();
    places.ledger = places.names_ledger ? planned_ledger : LedgerBeside(places.data);
  } else {
    places = PlacesOf(plan.data, folder);
  }
  if (!ledger.empty()) {
    places.ledger = ledger;
    places.names_ledger = true;
  }
  if (places.ledger.empty()) {
    Fail(ErrorKind::kBadInput,
         "rows in memory have no ledger beside them; name the one that their budget is kept in, "
         "such as ledger=\"people.ledger\"");
  }
  return places;
}

struct Measured {
  std::shared_ptr<Release> release;
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
    Fail(ErrorKind::kBadInput, "threads is {}; it must be 0, for one a processor, to 1024",
         threads);
  }
  MeasureRequest request{plan, FindPlaces(plan, folder, stream, source, ledger), output, again};
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
        measured.release = std::make_shared<Release>(plan, std::move(residuals));
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
