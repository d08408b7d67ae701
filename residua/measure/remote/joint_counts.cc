#include "residua/measure/remote/joint_counts.h"

#include <numeric>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/measure/counted_cells.h"
#include "residua/measure/remote/joint_cells.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/sum_down.h"

namespace residua {
namespace {

AttributeSet AllAttributes(const Domain& domain) {
  AttributeSet all(static_cast<size_t>(domain.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

JointCounts::JointCounts(const Domain& domain, std::vector<AttributeSet> sets,
                         const CountingOptions& options)
    : domain_(domain),
      rows_(domain, std::move(sets), options),
      counters_(static_cast<size_t>(NumJointCells(domain)), 0) {
  if (!rows_.holds_rows() && SplitBySize(domain_, rows_.sets(), options).in_slabs.empty()) return;
  Fail(ErrorKind::kTooLarge,
       "the counters of all tables do not fit the memory for counting; ask for fewer tables");
}

void JointCounts::Add(std::span<const int32_t> cells, int64_t num_rows) {
  RESIDUA_CHECK(std::ssize(cells) == domain_.size() && num_rows >= 0);
  num_rows_ = CheckedAdd(num_rows_, num_rows);
  int64_t joint = 0;
  for (int i = 0; i < domain_.size(); ++i) {
    const int64_t cell = cells[static_cast<size_t>(i)];
    RESIDUA_CHECK(cell >= 0 && cell < domain_[i].size);
    joint = joint * domain_[i].size + cell;
  }
  // No counter exceeds the number of rows.
  counters_[static_cast<size_t>(joint)] += static_cast<uint64_t>(num_rows);
}

CountedRows JointCounts::Take() && {
  std::vector<AttributeSet> tables;
  for (const CountedTable& table : CountedCells::Plan(rows_)) tables.push_back(table.attributes);
  CountedTable joint{AllAttributes(domain_), std::ssize(counters_), {}};
  joint.sets.resize(tables.size());
  std::iota(joint.sets.begin(), joint.sets.end(), 0);
  std::vector<std::vector<uint64_t>> counters;
  for (const std::vector<int64_t>& of_table :
       SumDown(domain_, joint, tables, std::exchange(counters_, {}))) {
    counters.emplace_back(of_table.begin(), of_table.end());
  }
  CountedCells::Put(std::move(counters), num_rows_, &rows_);
  return std::move(rows_);
}

}  // namespace residua
