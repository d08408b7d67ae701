#include "residua/basis/residual_basis.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/query_matrix.h"
#include "residua/basis/triangular_factors.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Points nearer than this to the line through their neighbours are no vertices; the largest
// variance is understated by no more than this fraction, below the doubles' own error in it.
constexpr double kFlat = 1e-13;
// A query's entries are reproduced to this (relative to the largest) by what was measured, or the
// matrix is refused: sound bases come to about 1e-12.
constexpr double kReproduced = 1e-6;
// Above this many cells triangular matrices are inverted as such, which is ten times as fast.
constexpr int64_t kLargeBasis = 256;

// The column of an integer matrix without which it is upper triangular, as RoundBasis makes them.
std::optional<int64_t> ColumnBesideTriangle(const IntegerMatrix& matrix) {
  const int64_t n = matrix.num_columns;
  if (matrix.num_rows != n - 1) return {};
  const auto is_last = [&](int64_t last) {
    for (int64_t row = 0; row < n - 1; ++row) {
      for (int64_t k = 0; k <= row; ++k) {
        const int64_t column = k < last ? k : k + 1;
        const bool zero = matrix.entries[static_cast<size_t>(row * n + column)] == 0;
        if (zero != (k < row)) return false;
      }
    }
    return true;
  };
  // The last row has an entry there and at the end of the diagonal, or at one of these only.
  for (int64_t column = n - 1; column >= 0; --column) {
    const bool zero = matrix.entries[static_cast<size_t>((n - 2) * n + column)] == 0;
    if (!zero && is_last(column)) return column;
  }
  return {};
}

struct SplitInverse {
  VectorXd constant;  // z
  MatrixXd residual;  // P
  double error = 0;   // the largest entry of [1^T; matrix] [z | P] - I, or not a number
};

// With the columns [U | v] of the matrix, `last` behind: z = (-U^-1 v, 1) / sum and
// P = (U^-1, 0) - z 1^T U^-1.
SplitInverse InverseOfTriangle(const IntegerMatrix& matrix, int64_t last, double scale) {
  const int64_t n = matrix.num_columns;
  const Eigen::Map<const Eigen::Matrix<int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
      integers(matrix.entries.data(), n - 1, n);
  MatrixXd upper(n - 1, n - 1);
  upper << integers.leftCols(last).cast<double>(), integers.rightCols(n - 1 - last).cast<double>();
  const VectorXd beside = integers.col(last).cast<double>();
  const MatrixXd inverse = InverseOfUpper(upper);
  const VectorXd solved = Product(inverse, beside);
  const VectorXd sums = inverse.colwise().sum();
  const double total = 1 - solved.sum();
  SplitInverse split;
  split.constant.resize(n);
  split.constant << -solved.head(last), 1, -solved.tail(n - 1 - last);
  split.constant /= total;
  const double left = (Product(upper, solved) - beside).cwiseAbs().maxCoeff() / std::fabs(total);
  MatrixXd product = ProductOfUppers(upper, inverse);
  product.diagonal().array() -= 1;
  split.error =
      std::max({product.cwiseAbs().maxCoeff() + left * sums.cwiseAbs().maxCoeff(), left / scale,
                scale * sums.cwiseAbs().maxCoeff() * std::fabs(1 - split.constant.sum())});
  if (!split.constant.allFinite() || !sums.allFinite()) split.error = std::nan("");
  split.residual.resize(n, n - 1);
  split.residual << inverse.topRows(last), MatrixXd::Zero(1, n - 1),
      inverse.bottomRows(n - 1 - last);
  split.residual -= Outer(split.constant, sums);
  return split;
}

// The right inverse [z | P] of [1^T; matrix] of least norm.
SplitInverse InverseOfAny(const IntegerMatrix& matrix, double scale) {
  // Rows of like size keep the inverse accurate; the scale of 1^T is undone afterwards.
  RowMajorMatrix stacked(matrix.num_rows + 1, matrix.num_columns);
  stacked.row(0).setConstant(scale);
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    stacked.data()[static_cast<size_t>(matrix.num_columns) + k] =
        static_cast<double>(matrix.entries[k]);
  }
  const MatrixXd columns = stacked;
  const MatrixXd identity = MatrixXd::Identity(stacked.rows(), stacked.rows());
  MatrixXd inverse;
  if (stacked.rows() == stacked.cols()) {
    inverse = InverseOf(columns);
  } else {
    inverse = TransposedProduct(columns, SolveSymmetric(SquareOfRows(columns), identity));
  }
  const MatrixXd error = Product(columns, inverse) - identity;
  return {inverse.col(0) * scale, inverse.rightCols(matrix.num_rows),
          error.allFinite() ? error.cwiseAbs().maxCoeff() : std::nan("")};
}

