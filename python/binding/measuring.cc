#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "python/binding/parts.h"
#include "python/binding/words.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/draft/check_spec.h"
#include "residua/draft/draft_spec.h"
#include "residua/files/measurement_file.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/release.h"
#include "residua/release/release_folder.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

struct Measured {
  std::shared_ptr<const Release> release;
  std::vector<std::string> notes;
  int64_t entry = 0;
  std::string ledger;
  std::string ledger_beside;  // beside the data, where another was named; empty otherwise
  std::vector<std::string> combination;  // with earlier releases: what it leaves out, in words
};

// What a caller gives with the plan: the rows, how many threads work on them, and whom to tell how
// far the work is.
struct GivenData {
  nb::object stream;  // a capsule, or None
  std::string source;
  std::string ledger;
  bool allow_drops = false;
  int threads = 0;
  nb::object show;                // None, or as of RunJob
  nb::object parts = nb::none();  // as of CountedByPython
};

NamedPlaces PlacesOf(const PlanFile& plan, const GivenData& data) {
  if (data.threads < 0 || data.threads > 1024) {
    Fail(ErrorKind::kBadInput, "threads is {}; it must be 0, for one per processor, to 1024",
         data.threads);
  }
  NamedPlaces places{data.source, StreamOf(data.stream), data.ledger};
  if (!data.parts.is_none()) places.elsewhere = CountedByPython(plan, data.parts);
  return places;
}

// Tells the job how far the work on `request` is.
template <typename Request>
void ReportProgress(Job* job, Request* request) {
  JobProgress& progress = job->progress;
  progress.Enter(JobProgress::kReading);
  request->on_rows = [&](int64_t num_rows) { progress.done = num_rows; };
  request->on_reserved = [&] {
    progress.done = 0;  // no longer a number of rows, which is a true count
    progress.Enter(JobProgress::kMeasuring);
  };
  request->on_sets = [&](int64_t done, int64_t total) {
    progress.total = total;
    progress.done = done;
  };
}

