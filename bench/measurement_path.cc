// Reads a measurement file into memory, or writes what it holds to another, which is synced:
// measurement_path FILE [OUT]. Prints the seconds of that alone, by the clock and of all processors.
// bench/release_bench.py compares it with pyarrow.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <vector>

#include "bench/stopwatch.h"
#include "residua/files/measurement_file.h"
#include "residua/measure/measure.h"

namespace residua {
namespace {

void Time(const std::function<void()>& work) {
  const bench::Times times = bench::TimesOf(work);
  fmt::print("[{}, {}]\n", times.wall, times.processor);
}

void Run(const char* path, const char* out) {
  if (out == nullptr) {
    Time([&] {
      int64_t num_sets = 0;
      MeasurementFile(path).ForEach([&](NoisyResidual&&) { ++num_sets; });
    });
    return;
  }
  const MeasurementFile file(path);
  std::vector<NoisyResidual> residuals;
  file.ForEach([&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
  Time([&] {
    MeasurementWriter writer(out, file.plan_file());
    for (const NoisyResidual& residual : residuals) writer.Write(residual);
    writer.Finish();
  });
}

}  // namespace
}  // namespace residua

int main(int argc, char** argv) {
  try {
    if (argc < 2 || argc > 3) {
      fmt::print(stderr, "usage: measurement_path FILE [OUT]\n");
      return 1;
    }
    residua::Run(argv[1], argc == 3 ? argv[2] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "measurement_path: {}\n", error.what());
    return 1;
  }
}
