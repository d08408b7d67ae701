#include "residua/model/closure.h"

#include "residua/base/error.h"

namespace residua {
namespace {

// A plan keeps about a hundred bytes per base mechanism; this many still fit into the memory of
// most machines.
constexpr int64_t kMaxClosure = 20'000'000;

[[noreturn]] void FailTooManyMechanisms() {
  Fail(ErrorKind::kTooLarge,
       "the workload needs more than {} base mechanisms; ask for marginals of fewer attributes",
       kMaxClosure);
}

}  // namespace

std::vector<ClassRun> ClassRuns(std::span<const int> orbit) {
  std::vector<ClassRun> runs;
  for (const int c : orbit) {
    if (runs.empty() || runs.back().attribute_class != c) runs.push_back({c, 0});
    ++runs.back().count;
  }
  return runs;
}

MultisetTable Closure(const MultisetTable& orbits) {
  MultisetTable closure;
  for (int64_t j = 0; j < orbits.size(); ++j) {
    const std::vector<ClassRun> runs = ClassRuns(orbits[j]);
    int64_t num_subsets = 1;
    for (const ClassRun& run : runs) {
      num_subsets *= run.count + 1;
      if (num_subsets > kMaxClosure) FailTooManyMechanisms();
    }
    ForEachSubOrbit(runs, [&](std::span<const int> sub, std::span<const int>) {
      closure.Insert(sub);
      if (closure.size() > kMaxClosure) FailTooManyMechanisms();
    });
  }
  return closure;
}

}  // namespace residua
