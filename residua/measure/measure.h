#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>

#include "residua/base/memory.h"
#include "residua/measure/counting_options.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measurements.h"
#include "residua/noise/bit_source.h"

namespace residua {

// Where noisy values wait until the sets before theirs are measured.
struct WaitingOptions {
  // What of them is held in memory; the others wait in a temporary file that has no name.
  int64_t memory_bytes = std::min(int64_t{1} << 30, MemoryOfMachine() / 8);
  // The folder of that file; where the system keeps temporary files if it is empty.
  std::filesystem::path folder = {};
};

struct MeasureOptions {
  CountingOptions counting;
  WaitingOptions waiting;
  // The random bits of the calling thread; the operating system's, unless a test says otherwise.
  std::function<BitSource&()> bits_of_thread;
  // Called on the calling thread with the number of sets measured so far.
  std::function<void(int64_t)> on_measured = {};
};

// The attribute sets that a plan measures, smaller sets first, in lexicographic order.
std::vector<AttributeSet> MeasuredSets(const Plan& plan);

// The variance of the discrete Gaussian on each integer of the base mechanism on `set`, in units of
// the integer before it is scaled: sigma2_A prod_{i in A} variance_factor_i.
Rational IntegerNoiseVariance(const Plan& plan, const AttributeSet& set);

// Error{kTooLarge} or Error{kBadInput} if some noise of the plan is beyond the sampler, so that it
// is said before any budget is spent.
void CheckNoiseIsMeasurable(const Plan& plan);

// All that Measure would refuse of a table of that many rows, beforehand: a domain that is not
// public, noise beyond the sampler, tables beyond the memory, residuals beyond 128 bits.
void CheckMeasurable(const Plan& plan, int64_t num_rows, const MeasureOptions& options);

// Counts, transforms, adds noise: each set of the plan's closure is passed to `visit` once, on the
// calling thread. No true count survives.
//
// What is published is a function of the plan and the noisy values. How the sets are counted does
// depend on the number of rows, so nothing of it may show: sets come in the order of MeasuredSets,
// and their values InLeastWidth.
void Measure(const Plan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit);

}  // namespace residua
