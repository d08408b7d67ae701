#include "residua/reconstruct/loaded_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/table_reconstruction.h"

namespace residua {
namespace {

// Up to this many attributes a range query keeps its 2^|A| variances on the stack.
constexpr size_t kMaxStackOrder = 6;

// The cells of an axis that a query covers, with their weights.
struct TakenCells {
  std::vector<int64_t> cells;
  std::vector<double> weights;
};

TakenCells CellsTaken(const AttributeWeights& factor) {
  TakenCells taken;
  if (const auto* ranges = std::get_if<std::vector<CellRange>>(&factor.weights)) {
    for (const CellRange& range : *ranges) {
      for (int64_t cell = range.first; cell <= range.last; ++cell) taken.cells.push_back(cell);
    }
    taken.weights.assign(taken.cells.size(), 1.0);
  } else {
    const auto& weights = std::get<std::vector<double>>(factor.weights);
    for (size_t cell = 0; cell < weights.size(); ++cell) {
      if (weights[cell] == 0) continue;
      taken.cells.push_back(static_cast<int64_t>(cell));
      taken.weights.push_back(weights[cell]);
    }
  }
  return taken;
}

}  // namespace

LoadedTable::LoadedTable(const ResidualIndex& index, const AttributeSet& table)
    : index_(index), attributes_(table), counts_(Reconstruct(index, table)) {
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(table, &entries);
  for (const auto* entry : entries) variances_.push_back(entry->variance);
  int64_t num_entries = 1;
  for (const int i : table) {
    sizes_.push_back(index.basis(i).size);
    is_identity_ = is_identity_ && index.basis(i).is_identity();
    num_entries = CheckedMultiply(num_entries, sizes_.back() + 1);
  }
  area_strides_.assign(table.size(), 1);
  for (size_t k = table.size(); k-- > 1;) {
    area_strides_[k - 1] = area_strides_[k] * (sizes_[k] + 1);
  }

  // The counts, each past a border of zeros, then a running sum along each axis.
  area_.assign(static_cast<size_t>(num_entries), 0.0);
  const int64_t row = table.empty() ? 1 : sizes_.back();
  std::vector<int64_t> cell(table.size(), 0);
  for (int64_t begin = 0; begin < static_cast<int64_t>(counts_.size()); begin += row) {
    int64_t at = 0;
    for (size_t k = 0; k < table.size(); ++k) at += (cell[k] + 1) * area_strides_[k];
    std::copy_n(counts_.begin() + begin, row, area_.begin() + at);
    for (size_t k = table.size(); k-- > 0;) {
      if (k + 1 == table.size()) continue;
      if (++cell[k] < sizes_[k]) break;
      cell[k] = 0;
    }
  }
  for (size_t k = 0; k < table.size(); ++k) {
    const int64_t inner = area_strides_[k];
    const int64_t slab = inner * (sizes_[k] + 1);
    for (int64_t at = 0; at < num_entries; at += slab) {
      for (int64_t c = 1; c <= sizes_[k]; ++c) {
        AddScaled(area_.data() + at + (c - 1) * inner, 1, inner, area_.data() + at + c * inner);
      }
    }
  }
}

double LoadedTable::SumOfRange(std::span<const CellRange> ranges) const {
  const size_t order = ranges.size();
  double sum = 0;
  for (size_t corner = 0; corner < size_t{1} << order; ++corner) {
    int64_t at = 0;
    bool is_negative = false;
    for (size_t k = 0; k < order; ++k) {
      const bool is_low = (corner >> k & 1) != 0;
      at += (is_low ? ranges[k].first : ranges[k].last + 1) * area_strides_[k];
      is_negative ^= is_low;
    }
    const double area = area_[static_cast<size_t>(at)];
    sum += is_negative ? -area : area;
  }
  return sum;
}

Estimate LoadedTable::AnswerRange(std::span<const CellRange> ranges) const {
  const size_t order = attributes_.size();
  if (ranges.size() != order) {
    Fail(ErrorKind::kBadInput, "{} ranges for the table {}; give one for each attribute",
         ranges.size(), SetName(index_.domain(), attributes_));
  }
  if (!is_identity_ || order > kMaxStackOrder || index_.has_coarse_noise()) {
    std::vector<AttributeWeights> factors;
    for (size_t k = 0; k < order; ++k) {
      factors.push_back({attributes_[k], std::vector<CellRange>{ranges[k]}});
    }
    return Answer(ProductQuery(index_.domain(), std::move(factors)));
  }
  std::array<double, kMaxStackOrder> residual;
  std::array<double, kMaxStackOrder> constant;
  for (size_t k = 0; k < order; ++k) {
    if (ranges[k].first < 0 || ranges[k].last >= sizes_[k] || ranges[k].first > ranges[k].last) {
      Fail(ErrorKind::kBadInput, "attribute '{}' has no cells {} to {}; its cells are 0 to {}",
           index_.domain()[attributes_[k]].name, ranges[k].first, ranges[k].last, sizes_[k] - 1);
    }
    const auto length = static_cast<double>(ranges[k].last - ranges[k].first + 1);
    const double share = length / static_cast<double>(sizes_[k]);
    residual[k] = length * (1 - share);
    constant[k] = share * share;
  }
  std::array<double, size_t{1} << kMaxStackOrder> variances;
  std::copy(variances_.begin(), variances_.end(), variances.begin());
  return {SumOfRange(ranges),
          FoldVariances(std::span(residual).first(order), std::span(constant).first(order),
                        std::span(variances).first(variances_.size()))};
}

double LoadedTable::SumOfProduct(std::span<const AttributeWeights> factors) const {
  const size_t order = attributes_.size();
  if (order == 0) return counts_.front();
  std::vector<TakenCells> taken;
  for (const AttributeWeights& factor : factors) taken.push_back(CellsTaken(factor));
  for (const TakenCells& cells : taken) {
    if (cells.cells.empty()) return 0;
  }
  // Whole rows are added up and weighted at the end, unless few of their cells are covered.
  const int64_t row = sizes_.back();
  const bool is_sparse = 8 * static_cast<int64_t>(taken.back().cells.size()) < row;
  std::vector<double> sums(static_cast<size_t>(row), 0.0);
  double sum = 0;
  std::vector<size_t> place(order - 1, 0);
  for (;;) {
    int64_t at = 0;
    double weight = 1;
    for (size_t k = 0; k + 1 < order; ++k) {
      at = (at + taken[k].cells[place[k]]) * sizes_[k + 1];
      weight *= taken[k].weights[place[k]];
    }
    const double* cells = counts_.data() + at;
    if (is_sparse) {
      double row_sum = 0;
      for (size_t c = 0; c < taken.back().cells.size(); ++c) {
        row_sum += taken.back().weights[c] * cells[taken.back().cells[c]];
      }
      sum += weight * row_sum;
    } else {
      AddScaled(cells, weight, row, sums.data());
    }
    size_t k = order - 1;
    while (k > 0 && ++place[k - 1] == taken[k - 1].cells.size()) place[--k] = 0;
    if (k == 0) break;
  }
  if (is_sparse) return sum;
  const std::vector<double> weights = DenseWeights(factors.back(), row);
  return DotProduct(sums.data(), weights.data(), row);
}

Estimate LoadedTable::Answer(const ProductQuery& query) const {
  std::vector<AttributeWeights> factors;
  std::vector<CellRange> ranges;
  size_t next = 0;
  for (size_t k = 0; k < attributes_.size(); ++k) {
    if (next < query.factors().size() && query.attributes()[next] == attributes_[k]) {
      factors.push_back(query.factors()[next++]);
    } else {
      factors.push_back({attributes_[k], std::vector<CellRange>{{0, sizes_[k] - 1}}});
    }
    const auto* list = std::get_if<std::vector<CellRange>>(&factors.back().weights);
    if (list != nullptr && list->size() == 1) ranges.push_back(list->front());
  }
  if (next != query.factors().size()) {
    Fail(ErrorKind::kBadInput, "the query asks for {}, the loaded table is {}",
         SetName(index_.domain(), query.attributes()), SetName(index_.domain(), attributes_));
  }
  const double variance = Variance(index_, query);  // if the answer is determined
  const double value =
      ranges.size() == attributes_.size() ? SumOfRange(ranges) : SumOfProduct(factors);
  return {value, variance, QueryHalfStep(index_, query, variance)};
}

}  // namespace residua
