#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <unsupported/Eigen/KroneckerProduct>
#include <vector>

#include "residua/measure/measure_with_bits.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/means/number_rows.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {

inline constexpr double kQuantile = 1.959963984540054;  // of 0.95

inline std::vector<NoisyResidual> MeasuredWith(const Plan& plan, const EncodedTable& table,
                                               BitSource& bits) {
  MeasureOptions options;
  options.counting.num_threads = 1;
  std::vector<NoisyResidual> residuals;
  MeasureWithBits(
      MeasurablePlan(VerifiedPlan(plan), table.num_rows(), {}), table, options,
      [&]() -> BitSource& { return bits; },
      [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
  return residuals;
}

inline MeanColumns ColumnsOf(const Plan& plan, const ResidualIndex& index,
                             const AttributeSet& table) {
  return MeanColumnsOf(plan, index, table, AxesOf(plan, AnswerKind::kPlanned),
                       Reconstruct(index, table), kQuantile);
}

// Everything that was measured, in one release or in several, as one least-squares problem over the
// cells of the whole domain, in which rows are split. It shares nothing with reconstruction but what
// the file of a measurement says: value = scale * (matrix counts) + noise.
struct DenseFit {
  struct Part {
    const Plan& plan;
    const std::vector<NoisyResidual>& residuals;
  };
  explicit DenseFit(const std::vector<Part>& parts) : domain(parts.front().plan.domain) {
    Eigen::MatrixXd normal;
    Eigen::VectorXd right;
    for (const Part& part : parts) Add(part, normal, right);
    inverse = normal.completeOrthogonalDecomposition().pseudoInverse();
    counts = inverse * right;
  }

  void Add(const Part& part, Eigen::MatrixXd& normal, Eigen::VectorXd& right) const {
    const auto& [plan, residuals] = part;
    const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
    std::vector<Eigen::MatrixXd> matrices;
    for (const ResidualBasis& basis : bases) {
      const int64_t n = basis.size;
      if (const auto* integers = std::get_if<IntegerMatrix>(&basis.matrix)) {
        Eigen::MatrixXd dense(integers->num_rows, n);
        for (int64_t k = 0; k < dense.size(); ++k) {
          dense(k / n, k % n) = static_cast<double>(integers->entries[static_cast<size_t>(k)]);
        }
        matrices.push_back(dense);
      } else {
        matrices.push_back(static_cast<double>(n) * Eigen::MatrixXd::Identity(n, n) -
                           Eigen::MatrixXd::Ones(n, n));
      }
    }
    for (const NoisyResidual& residual : residuals) {
      const Eigen::MatrixXd rows = oracle::KroneckerOver(domain, residual.attributes, matrices);
      const double scale = std::ldexp(static_cast<double>(RowSteps(domain, residual.attributes)),
                                      residual.scale_bits);
      Eigen::VectorXd values(rows.rows());
      std::visit(
          [&](const auto& integers) {
            for (Eigen::Index k = 0; k < values.size(); ++k) {
              values[k] = static_cast<double>(integers[static_cast<size_t>(k)]) / scale;
            }
          },
          residual.values);
      const double precision = 1 / residual.noise_variance.get_d();
      if (normal.size() == 0) {
        normal = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
        right = Eigen::VectorXd::Zero(rows.cols());
      }
      normal += precision * rows.transpose() * rows;
      right += precision * rows.transpose() * values;
    }
  }

  // The answers of the table on `set` whose query along the attribute of the mean is `along`.
  Eigen::MatrixXd Queries(const AttributeSet& set, const Eigen::RowVectorXd& along) const {
    std::vector<Eigen::MatrixXd> in_set;
    for (const Attribute& attribute : domain.attributes()) {
      in_set.push_back(MeanOf(attribute) != nullptr ? Eigen::MatrixXd(along)
                                                    : oracle::DenseQueries(attribute));
    }
    return oracle::KroneckerOver(domain, set, in_set);
  }

  Domain domain;
  Eigen::VectorXd counts;
  Eigen::MatrixXd inverse;
};

// The columns of the table are those of the fit, to so many standard deviations.
inline void ExpectDenseMeans(const DenseFit& fit, const AttributeSet& table,
                             const MeanColumns& columns, double tolerance = 1e-7) {
  const Domain& domain = fit.domain;
  const int mean = MeanAttribute(domain, table);
  const MeanEncoding& of_table = *MeanOf(domain[mean]);
  Eigen::RowVectorXd ones = Eigen::RowVectorXd::Zero(domain[mean].size);
  ones.head(2).setOnes();
  Eigen::RowVectorXd ends = Eigen::RowVectorXd::Zero(domain[mean].size);
  ends[0] = DecimalValue(of_table.low, of_table.decimals);
  ends[1] = DecimalValue(of_table.high, of_table.decimals);
  const Eigen::MatrixXd count = fit.Queries(table, ones);
  const Eigen::MatrixXd sum = fit.Queries(table, ends);
  ASSERT_EQ(std::ssize(columns.counts), count.rows());
  for (Eigen::Index k = 0; k < count.rows(); ++k) {
    const auto row = static_cast<size_t>(k);
    const Estimate c{count.row(k) * fit.counts,
                     count.row(k) * fit.inverse * count.row(k).transpose()};
    const Estimate s{sum.row(k) * fit.counts, sum.row(k) * fit.inverse * sum.row(k).transpose()};
    const double covariance = sum.row(k) * fit.inverse * count.row(k).transpose();
    const double count_std_dev = std::sqrt(c.variance);
    const double sum_std_dev = std::sqrt(s.variance);
    EXPECT_NEAR(columns.counts[row], c.value, tolerance * count_std_dev + 1e-7);
    EXPECT_NEAR(columns.count_std_devs[row], count_std_dev, tolerance * count_std_dev);
    EXPECT_NEAR(columns.sums[row], s.value,
                tolerance * sum_std_dev + 1e-7 * (1 + std::abs(s.value)));
    EXPECT_NEAR(columns.sum_std_devs[row], sum_std_dev, 10 * tolerance * sum_std_dev);
    const auto expected = EstimateMean(RangeOf(of_table), s, c, covariance, kQuantile);
    ASSERT_EQ(std::isnan(columns.means[row]), !expected);
    if (!expected) continue;
    const double std_dev = std::sqrt(expected->variance);
    EXPECT_NEAR(columns.means[row], expected->value,
                tolerance * std_dev + 1e-6 * (1 + std::abs(expected->value)));
    EXPECT_NEAR(columns.mean_std_devs[row], std_dev, 100 * tolerance * std_dev);
    const double width = expected->interval.upper - expected->interval.lower;
    EXPECT_NEAR(columns.mean_lower[row], expected->interval.lower, 100 * tolerance * width);
    EXPECT_NEAR(columns.mean_upper[row], expected->interval.upper, 100 * tolerance * width);
  }
}

// Whether `hits` of `tries` is what a probability of `chance` gives, at a level of 1e-4.
inline bool Fits(int hits, int tries, double chance) {
  const double expected = tries * chance;
  return std::abs(hits - expected) <= 3.9 * std::sqrt(expected * (1 - chance));
}

}  // namespace residua
