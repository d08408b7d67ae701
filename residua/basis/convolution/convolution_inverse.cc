#include "residua/basis/convolution/convolution_inverse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

using Eigen::VectorXd;

// Rounding in a product with b and c is about 1e-16 of the product of the sums of their sizes, in
// units of an answer's own size; sound bases come to 1e3 or so.
constexpr double kMostCondition = 1e9;
// Rows of F that are summed together: their sums stay in the first cache.
constexpr int64_t kStripe = 512;
constexpr int64_t kLanes = 8;
// Lengths of ranges whose covariances are computed side by side.
constexpr int64_t kLengthsAtOnce = 32;

std::vector<double> Inverted(const std::vector<int64_t>& weights) {
  std::vector<double> shares;
  shares.reserve(weights.size());
  for (const int64_t weight : weights) shares.push_back(1 / static_cast<double>(weight));
  return shares;
}

std::vector<double> InverseKernel(const Attribute& attribute, const ConvolutionMatrix& matrix) {
  const std::vector<double> kernel(matrix.kernel.begin(), matrix.kernel.end());
  std::vector<double> inverse = InverseSequence(kernel);
  double of_kernel = 0;
  double of_inverse = 0;
  for (size_t k = 0; k < kernel.size(); ++k) {
    of_kernel += kernel[k];
    of_inverse += std::fabs(inverse[k]);
  }
  // Not-a-number fails this comparison too.
  if (!(of_kernel * of_inverse <= kMostCondition)) {
    Fail(ErrorKind::kRefused,
         "the basis of attribute '{}' is degenerate: its rows and the total do not determine the "
         "queries",
         attribute.name);
  }
  return inverse;
}

// For the columns i of `count` <= kStripe from `first` on: sums_i = sum over first..k of the column
// of F, and variances_k += the sum of their squares. `backwards` has b in reverse, its first term
// last.
RESIDUA_VECTORISED
void AddStripe(int64_t first, int64_t count, int64_t num_rows, const double* __restrict backwards,
               const double* __restrict row_share, const double* __restrict column_share,
               double* __restrict variances) {
  double sums[kStripe] = {};
  double shares[kStripe] = {};
  for (int64_t i = 0; i < count; ++i) shares[i] = row_share[first + i];
  for (int64_t k = first; k < num_rows; ++k) {
    const double share = column_share[k];
    // b_{k - first - i}, which is 0 before the first term.
    const double* terms = backwards + num_rows - 1 - (k - first);
    double lanes[kLanes] = {};
    for (int64_t i = 0; i < kStripe; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const double sum = sums[i + lane] + terms[i + lane] * share * shares[i + lane];
        sums[i + lane] = sum;
        lanes[lane] += sum * sum;
      }
    }
    variances[k] += ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                    ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
}

std::vector<double> PrefixVariances(const std::vector<double>& inverse,
                                    const std::vector<double>& row_share,
                                    const std::vector<double>& column_share) {
  const auto num_rows = static_cast<int64_t>(inverse.size());
  std::vector<double> backwards(inverse.rbegin(), inverse.rend());
  backwards.resize(static_cast<size_t>(num_rows + kStripe), 0);
  const int64_t num_stripes = (num_rows + kStripe - 1) / kStripe;
  // A few parts of many stripes, each with sums of its own, so that their order does not depend on
  // the number of threads.
  const int64_t num_parts = std::min<int64_t>(num_stripes, 16);
  std::vector<std::vector<double>> parts(static_cast<size_t>(num_parts));
  ParallelFor(int64_t{0}, num_parts, [&](int64_t part) {
    std::vector<double>& sums = parts[static_cast<size_t>(part)];
    sums.assign(static_cast<size_t>(num_rows), 0);
    for (int64_t stripe = part; stripe < num_stripes; stripe += num_parts) {
      const int64_t first = stripe * kStripe;
      AddStripe(first, std::min(kStripe, num_rows - first), num_rows, backwards.data(),
                row_share.data(), column_share.data(), sums.data());
    }
  });
  std::vector<double> variances(static_cast<size_t>(num_rows), 0);
  for (const std::vector<double>& sums : parts) {
    for (size_t k = 0; k < sums.size(); ++k) variances[k] += sums[k];
  }
  return variances;
}

