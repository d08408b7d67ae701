#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/reconstruct/query_answer.h"

namespace residua {

// One table, reconstructed once for many queries: its counts, and their summed-area table
//   area[c] = sum of the counts of all cells b with b_k < c_k for every axis k,
// of shape prod (n_k + 1). Immutable, so shared by threads. The index must outlive it.
//
// A sum from the summed-area table is off by the rounding of its largest entry, 2^-52 of the total
// or so times the number of corners: far below any noise.
class LoadedTable {
 public:
  LoadedTable(const ResidualIndex& index, const AttributeSet& table);

  const AttributeSet& attributes() const { return attributes_; }
  std::span<const double> counts() const { return counts_; }

  // One range for each attribute of the table: 2^|A| reads, and the variance in as many steps.
  Estimate AnswerRange(std::span<const CellRange> ranges) const;

  // Any query over the table's attributes, or some of them, as Answer of the index. Ranges use the
  // summed-area table; for lists and weights the counts of the cells they cover are read, row by
  // row.
  Estimate Answer(const ProductQuery& query) const;

 private:
  double SumOfRange(std::span<const CellRange> ranges) const;
  double SumOfProduct(std::span<const AttributeWeights> factors) const;

  const ResidualIndex& index_;
  AttributeSet attributes_;
  std::vector<int64_t> sizes_;
  std::vector<double> counts_;
  std::vector<double> area_;
  std::vector<int64_t> area_strides_;
  std::vector<double> variances_;  // of the base mechanisms, by subset
  bool is_identity_ = true;        // no attribute has another basis
};

}  // namespace residua