// Holds the GIL only between the job's looks; see job.h.
Measured MeasurePlan(const PlanFile& plan, const std::filesystem::path& folder,
                     const GivenData& data, const std::string& output, bool again) {
  MeasureRequest request{plan, FindPlaces(plan.data, folder, PlacesOf(plan, data)), output, again};
  request.allow_drops = data.allow_drops;
  request.options.counting.num_threads = data.threads;
  Measured measured;
  measured.ledger = request.places.ledger.string();
  request.on_read = [&](const ReadReport& report) {
    measured.notes = NotesOf(report, plan.plan.domain);
  };
  return RunJob(
      [&](Job& job) {
        ReportProgress(&job, &request);
        request.options.counting.stop = job.stop.get_token();
        std::vector<NoisyResidual> residuals;
        const MeasureOutcome outcome =
            output.empty() ? MeasureToMemory(request, &residuals) : MeasureToFile(request);
        measured.entry = outcome.entry;
        measured.ledger_beside = outcome.ledger_beside.string();
        PlanFile measured_plan = plan;
        measured_plan.data.identity = outcome.data_identity;
        if (!output.empty()) {
          const MeasurementFile file(output);
          measured_plan.data.identity = file.plan_file().data.identity;
          file.ForEach([&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
        }
        measured.release =
            std::make_shared<const Release>(std::move(measured_plan), std::move(residuals));
        return measured;
      },
      data.show);
}

// The spec that the plan was made for.
Spec SpecOf(const PlanFile& file) {
  Spec spec;
  spec.data = file.data;
  spec.domain = file.plan.domain;
  spec.workload = file.plan.workload;
  spec.objective = file.plan.objective;
  spec.protection = file.plan.protection;
  spec.target = file.plan.budget;
  return spec;
}

// A whole release in the folder `output`, or what is left to do of it.
Measured ReleasePlan(const PlanFile& plan, const std::filesystem::path& folder,
                     const GivenData& data, const std::filesystem::path& output,
                     const std::string& format, double confidence,
                     const std::map<std::string, std::string>& text,
                     const std::vector<std::shared_ptr<const Release>>& after, bool same_data) {
  ReleaseRequest request{SpecOf(plan), folder};
  request.plan = plan.plan;
  request.after.assign(after.begin(), after.end());
  request.same_data = same_data;
  request.output = output;
  request.data = PlacesOf(plan, data);
  request.ledger = data.ledger;
  request.allow_drops = data.allow_drops;
  request.num_threads = data.threads;
  request.confidence = confidence;
  if (format != "csv" && format != "parquet") {
    Fail(ErrorKind::kBadInput, "format '{}' is not known; choose csv or parquet", format);
  }
  request.format = format == "csv" ? TableFormat::kCsv : TableFormat::kParquet;
  ReleaseText& told = request.spec.release;
  const auto take = [&](const char* key, std::string* into) {
    if (const auto found = text.find(key); found != text.end()) *into = found->second;
  };
  take("title", &told.title);
  take("description", &told.description);
  take("publisher", &told.publisher);
  take("date", &told.date);
  if (!told.date.empty()) AtPlace("date", [&] { CheckReleaseDate(told.date); });
  take("contact", &told.contact);
  take("licence", &told.licence);
  Measured measured;
  request.on_read = [&](const ReadReport& report) {
    measured.notes = NotesOf(report, plan.plan.domain);
  };
  return RunJob(
      [&](Job& job) {
        ReportProgress(&job, &request);
        request.stop = job.stop.get_token();
        const ReleaseOutcome outcome = MakeRelease(request);
        measured.entry = outcome.measured.entry;
        measured.ledger = outcome.places.ledger.string();
        measured.ledger_beside = outcome.measured.ledger_beside.string();
        measured.release =
            Release::Load(after.empty() ? outcome.folder.measurements : outcome.folder.combined,
                          job.stop.get_token());
        if (!after.empty()) {
          measured.combination = Worded(outcome.combination, measured.release->plan());
        }
        return measured;
      },
      data.show);
}

// What a plan and its data say about a release. True counts of the data are in it.
nb::dict CheckPlanOnData(const PlanFile& plan, const std::filesystem::path& folder,
                         GivenData data) {
  if (data.ledger.empty()) data.ledger = "unused.ledger";  // nothing is spent
  const DataPlaces places = FindPlaces(plan.data, folder, PlacesOf(plan, data));
  const SpecCheck check = RunJob(
      [&](Job& job) {
        job.progress.Enter(JobProgress::kReading);
        const std::stop_token stop = job.stop.get_token();
        const auto on_rows = [&](int64_t num_rows) {
          CheckNotStopped(stop);
          job.progress.done = num_rows;
        };
        return CheckPlan(plan.plan, "", places.data, on_rows, stop);
      },
      data.show);
  nb::list problems;
  for (const Error& error : check.obstacles) problems.append(Worded(error));
  nb::list warnings;
  auto found = WarningsOf(check.report);
  for (const ReleaseWarning& warning : WarningsOf(plan.plan, NumRowsCounted(check.report))) {
    found.push_back(warning);
  }
  for (const ReleaseWarning& warning : found) warnings.append(Worded(warning));
  nb::list attributes;
  for (int i = 0; i < plan.plan.domain.size(); ++i) {
    const AttributeReport& report = check.report.attributes[static_cast<size_t>(i)];
    nb::dict row;
    row["attribute"] = plan.plan.domain[i].name;
    row["column"] = ColumnOf(plan.plan.domain[i]);
    row["missing"] = report.num_missing;
    row["outside"] = report.num_outside;
    std::vector<std::string> values;
    for (const auto& [value, count] : report.outside) values.push_back(value);
    row["values_outside"] = values;
    attributes.append(row);
  }
  nb::dict told;
  told["problems"] = problems;
  told["warnings"] = warnings;
  told["attributes"] = attributes;
  told["rows"] = check.report.num_rows_read;
  told["rows_left_out"] = check.report.num_rows_dropped;
  told["memory_bytes"] = check.memory_bytes;
  told["seconds"] = check.seconds;
  return told;
}

// The text of a spec that is read from the data: every attribute is marked, so that it is refused
// until a person has looked at it.
std::string Draft(const nb::object& capsule, const std::string& source) {
  ArrowArrayStream* stream = StreamOf(capsule);
  return RunJob([&](const Job& job) {
    const std::stop_token stop = job.stop.get_token();
    return stream == nullptr ? DraftSpec(source, source, stop) : DraftSpec(stream, stop);
  });
}

}  // namespace

void BindMeasuring(nb::module_& module) {
  nb::class_<Measured>(module, "Measured")
      .def_ro("release", &Measured::release)
      .def_ro("notes", &Measured::notes)
      .def_ro("entry", &Measured::entry)
      .def_ro("ledger", &Measured::ledger)
      .def_ro("ledger_beside", &Measured::ledger_beside)
      .def_ro("combination", &Measured::combination);
  nb::class_<GivenData>(module, "GivenData")
      .def(
          "__init__",
          [](GivenData* made, nb::object stream, std::string source, std::string ledger,
             bool allow_drops, int threads, nb::object show, nb::object parts) {
            new (made)
                GivenData{std::move(stream), std::move(source), std::move(ledger), allow_drops,
                          threads,           std::move(show),   std::move(parts)};
          },
          nb::arg("stream").none(), nb::arg("source"), nb::arg("ledger"), nb::arg("allow_drops"),
          nb::arg("threads"), nb::arg("show").none(), nb::arg("parts").none());
  module.def("measure", &MeasurePlan, nb::arg("plan"), nb::arg("folder"), nb::arg("data"),
             nb::arg("output"), nb::arg("again"));
  module.def("release", &ReleasePlan, nb::arg("plan"), nb::arg("folder"), nb::arg("data"),
             nb::arg("output"), nb::arg("format"), nb::arg("confidence"), nb::arg("text"),
             nb::arg("after"), nb::arg("same_data"));
  module.def("draft", &Draft, nb::arg("stream").none(), nb::arg("source"));
  module.def("check", &CheckPlanOnData, nb::arg("plan"), nb::arg("folder"), nb::arg("data"));
}

}  // namespace residua::python