// The upper right hull of many points, without a place for each. Constants are between 0 and 1, but
// for rounding: a point is left out where another one has no less of both.
class RunningHull {
 public:
  void Add(const QueryVariance& point) {
    const auto bin = static_cast<size_t>(std::clamp(point.constant, 0.0, 1.0) *
                                         static_cast<double>(kNumBins - 1));
    if (point.residual <= most_above_[bin]) return;
    QueryVariance& most = most_in_[bin];
    if (point.residual <= most.residual && point.constant <= most.constant) return;
    if (point.residual > most.residual) most = point;
    points_.push_back(point);
    if (points_.size() >= kMostPoints) Reduce();
  }
  std::vector<QueryVariance> Peaks() {
    Reduce();
    return points_;
  }

 private:
  static constexpr size_t kNumBins = 256;
  static constexpr size_t kMostPoints = 1 << 14;

  void Reduce() {
    points_ = UpperRightHull(std::move(points_));
    for (const QueryVariance& point : points_) {
      // Every point of a lower bin has a smaller constant.
      const auto bin = static_cast<size_t>(std::clamp(point.constant, 0.0, 1.0) *
                                           static_cast<double>(kNumBins - 1));
      for (size_t lower = 0; lower < bin; ++lower) {
        most_above_[lower] = std::max(most_above_[lower], point.residual);
      }
    }
  }

  std::vector<QueryVariance> points_;
  // The most residual of points in bins above, and the point with the most in each.
  std::vector<double> most_above_ =
      std::vector<double>(kNumBins, -std::numeric_limits<double>::infinity());
  std::vector<QueryVariance> most_in_ =
      std::vector<QueryVariance>(kNumBins, {-std::numeric_limits<double>::infinity(), 0});
};

// out += factor values.
RESIDUA_VECTORISED
void AddTimes(const double* __restrict values, double factor, int64_t count,
              double* __restrict out) {
  for (int64_t k = 0; k < count; ++k) out[k] += factor * values[k];
}

}  // namespace

ConvolutionInverse::ConvolutionInverse(const Attribute& attribute, const ConvolutionMatrix& matrix)
    : inverse_(InverseKernel(attribute, matrix)),
      product_(inverse_),
      row_share_(Inverted(matrix.row_weights)),
      column_share_(Inverted(matrix.column_weights)),
      total_weights_(matrix.total_weights.begin(), matrix.total_weights.end()),
      constant_(VectorXd::Unit(num_cells(), num_cells() - 1)),
      prefix_variances_(PrefixVariances(inverse_, row_share_, column_share_)) {
  if (total_weights_.empty()) return;
  const std::vector<double> nothing(total_weights_.size(), 0);
  const double one = 1;
  Apply(1, 1, nothing.data(), &one, constant_.data());
}

VectorXd ConvolutionInverse::RowWeights(const VectorXd& query) const {
  RESIDUA_CHECK(query.size() == num_cells());
  VectorXd weights = query.head(num_rows()).array() - query(num_rows());
  for (int64_t k = 0; k < num_rows(); ++k) weights(k) *= column_share_[static_cast<size_t>(k)];
  product_.ApplyTransposed(weights.data(), nullptr);
  for (int64_t k = 0; k < num_rows(); ++k) weights(k) *= row_share_[static_cast<size_t>(k)];
  return weights;
}

std::vector<double> ConvolutionInverse::PrefixConstants() const {
  std::vector<double> sums = {0};
  for (int64_t k = 0; k < num_rows(); ++k) sums.push_back(sums.back() + constant_(k));
  sums.push_back(1);
  return sums;
}

std::vector<double> ConvolutionInverse::CellVariances() const {
  std::vector<double> variances(row_share_.size());
  ParallelForStretches(size_t{0}, variances.size(), [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      double sum = 0;
      for (size_t i = 0; i <= k; ++i) {
        const double entry = inverse_[k - i] * row_share_[i];
        sum += entry * entry;
      }
      variances[k] = sum * column_share_[k] * column_share_[k];
    }
  });
  return variances;
}

