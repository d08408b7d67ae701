#include "residua/reconstruct/table_variance.h"

#include <algorithm>

#include "residua/base/checked.h"

namespace residua {

AxisVariances CellVariancesOf(const ResidualBasis& basis) {
  if (basis.is_identity()) return {basis.mean};
  AxisVariances variances;
  for (Eigen::Index k = 0; k < basis.residual.rows(); ++k) {
    variances.push_back(
        {basis.residual.row(k).squaredNorm(), basis.constant[k] * basis.constant[k]});
  }
  return variances;
}

// By axes, the last first: what remains after axis k is fixed is a vector over the subsets of the
// axes before it, so a cell costs two multiplications in the innermost loop.
std::vector<double> TableVariances(const ResidualIndex& index, const AttributeSet& table,
                                   std::span<const AxisVariances> axes,
                                   std::span<const int64_t> num_answers) {
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(table, &entries);
  // terms[mask * count + answer]: bit k of mask stands for table[k], `answer` runs over the axes
  // done.
  std::vector<double> terms;
  for (const ResidualIndex::Entry* entry : entries) terms.push_back(entry->variance);
  const bool all_alike = std::all_of(axes.begin(), axes.end(),
                                     [](const AxisVariances& axis) { return axis.size() == 1; });
  int64_t count = 1;
  for (size_t k = table.size(); k-- > 0;) {
    const int64_t size = all_alike ? 1 : num_answers[k];
    const auto num_masks = static_cast<int64_t>(uint64_t{1} << k);
    const int64_t next_count = CheckedMultiply(size, count);
    std::vector<double> next(static_cast<size_t>(CheckedMultiply(num_masks, next_count)));
    for (int64_t mask = 0; mask < num_masks; ++mask) {
      const double* without = terms.data() + mask * count;
      const double* with = terms.data() + (mask + num_masks) * count;
      double* out = next.data() + mask * next_count;
      for (int64_t q = 0; q < size; ++q) {
        const QueryVariance& query =
            axes[k].size() == 1 ? axes[k][0] : axes[k][static_cast<size_t>(q)];
        for (int64_t c = 0; c < count; ++c) {
          *out++ = query.constant * without[c] + query.residual * with[c];
        }
      }
    }
    terms = std::move(next);
    count = next_count;
  }
  return terms;
}

}  // namespace residua