QueryVariance AverageOf(const std::vector<QueryVariance>& points) {
  QueryVariance mean;
  for (const QueryVariance& point : points) {
    mean.residual += point.residual / static_cast<double>(points.size());
    mean.constant += point.constant / static_cast<double>(points.size());
  }
  return mean;
}

}  // namespace

ResidualBasis IdentityBasis(int64_t size) {
  RESIDUA_CHECK(size >= 2);
  const auto n = static_cast<double>(size);
  const Integer exact_n = ToInteger(size);
  ResidualBasis basis;
  basis.size = size;
  basis.privacy_cost = (n - 1) / n;
  basis.num_answers = size;
  basis.mean = {(n - 1) / n, 1 / (n * n)};
  basis.peaks = {basis.mean};
  basis.weighted_mean = basis.mean;
  basis.weighted_peaks = basis.peaks;
  basis.squared_sensitivity = exact_n * (exact_n - 1);
  basis.variance_factor = exact_n * exact_n;
  return basis;
}

ResidualBasis IdentityBasis(const Attribute& attribute) {
  ResidualBasis basis = IdentityBasis(attribute.size);
  if (MeanOf(attribute) == nullptr) return basis;
  const auto n = static_cast<double>(attribute.size);
  const QueryVariance count = {2 - 4 / n, 4 / (n * n)};
  basis.peaks = UpperRightHull({basis.mean, count});
  basis.weighted_peaks = basis.peaks;
  return basis;
}

Integer SquaredSensitivity(const IntegerMatrix& matrix) {
  std::vector<Integer> norms(static_cast<size_t>(matrix.num_columns), 0);
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    const Integer entry = ToInteger(matrix.entries[k]);
    norms[k % static_cast<size_t>(matrix.num_columns)] += entry * entry;
  }
  return *std::max_element(norms.begin(), norms.end());
}

