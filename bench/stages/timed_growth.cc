#include "bench/stages/timed_growth.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>

#include "residua/base/error.h"

namespace residua::bench {
namespace {

constexpr int kRepetitions = 5;
constexpr double kSecondsEach = 0.04;

// Keeps the median of each benchmark, by name.
class MedianReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") {
        seconds_[run.run_name.function_name] =
            run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
      }
    }
  }
  double Seconds(const std::string& name) const {
    const auto at = seconds_.find(name);
    if (at == seconds_.end()) Fail(ErrorKind::kBroken, "{} was not run", name);
    return at->second;
  }

 private:
  std::map<std::string, double> seconds_;
};

std::string NameOf(size_t point, const char* what) { return fmt::format("{}/{}", point, what); }

void Register(const std::string& name, const Work& work) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [work](benchmark::State& state) {
                                 for (auto _ : state) state.SetIterationTime(work());
                               })
      ->UseManualTime()
      ->MinTime(kSecondsEach)
      ->Repetitions(kRepetitions)
      ->ReportAggregatesOnly(true);
}

std::string SecondsText(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string CountText(double x) {
  return x < 1e5 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x);
}

}  // namespace

TimedGrowth TimeGrowth(const Growth& growth) {
  benchmark::ClearRegisteredBenchmarks();
  for (size_t k = 0; k < growth.points.size(); ++k) {
    Register(NameOf(k, "residua"), growth.points[k].residua);
    Register(NameOf(k, "limit"), growth.points[k].limit);
    if (growth.points[k].naive) Register(NameOf(k, "naive"), growth.points[k].naive);
  }
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  TimedGrowth timed{growth.stage,
                    growth.grows_with,
                    growth.setting,
                    growth.limit,
                    growth.naive,
                    growth.title.empty() ? growth.grows_with : growth.title,
                    {}};
  for (size_t k = 0; k < growth.points.size(); ++k) {
    TimedPoint point{growth.points[k].x, reporter.Seconds(NameOf(k, "residua")),
                     reporter.Seconds(NameOf(k, "limit")), std::nullopt};
    if (growth.points[k].naive) point.naive = reporter.Seconds(NameOf(k, "naive"));
    timed.points.push_back(point);
  }
  return timed;
}

std::string TableOf(const TimedGrowth& growth) {
  const bool has_naive = !growth.naive.empty();
  std::string table = fmt::format("{}. Limit: {}.", growth.setting, growth.limit);
  if (has_naive) table += fmt::format(" Naive: {}.", growth.naive);
  table += fmt::format("\n\n| {} | residua | limit | ratio |", growth.grows_with);
  if (has_naive) table += " naive | naive / residua |";
  table += has_naive ? "\n|---|---|---|---|---|---|\n" : "\n|---|---|---|---|\n";
  for (const TimedPoint& point : growth.points) {
    table +=
        fmt::format("| {} | {} | {} | {:.3g} |", CountText(point.x), SecondsText(point.residua),
                    SecondsText(point.limit), point.residua / point.limit);
    if (point.naive) {
      table +=
          fmt::format(" {} | {:.3g} |", SecondsText(*point.naive), *point.naive / point.residua);
    } else if (has_naive) {
      table += " | |";
    }
    table += "\n";
  }
  return table;
}

std::string SummaryRow(const TimedGrowth& growth) {
  const TimedPoint& last = growth.points.back();
  return fmt::format("| {} | {} | {} = {} | {} | {:.3g} |\n", growth.stage, growth.setting,
                     growth.grows_with, CountText(last.x), SecondsText(last.residua),
                     last.residua / last.limit);
}

std::string TsvHeader() { return "stage\ttitle\tgrows_with\tx\tresidua\tlimit\tnaive\n"; }

std::string TsvOf(const TimedGrowth& growth) {
  std::string rows;
  for (const TimedPoint& point : growth.points) {
    rows += fmt::format("{}\t{}\t{}\t{:g}\t{:.6g}\t{:.6g}\t{}\n", growth.stage, growth.title,
                        growth.grows_with, point.x, point.residua, point.limit,
                        point.naive ? fmt::format("{:.6g}", *point.naive) : "");
  }
  return rows;
}

}  // namespace residua::bench
