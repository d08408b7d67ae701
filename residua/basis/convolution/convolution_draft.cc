#include "residua/basis/convolution/convolution_draft.h"

#include <algorithm>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/convolution/real_product.h"
#include "residua/basis/query_matrix.h"

namespace residua {
namespace {

// Rows at each end that are all taken, and the part of the distance to the nearer end between two
// that are taken from there on.
constexpr int64_t kEndRows = 32;
constexpr int64_t kPartOfDistance = 256;

// Sums over the answers, from prefix sums S_1, .. S_n of what multiplies a row, or the total: those
// of all prefix sums are S_k^2, those of all ranges (S_u - S_l)^2 with S_0 = 0.
struct SumOfSquares {
  double squares = 0;
  double sum = 0;

  void Add(double prefix) {
    squares += prefix * prefix;
    sum += prefix;
  }
  double Over(QueryKind queries, int64_t num_cells) const {
    if (queries == QueryKind::kPrefix) return squares;
    return static_cast<double>(num_cells + 1) * squares - sum * sum;
  }
};

}  // namespace

double SumOfResiduals(QueryKind queries, const std::vector<double>& inverse,
                      const std::vector<double>& row_share,
                      const std::vector<double>& column_share) {
  const auto num_rows = static_cast<int64_t>(inverse.size());
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < num_rows;) {
    taken.push_back(i);
    const int64_t distance = std::min(i, num_rows - 1 - i);
    // Not so far that the last rows are not all taken.
    const int64_t step = distance < kEndRows ? 1 : distance / kPartOfDistance;
    i += std::max<int64_t>(step, 1);
  }
  std::vector<double> terms(taken.size());  // over the row's share, squared
  ParallelFor(int64_t{0}, static_cast<int64_t>(taken.size()), [&](int64_t at) {
    const int64_t i = taken[static_cast<size_t>(at)];
    SumOfSquares squares;
    double prefix = 0;
    for (int64_t k = i; k < num_rows; ++k) {
      prefix += inverse[static_cast<size_t>(k - i)] * column_share[static_cast<size_t>(k)];
      squares.Add(prefix);
    }
    terms[static_cast<size_t>(at)] = squares.Over(queries, num_rows + 1);
  });
  double sum = 0;
  for (size_t at = 0; at < taken.size(); ++at) {
    const int64_t begin = taken[at];
    const int64_t end = at + 1 < taken.size() ? taken[at + 1] : num_rows;
    const double after = at + 1 < taken.size() ? terms[at + 1] : terms[at];
    for (int64_t i = begin; i < end; ++i) {
      const double place = static_cast<double>(i - begin) / static_cast<double>(end - begin);
      const double share = row_share[static_cast<size_t>(i)];
      sum += (terms[at] + place * (after - terms[at])) * share * share;
    }
  }
  return sum;
}

ResidualBasis DraftOfConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix) {
  const auto shares = [](const std::vector<int64_t>& weights) {
    std::vector<double> inverted;
    for (const int64_t weight : weights) inverted.push_back(1 / static_cast<double>(weight));
    return inverted;
  };
  const std::vector<double> inverse =
      InverseSequence(std::vector<double>(matrix.kernel.begin(), matrix.kernel.end()));
  const std::vector<double> column_share = shares(matrix.column_weights);
  ResidualBasis draft;
  draft.size = attribute.size;
  draft.num_answers = NumAnswers(attribute);
  draft.privacy_cost = SquaredSensitivity(matrix).get_d();
  const double residual =
      SumOfResiduals(attribute.queries, inverse, shares(matrix.row_weights), column_share);
  std::vector<double> constant(matrix.total_weights.begin(), matrix.total_weights.end());
  if (!constant.empty()) RealProduct(inverse).Apply(constant.data(), nullptr);
  SumOfSquares squares;
  double prefix = 0;
  for (size_t k = 0; k < column_share.size(); ++k) {
    if (!constant.empty()) prefix += constant[k] * column_share[k];
    squares.Add(prefix);
  }
  squares.Add(1);
  const auto num_answers = static_cast<double>(draft.num_answers);
  draft.weighted_mean = {residual / num_answers,
                         squares.Over(attribute.queries, attribute.size) / num_answers};
  return draft;
}

}  // namespace residua
