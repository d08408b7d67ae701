#include "python/binding/parts.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/data/part_counts.h"
#include "residua/measure/measure.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

std::string_view TextOfBytes(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::bytes BytesOfText(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// The tables are the same wherever they are counted: nothing but the memory decides about them.
CountingOptions OptionsOfParts(int64_t task_memory) {
  CountingOptions options;
  options.memory_budget_bytes = task_memory;
  return options;
}

// One measurement, as those who count parts of the rows know it.
class PartsJob {
 public:
  PartsJob(const std::string& plan, int64_t task_memory, const nb::bytes& key)
      : plan_(PlanFromJson(plan, "the plan")),
        job_(JobFor(plan_.plan.domain, MeasuredSets(plan_.plan), PlanDigest(plan_.plan),
                    OptionsOfParts(task_memory), KeyOf(key))) {
    job_.options.num_threads = 1;  // every processor has a part of its own
  }
  PartsJob(const PartsJob&) = delete;
  PartsJob& operator=(const PartsJob&) = delete;

  const PlanFile& plan() const { return plan_; }
  const CountingJob& job() const { return job_; }

 private:
  static SealingKey KeyOf(const nb::bytes& bytes) {
    if (bytes.size() != kSealingKeyBytes) {
      Fail(ErrorKind::kBadInput, "a key has {} bytes, not {}", kSealingKeyBytes, bytes.size());
    }
    SealingKey key;
    std::copy_n(bytes.c_str(), key.size(), key.begin());
    return key;
  }

  const PlanFile plan_;
  CountingJob job_;
};

// The library's type, with the job that it refers to.
template <typename Value>
struct OfJob {
  std::shared_ptr<const PartsJob> job;
  Value value;
};
using JobCounts = OfJob<PartialCounts>;
using JobSums = OfJob<PartialSums>;

JobCounts CountOnePart(std::shared_ptr<const PartsJob> job, int64_t number,
                       const nb::object& capsule) {
  DataSource source;
  source.arrow = StreamOf(capsule);
  source.null_values = job->plan().data.null_values;
  return RunJob([&](const Job& running) {
    PartialCounts counts = CountPart(job->job(), number, source, job->plan().plan.protection,
                                     running.stop.get_token());
    return JobCounts{std::move(job), std::move(counts)};
  });
}

nb::dict DescribeSize(const PlanFile& plan, int64_t task_memory) {
  const CountingJob job = JobFor(plan.plan.domain, MeasuredSets(plan.plan), PlanDigest(plan.plan),
                                 OptionsOfParts(task_memory), {});
  CheckCountsElsewhere(job);
  const CountingJobSize size = SizeOf(job);
  nb::dict described;
  described["cells"] = size.num_cells;
  described["pieces"] = size.num_pieces;
  described["task_bytes"] = size.task_bytes;
  described["sealed_bytes"] = size.sealed_bytes;
  return described;
}

}  // namespace

ArrowArrayStream* StreamOf(const nb::object& capsule) {
  if (capsule.is_none()) return nullptr;
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
  if (pointer == nullptr) throw nb::python_error();
  return static_cast<ArrowArrayStream*>(pointer);
}

CountElsewhere CountedByPython(const PlanFile& plan, const nb::object& parts) {
  const auto task_memory = nb::cast<int64_t>(parts.attr("task_memory"));
  return [&plan, &parts, task_memory](const Domain& domain, std::vector<AttributeSet> sets,
                                      const CountingOptions& given) {
    CountingOptions options = OptionsOfParts(task_memory);
    options.num_threads = given.num_threads;
    options.stop = given.stop;
    const CountingJob job =
        JobFor(domain, std::move(sets), PlanDigest(plan.plan), options, DrawSealingKey());
    CheckCountsElsewhere(job);
    std::vector<std::string> sums;
    {
      const nb::gil_scoped_acquire acquire;
      const nb::bytes key(job.key.data(), job.key.size());
      const std::function<bool()> is_stopped = [stop = given.stop] {
        return stop.stop_requested();
      };
      for (const nb::handle piece : nb::cast<nb::list>(parts(PlanToJson(plan), key, is_stopped))) {
        sums.emplace_back(TextOfBytes(nb::cast<nb::bytes>(piece)));
      }
    }
    CheckNotStopped(given.stop);
    return CountedParts(job, sums);
  };
}

void BindParts(nb::module_& module) {
  module.def("size_of_parts", &DescribeSize, nb::arg("plan"), nb::arg("task_memory"));
  nb::class_<PartsJob>(module, "PartsJob")
      .def(nb::init<const std::string&, int64_t, const nb::bytes&>(), nb::arg("plan"),
           nb::arg("task_memory"), nb::arg("key"))
      .def("count", &CountOnePart, nb::arg("number"), nb::arg("stream"))
      .def("sums",
           [](std::shared_ptr<const PartsJob> job) {
             PartialSums sums(job->job());
             return JobSums{std::move(job), std::move(sums)};
           })
      .def(
          "seal_text",
          [](const PartsJob& job, const std::string& text) {
            return BytesOfText(SealText(job.job(), text));
          },
          nb::arg("text"))
      .def(
          "unseal_text",
          [](const PartsJob& job, const nb::bytes& sealed) {
            return UnsealText(job.job(), TextOfBytes(sealed));
          },
          nb::arg("sealed"));
  nb::class_<JobCounts>(module, "PartialCounts")
      .def("__len__", [](const JobCounts& counts) { return counts.value.num_pieces(); })
      .def(
          "piece",
          [](const JobCounts& counts, int64_t piece) {
            return BytesOfText(counts.value.Piece(piece));
          },
          nb::arg("piece"));
  nb::class_<JobSums>(module, "PartialSums")
      .def(
          "add", [](JobSums& sums, const nb::bytes& piece) { sums.value.Add(TextOfBytes(piece)); },
          nb::arg("piece"))
      .def("pieces", [](const JobSums& sums) { return sums.value.Pieces(); })
      .def(
          "piece",
          [](const JobSums& sums, int64_t piece) { return BytesOfText(sums.value.Piece(piece)); },
          nb::arg("piece"));
}

}  // namespace residua::python
