#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>

#include "residua/base/memory.h"
#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_options.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measured_sets.h"
#include "residua/measure/measurements.h"
#include "residua/select/plan_errors.h"

namespace residua {

// Where noisy values wait until the sets before theirs are measured.
struct WaitingOptions {
  // How much of them is held in memory; the others wait in a temporary file that has no name.
  int64_t memory_bytes = std::min(int64_t{1} << 30, MemoryOfMachine() / 8);
  // The folder of that file; where the system keeps temporary files if it is empty.
  std::filesystem::path folder = {};
};

struct MeasureOptions {
  CountingOptions counting;
  WaitingOptions waiting;
  // Called on the calling thread with the number of sets measured so far.
  std::function<void(int64_t)> on_measured = {};
};

// Error{kTooLarge} or Error{kBadInput} if some noise of the plan is beyond the sampler. Called
// before any budget is spent.
void CheckNoiseIsMeasurable(const Plan& plan);

// A plan that VerifyPlan accepted: it costs what it states. Nothing else is measured. It refers to
// the plan, which must stay as it is while this is used.
class VerifiedPlan {
 public:
  explicit VerifiedPlan(const Plan& plan);
  explicit VerifiedPlan(Plan&& plan) = delete;

  const Plan& plan() const { return *plan_; }

 private:
  const Plan* plan_;
};

// A plan that can be measured on a table of `num_rows` rows. What Measure refuses is refused when
// this is made: a domain that is not public, noise beyond the sampler, tables beyond the memory,
// residuals beyond 128 bits. Threads may share it.
class MeasurablePlan {
 public:
  MeasurablePlan(const VerifiedPlan& verified, int64_t num_rows, const CountingOptions& counting);

  const Plan& plan() const { return verified_.plan(); }
  int64_t num_rows() const { return num_rows_; }
  const std::vector<AttributeSet>& sets() const { return sets_; }  // its MeasuredSets

 private:
  VerifiedPlan verified_;
  int64_t num_rows_;
  std::vector<AttributeSet> sets_;
};

// Takes what is measured. Sets that are counted in slabs come in pieces, one after the other, each
// of some megabytes; all others are whole.
struct MeasuredVisitor {
  std::function<void(NoisyResidual&&)> visit;
  std::function<void(NoisyPiece&&)> visit_piece;
};
// Makes pieces whole, for visitors that have the memory for any table.
MeasuredVisitor WholeVisitor(const std::function<void(NoisyResidual&&)>& visit);

// Counts, transforms, adds noise: each set of the plan's closure is passed to `visit` once, on the
// calling thread. No true count survives. Error{kBadInput} for a table of another number of rows.
//
// What is published is a function of the plan and the noisy values: sets come in the order of
// MeasuredSets, however they are counted, and their values InLeastWidth.
void Measure(const MeasurablePlan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit);
// The same for rows that were counted as they came, for the sets of the plan.
void Measure(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit);
void Measure(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
             const MeasuredVisitor& visitor);
// The same for a plan that was not verified yet.
void Measure(const Plan& plan, const EncodedTable& table, const MeasureOptions& options,
             const std::function<void(NoisyResidual&&)>& visit);

}  // namespace residua