std::vector<QueryVariance> UpperRightHull(std::vector<QueryVariance> points) {
  RESIDUA_CHECK(!points.empty());
  // From the largest residual on, each vertex has a larger constant than the one before.
  std::sort(points.begin(), points.end(), [](const QueryVariance& a, const QueryVariance& b) {
    return a.residual != b.residual ? a.residual > b.residual : a.constant > b.constant;
  });
  const double wide = std::max(points.front().residual, 1e-300);
  double high = 1e-300;
  for (const QueryVariance& point : points) high = std::max(high, point.constant);
  std::vector<QueryVariance> hull;
  for (const QueryVariance& point : points) {
    if (!hull.empty() && point.constant <= hull.back().constant + kFlat * high) continue;
    while (hull.size() >= 2) {
      const QueryVariance& a = hull[hull.size() - 2];
      const QueryVariance& b = hull.back();
      const double turn = (b.residual - a.residual) / wide * (point.constant - a.constant) / high -
                          (b.constant - a.constant) / high * (point.residual - a.residual) / wide;
      if (turn > kFlat) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

std::vector<QueryVariance> ThinHull(const std::vector<QueryVariance>& hull, double tolerance) {
  const double wide = std::max(hull.front().residual, 1e-300);
  const double high = std::max(hull.back().constant, 1e-300);
  std::vector<QueryVariance> thin = {hull.front()};
  // Keeps the vertex farthest from the chord of first..last, and what each side needs.
  const std::function<void(size_t, size_t)> split = [&](size_t first, size_t last) {
    const double dx = (hull[last].residual - hull[first].residual) / wide;
    const double dy = (hull[last].constant - hull[first].constant) / high;
    size_t farthest = first;
    double distance = tolerance * std::sqrt(dx * dx + dy * dy);
    for (size_t k = first + 1; k < last; ++k) {
      const double area = std::fabs((hull[k].residual - hull[first].residual) / wide * dy -
                                    (hull[k].constant - hull[first].constant) / high * dx);
      if (area > distance) {
        distance = area;
        farthest = k;
      }
    }
    if (farthest == first) return;
    split(first, farthest);
    thin.push_back(hull[farthest]);
    split(farthest, last);
  };
  if (hull.size() > 1) {
    split(0, hull.size() - 1);
    thin.push_back(hull.back());
  }
  return thin;
}

void SetVariances(const Attribute& attribute, std::vector<QueryVariance> of_answers,
                  ResidualBasis* basis) {
  basis->num_answers = std::ssize(of_answers);
  basis->mean = AverageOf(of_answers);
  if (attribute.queries == QueryKind::kHierarchy) {
    const std::vector<int64_t> levels = AnswerLevels(attribute);
    std::vector<std::vector<QueryVariance>> of_level;
    for (size_t q = 0; q < levels.size(); ++q) {
      const auto level = static_cast<size_t>(levels[q]);
      of_level.resize(std::max(of_level.size(), level + 1));
      of_level[level].push_back(of_answers[q]);
    }
    for (std::vector<QueryVariance>& points : of_level) {
      basis->levels.push_back({std::ssize(points), AverageOf(points), {}});
      basis->levels.back().peaks = UpperRightHull(std::move(points));
    }
  }
  if (!attribute.level_weights.empty()) {
    const AnswerWeights weights = WeighAnswers(attribute);
    std::vector<QueryVariance> weighted = of_answers;
    basis->weighted_mean = {};
    for (size_t q = 0; q < weighted.size(); ++q) {
      basis->weighted_mean.residual += weights.share[q] * weighted[q].residual;
      basis->weighted_mean.constant += weights.share[q] * weighted[q].constant;
      weighted[q].residual *= weights.importance[q];
      weighted[q].constant *= weights.importance[q];
    }
    basis->weighted_peaks = UpperRightHull(std::move(weighted));
  }
  basis->peaks = UpperRightHull(std::move(of_answers));
  if (attribute.level_weights.empty()) {
    basis->weighted_mean = basis->mean;
    basis->weighted_peaks = basis->peaks;
  }
}

ResidualBasis BasisFromMatrix(const Attribute& attribute, IntegerMatrix matrix,
                              Inversion inversion) {
  const int64_t n = attribute.size;
  if (matrix.num_columns != n || matrix.num_rows < 1 || matrix.num_rows > n - 1 ||
      static_cast<int64_t>(matrix.entries.size()) != CheckedMultiply(matrix.num_rows, n)) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' is {} x {}; it must have {} columns",
         attribute.name, matrix.num_rows, matrix.num_columns, n);
  }
  const QueryMatrix queries(attribute);
  ResidualBasis basis;
  basis.size = n;
  basis.squared_sensitivity = SquaredSensitivity(matrix);
  basis.variance_factor = 1;
  basis.privacy_cost = basis.squared_sensitivity.get_d();

  const double scale = std::sqrt(basis.privacy_cost);
  const auto beside = n > kLargeBasis && inversion == Inversion::kFastest
                          ? ColumnBesideTriangle(matrix)
                          : std::nullopt;
  SplitInverse split =
      beside ? InverseOfTriangle(matrix, *beside, scale) : InverseOfAny(matrix, scale);
  // Not-a-number fails this comparison too.
  if (!(split.error <= kReproduced)) {
    Fail(ErrorKind::kRefused,
         "the basis of attribute '{}' is degenerate: its rows and the total do not determine the "
         "queries",
         attribute.name);
  }
  basis.inverse =
      std::make_shared<BasisInverse>(std::move(split.constant), std::move(split.residual));
  if (matrix.num_rows < n - 1) {
    RowMajorMatrix rows(matrix.num_rows, n);
    for (size_t k = 0; k < matrix.entries.size(); ++k) {
      rows.data()[k] = static_cast<double>(matrix.entries[k]);
    }
    const MatrixXd columns = rows;
    for (int64_t q = 0; q < queries.num_answers(); ++q) {
      const VectorXd row = queries.Row(q);
      const VectorXd again = VectorXd::Constant(n, row.dot(basis.inverse->constant)) +
                             TransposedProduct(columns, basis.inverse->RowWeights(row));
      if ((again - row).cwiseAbs().maxCoeff() > kReproduced * row.cwiseAbs().maxCoeff()) {
        Fail(ErrorKind::kRefused, "the basis of attribute '{}' cannot answer its query {}",
             attribute.name, q);
      }
    }
  }
  const VectorXd residual = queries.SquaredNorms(basis.inverse->residual);
  const VectorXd constant = queries.Apply(basis.inverse->constant).cwiseAbs2();
  std::vector<QueryVariance> points;
  points.reserve(static_cast<size_t>(queries.num_answers()));
  for (Eigen::Index q = 0; q < residual.size(); ++q) {
    points.push_back({std::max(0.0, residual(q)), constant(q)});
  }
  SetVariances(attribute, std::move(points), &basis);
  basis.matrix = std::move(matrix);
  return basis;
}

}  // namespace residua
