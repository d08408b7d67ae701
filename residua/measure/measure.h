#pragma once

#include <functional>

#include "residua/measure/counting_options.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measurements.h"
#include "residua/noise/bit_source.h"

namespace residua {

struct MeasureOptions {
  CountingOptions counting;
  // The random bits of the calling thread; the operating system's, unless a test says otherwise.
  std::function<BitSource&()> bits_of_thread;
};

// The attribute sets that a plan measures, smaller sets first, in lexicographic order.
std::vector<AttributeSet> MeasuredSets(const Plan& plan);

// The variance of the discrete Gaussian added to each integer of the base mechanism on `set`:
// sigma2_A prod_{i in A} variance_factor_i.
Rational IntegerNoiseVariance(const Plan& plan, const AttributeSet& set);

// Error{kTooLarge} or Error{kBadInput} if some noise of the plan is beyond the sampler, so that it
// is said before any budget is spent.
void CheckNoiseIsMeasurable(const Plan& plan);

// All that Measure would refuse of a table of that many rows, beforehand: a domain that is not
// public, noise beyond the sampler, tables beyond the memory, residuals beyond 128 bits.
void CheckMeasurable(const Plan& plan, int64_t num_rows, const MeasureOptions& options);

// Counts, transforms, adds noise: each set of the plan's closure is passed to `visit` once, on the
// calling thread, in an order that does not depend on the data. No true count survives.
void Measure(const Plan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit);

}  // namespace residua