// The covariance of cells j and j + lag, over the shares of their columns, is
//   T_j = sum over i <= j of b_{j-i} b_{j-i+lag} / r_i^2 = sum over steps s of r of
//         (1 / r_s^2 - 1 / r_{s-1}^2) A_{j-s},   A_t = sum over u <= t of b_u b_{u+lag},
// so that few different r, in a row, take little time. And a range's variance comes from shorter
// ones: [l, u] = [l, u-1] + [l+1, u] - [l+1, u-1] + 2 times the covariance of cells l and u.
template <typename Visit>
void ConvolutionInverse::ForEachLength(const Visit& visit) const {
  const int64_t num_rows = this->num_rows();
  std::vector<std::pair<int64_t, double>> steps;
  double before = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    const double share = row_share_[static_cast<size_t>(i)];
    if (i == 0 || share != row_share_[static_cast<size_t>(i - 1)]) {
      steps.emplace_back(i, share * share - before);
      before = share * share;
    }
  }
  std::vector<double> shorter(static_cast<size_t>(num_rows) + 1, 0);  // of length - 1
  std::vector<double> shorter_by_two(static_cast<size_t>(num_rows) + 1, 0);
  std::vector<std::vector<double>> covariances(static_cast<size_t>(kLengthsAtOnce));
  for (int64_t first_lag = 0; first_lag < num_rows; first_lag += kLengthsAtOnce) {
    const int64_t num_lags = std::min(kLengthsAtOnce, num_rows - first_lag);
    ParallelFor(int64_t{0}, num_lags, [&](int64_t k) {
      const int64_t lag = first_lag + k;
      const int64_t count = num_rows - lag;
      std::vector<double> sums(static_cast<size_t>(count));
      double sum = 0;
      for (int64_t t = 0; t < count; ++t) {
        sum += inverse_[static_cast<size_t>(t)] * inverse_[static_cast<size_t>(t + lag)];
        sums[static_cast<size_t>(t)] = sum;
      }
      std::vector<double>& of_lag = covariances[static_cast<size_t>(k)];
      of_lag.assign(static_cast<size_t>(count), 0);
      for (const auto& [step, factor] : steps) {
        if (step >= count) break;
        AddTimes(sums.data(), factor, count - step, of_lag.data() + step);
      }
      for (int64_t j = 0; j < count; ++j) {
        of_lag[static_cast<size_t>(j)] *=
            column_share_[static_cast<size_t>(j)] * column_share_[static_cast<size_t>(j + lag)];
      }
    });
    for (int64_t k = 0; k < num_lags; ++k) {
      std::vector<double>& of_lag = covariances[static_cast<size_t>(k)];
      const bool one_cell = first_lag + k == 0;
      for (size_t l = 0; l < of_lag.size() && !one_cell; ++l) {
        of_lag[l] = 2 * of_lag[l] + (shorter[l] + (shorter[l + 1] - shorter_by_two[l + 1]));
      }
      visit(first_lag + k, std::as_const(of_lag));
      std::swap(shorter, shorter_by_two);
      std::copy(of_lag.begin(), of_lag.end(), shorter.begin());
    }
  }
}

std::vector<QueryVariance> ConvolutionInverse::Variances(const QueryMatrix& queries) const {
  RESIDUA_CHECK(queries.num_cells() == num_cells());
  std::vector<QueryVariance> variances;
  if (queries.kind() == QueryKind::kIdentity) {
    for (const double variance : CellVariances()) variances.push_back({variance, 0});
    variances.push_back({prefix_variances_.back(), 0});
    for (int64_t k = 0; k < num_cells(); ++k) {
      variances[static_cast<size_t>(k)].constant = constant_(k) * constant_(k);
    }
    return variances;
  }
  const std::vector<double> constants = PrefixConstants();
  if (queries.kind() == QueryKind::kPrefix) {
    for (const double variance : prefix_variances_) variances.push_back({variance, 0});
    variances.push_back({0, 0});
    for (size_t k = 0; k < variances.size(); ++k) {
      variances[k].constant = constants[k + 1] * constants[k + 1];
    }
    return variances;
  }
  RESIDUA_CHECK(queries.kind() == QueryKind::kRange);
  const int64_t n = num_cells();
  variances.resize(static_cast<size_t>(queries.num_answers()));
  ForEachLength([&](int64_t lag, const std::vector<double>& of_lag) {
    for (size_t l = 0; l < of_lag.size(); ++l) {
      const auto first = static_cast<int64_t>(l);
      const double constant = constants[l + static_cast<size_t>(lag) + 1] - constants[l];
      variances[static_cast<size_t>(AnswerOfRange(n, {first, first + lag}))] = {
          std::max(0.0, of_lag[l]), constant * constant};
    }
  });
  // A range with the last cell is the total less the cells before it.
  for (int64_t first = 0; first < n; ++first) {
    const double constant = 1 - constants[static_cast<size_t>(first)];
    variances[static_cast<size_t>(AnswerOfRange(n, {first, n - 1}))] = {
        first == 0 ? 0 : prefix_variances_[static_cast<size_t>(first - 1)], constant * constant};
  }
  return variances;
}

