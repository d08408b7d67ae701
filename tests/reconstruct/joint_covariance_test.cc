#include "residua/reconstruct/joint_covariance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "residua/reconstruct/nonnegative_tables.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/reconstruct/noisy_release.h"

namespace residua {
namespace {

TEST(JointCovariance, IsThatOfTheCellsLessTheTotalsNoise) {
  std::mt19937_64 random(1);
  DeterministicBits bits(1);
  for (int trial = 0; trial < 40; ++trial) {
    const SmallRelease release = NoisyRelease(Bases::kAny, random, &bits);
    const ResidualIndex index = release.Index();
    const std::vector<AttributeSet> tables = ReconstructNonnegative(index, release.sets).tables;
    if (tables.front().empty()) continue;
    JointCovariance covariance(index, tables);
    std::vector<ProductQuery> cells;
    std::vector<double> constants;  // what each cell has of the total
    for (const AttributeSet& table : tables) {
      std::vector<int64_t> cell(table.size(), 0);
      for (int64_t c = 0; c < NumCellsInMemory(release.domain, table); ++c) {
        double constant = 1;
        int64_t rest = c;
        for (size_t k = table.size(); k-- > 0;) {
          const ResidualBasis& basis = release.bases[static_cast<size_t>(table[k])];
          cell[k] = rest % basis.size;
          rest /= basis.size;
          constant *= basis.is_identity() ? 1 / static_cast<double>(basis.size)
                                          : basis.inverse->constant(cell[k]);
        }
        cells.push_back(ProductQuery::Cell(release.domain, table, cell));
        constants.push_back(constant);
      }
    }
    ASSERT_EQ(covariance.num_cells(), static_cast<int64_t>(cells.size()));
    std::vector<double> unit(cells.size(), 0.0), column(cells.size());
    double largest = 0;
    for (const ProductQuery& cell : cells) largest = std::max(largest, Variance(index, cell));
    for (size_t a = 0; a < cells.size(); a += 7) {
      unit[a] = 1;
      covariance.Apply(unit, column);
      unit[a] = 0;
      for (size_t b = 0; b < cells.size(); ++b) {
        const double expected = Covariance(index, cells[a], cells[b]) -
                                index.Find(AttributeSet{})->variance * constants[a] * constants[b];
        ASSERT_NEAR(column[b], expected, 1e-9 * largest);
      }
    }
  }
}

// With identity attributes K <= diag(scales): the steps of the iteration are never too long.
TEST(JointCovariance, IsBoundedByItsScales) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int64_t> sizes;
    for (int i = 0; i < 4; ++i) sizes.push_back(2 + static_cast<int64_t>(random() % 3));
    SmallRelease release =
        MakeSmallRelease(sizes, std::vector<bool>(4, false), {{0, 1}, {0, 2, 3}, {1, 2}}, random);
    release.Measure(nullptr);
    const ResidualIndex index = release.Index();
    JointCovariance covariance(index, std::vector<AttributeSet>{{0, 1}, {0, 2, 3}, {1, 2}});
    const int64_t n = covariance.num_cells();
    Eigen::MatrixXd dense(n, n);
    const std::vector<double> scales = covariance.Scales();
    Eigen::VectorXd bound(n);
    for (size_t t = 0; t < covariance.num_tables(); ++t) {
      bound.segment(covariance.begin(t), covariance.begin(t + 1) - covariance.begin(t))
          .setConstant(1 / std::sqrt(scales[t]));
    }
    for (int64_t k = 0; k < n; ++k) {
      std::vector<double> unit(static_cast<size_t>(n), 0.0), column(static_cast<size_t>(n));
      unit[static_cast<size_t>(k)] = 1;
      covariance.Apply(unit, column);
      dense.col(k) = AsVector(column);
    }
    EXPECT_LT((dense - dense.transpose()).norm(), 1e-12 * dense.norm());
    const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(
                                            bound.asDiagonal() * dense * bound.asDiagonal())
                                            .eigenvalues();
    EXPECT_LT(eigenvalues.maxCoeff(), 1 + 1e-9);
    EXPECT_GT(eigenvalues.maxCoeff(), 0.2);
    EXPECT_GT(eigenvalues.minCoeff(), -1e-9);
  }
}

}  // namespace
}  // namespace residua
