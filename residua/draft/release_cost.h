#pragma once

#include <cstdint>

#include "residua/base/memory.h"
#include "residua/select/plan.h"

namespace residua {

// What the time and memory of a release depend on, beside the time that its data takes to read.
struct ReleaseSize {
  double num_rows = 0;
  double bytes_per_row = 0;    // of the encoded table, where rows are held
  double num_identifiers = 0;  // 0 without an identifier
  double num_counted = 0;      // additions that counting a row takes
  double sorting_bytes = 0;    // what counting takes to sort rows
  double num_cells = 0;        // of all measured sets that are counted whole
  double largest_cells = 0;    // of one of them
  double slab_cells = 0;       // of all sets that are counted in slabs
  double slab_bytes = 0;       // what counting and measuring these takes
  double num_answers = 0;      // of all published tables
  double largest_answers = 0;  // of one of them that is made whole, of identity attributes
  double swept_bytes = 0;      // what making the largest of the others takes
};

// `num_rows` and `num_identifiers` are those of the data.
ReleaseSize SizeOfRelease(const Plan& plan, double num_rows, double num_identifiers);

// Seconds of work on one processor of 2020 are shared by `num_threads`.
double PredictSeconds(const ReleaseSize& size, int num_threads);
double PredictMemoryBytes(const ReleaseSize& size);

// Error{kTooLarge} before anything is spent, if the plan takes more than twice the memory of the
// machine, whatever the rows: what is predicted is right within a factor of two or so.
void CheckMeasuringFits(const Plan& plan, int64_t machine_bytes = MemoryOfMachine());
void CheckTablesFit(const Plan& plan, int64_t machine_bytes = MemoryOfMachine());

}  // namespace residua