void ConvolutionInverse::SummariseRanges(QueryVariance* mean,
                                         std::vector<QueryVariance>* peaks) const {
  const std::vector<double> constants = PrefixConstants();
  RunningHull hull;
  double sum = 0;
  double sum_of_constants = 0;
  ForEachLength([&](int64_t lag, const std::vector<double>& of_lag) {
    double of_length = 0;
    double constants_of_length = 0;
    const double* ends = constants.data() + lag + 1;
    for (size_t l = 0; l < of_lag.size(); ++l) {
      const double constant = (ends[l] - constants[l]) * (ends[l] - constants[l]);
      of_length += of_lag[l];
      constants_of_length += constant;
      hull.Add({of_lag[l], constant});
    }
    sum += of_length;
    sum_of_constants += constants_of_length;
  });
  hull.Add({0, 1});
  sum_of_constants += 1;
  for (size_t k = 0; k < prefix_variances_.size(); ++k) {
    const double constant = (1 - constants[k + 1]) * (1 - constants[k + 1]);
    sum += prefix_variances_[k];
    sum_of_constants += constant;
    hull.Add({prefix_variances_[k], constant});
  }
  const auto n = static_cast<double>(num_cells());
  const double num_answers = n * (n + 1) / 2;
  *mean = {sum / num_answers, sum_of_constants / num_answers};
  *peaks = hull.Peaks();
}

void ConvolutionInverse::Apply(int64_t outer, int64_t inner, const double* rows,
                               const double* constant, double* result) const {
  const int64_t num_rows = this->num_rows();
  std::vector<double> fibres[2] = {std::vector<double>(static_cast<size_t>(num_rows)),
                                   std::vector<double>(static_cast<size_t>(num_rows))};
  for (int64_t begin = 0; begin < outer * inner; begin += 2) {
    const int64_t count = std::min<int64_t>(2, outer * inner - begin);
    for (int64_t f = 0; f < count; ++f) {
      const double* from = rows + (begin + f) / inner * num_rows * inner + (begin + f) % inner;
      for (int64_t k = 0; k < num_rows; ++k) {
        fibres[f][static_cast<size_t>(k)] = from[k * inner] * row_share_[static_cast<size_t>(k)];
      }
      for (size_t k = 0; k < total_weights_.size(); ++k) {
        fibres[f][k] += total_weights_[k] * constant[begin + f];
      }
    }
    product_.Apply(fibres[0].data(), count > 1 ? fibres[1].data() : nullptr);
    for (int64_t f = 0; f < count; ++f) {
      double* to = result + (begin + f) / inner * (num_rows + 1) * inner + (begin + f) % inner;
      double sum = 0;
      for (int64_t k = 0; k < num_rows; ++k) {
        const double cell =
            fibres[f][static_cast<size_t>(k)] * column_share_[static_cast<size_t>(k)];
        to[k * inner] = cell;
        sum += cell;
      }
      to[num_rows * inner] = constant[begin + f] - sum;
    }
  }
}

void ConvolutionInverse::ApplyProduct(int64_t outer, int64_t inner, double* values) const {
  VectorXd cells(num_cells());
  std::vector<double> result(static_cast<size_t>(num_cells()));
  const double nothing = 0;
  for (int64_t fibre = 0; fibre < outer * inner; ++fibre) {
    double* at = values + fibre / inner * num_cells() * inner + fibre % inner;
    for (int64_t k = 0; k < num_cells(); ++k) cells(k) = at[k * inner];
    const VectorXd of_rows = RowWeights(cells);
    Apply(1, 1, of_rows.data(), &nothing, result.data());
    for (int64_t k = 0; k < num_cells(); ++k) at[k * inner] = result[static_cast<size_t>(k)];
  }
}

}  // namespace residua
