#include "bench/stopwatch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace residua::bench {
namespace {

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace

Times TimesOf(const std::function<void()>& work) {
  const double processor = ProcessorSeconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          ProcessorSeconds() - processor};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Times Medians(const std::vector<Times>& times) {
  std::vector<double> wall;
  std::vector<double> processor;
  for (const Times& time : times) {
    wall.push_back(time.wall);
    processor.push_back(time.processor);
  }
  return {Median(wall), Median(processor)};
}

double MedianSeconds(const std::function<void()>& work, int max_runs, double enough) {
  std::vector<double> seconds;
  double total = 0;
  while (static_cast<int>(seconds.size()) < max_runs && (seconds.empty() || total < enough)) {
    seconds.push_back(TimesOf(work).wall);
    total += seconds.back();
  }
  return Median(seconds);
}

double MegabytesAtPeak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace residua::bench
