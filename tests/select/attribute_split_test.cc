#include "residua/select/bound/attribute_split.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "residua/basis/strategy_solver.h"
#include "residua/select/bound/smooth_multipliers.h"

namespace residua {
namespace {

Attribute AttributeOf(int64_t size, QueryKind queries) {
  Attribute attribute;
  attribute.name = "a";
  attribute.size = size;
  attribute.queries = queries;
  return attribute;
}

// With two directions, e_1 and S e_1, both ways split the same space.
TEST(AttributeSplitTest, WithoutAnythingDenseIsTheDenseOne) {
  struct Case {
    QueryKind queries;
    StrategyGoal goal;
  };
  for (const Case& one :
       {Case{QueryKind::kPrefix, StrategyGoal::kMean}, Case{QueryKind::kPrefix, StrategyGoal::kMax},
        Case{QueryKind::kRange, StrategyGoal::kMean}}) {
    for (const int64_t size : {2, 3, 10, 150}) {
      for (const double trade_off : {-1.0, 2.0}) {
        const QuerySpace space(AttributeOf(size, one.queries));
        StrategySolver solver(space, BasisKind::kOblique, one.goal);
        ASSERT_TRUE(solver.is_fast());
        solver.Solve(trade_off, 1e-4, 60, false);
        const Eigen::VectorXd solved = solver.multipliers();
        const Eigen::VectorXd lambda = ScaledToOne(
            one.queries == QueryKind::kRange ? Eigen::VectorXd(solved + solved.reverse()) : solved);
        const AttributeFrame frame = FrameOf(space, solver.query_weights());
        const AttributeSplit dense = SplitWithActive(RootOf(frame, lambda), 2);
        const AttributeSplit sparse = one.queries == QueryKind::kRange
                                          ? SplitOfRanges(lambda, 1, 2)
                                          : SplitOfPrefixes(solver.query_weights(), lambda, 1, 2);
        // The dense one takes off what its eigenvalues may be too large by.
        const double tolerance = size < 100 ? 1e-7 : 2e-5;
        EXPECT_NEAR(sparse.height, dense.height, 1e-8 * dense.height);
        EXPECT_NEAR(sparse.rest, dense.rest, tolerance * (1 + dense.rest));
        ASSERT_EQ(sparse.num_active, dense.num_active);
        EXPECT_NEAR(sparse.corner, dense.corner, tolerance);
        EXPECT_NEAR(sparse.link, dense.link, tolerance * (1 + dense.link));
        EXPECT_NEAR(sparse.second, dense.second, tolerance * (1 + dense.second));
      }
    }
  }
}

TEST(AttributeSplitTest, KeepsAllOfTheTraceWithOneDirection) {
  const QuerySpace space(AttributeOf(40, QueryKind::kPrefix));
  StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
  const Eigen::VectorXd lambda = ScaledToOne(solver.multipliers());
  const AttributeSplit one = SplitOfPrefixes(solver.query_weights(), lambda, 1, 1);
  const AttributeSplit three = SplitOfPrefixes(solver.query_weights(), lambda, 1, 3);
  EXPECT_EQ(one.num_active, 1);
  EXPECT_EQ(three.num_active, 3);
  const double trace = RootOf(FrameOf(space, solver.query_weights()), lambda).trace;
  EXPECT_NEAR(one.corner + one.rest, trace, 1e-8 * trace);
  EXPECT_LT(three.rest, one.rest);
}

double NuclearNorm(const Eigen::MatrixXd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues().sum();
}

// B of a split, with every factor.
Eigen::MatrixXd BlockOf(const AttributeSplit& split) {
  Eigen::Matrix3d scale = Eigen::Vector3d(1, split.second, split.third).asDiagonal();
  Eigen::Matrix3d twist = Eigen::Matrix3d::Identity();
  Eigen::Matrix3d link = Eigen::Matrix3d::Identity();
  twist(2, 1) = split.twist;
  link(1, 0) = split.link;
  return (split.corner * scale * twist * link).topLeftCorner(split.num_active, split.num_active);
}

// h T diag(lambda)^1/2 of every cell, with the total times `factor`.
Eigen::MatrixXd ScaledRows(const AttributeFrame& frame, const Eigen::VectorXd& lambda,
                           double factor) {
  Eigen::MatrixXd rows = frame.rows * (frame.height * lambda).cwiseSqrt().asDiagonal();
  rows.row(0) *= std::sqrt(factor);
  return rows;
}

Eigen::VectorXd SomeMultipliers(int64_t size, bool mirrored) {
  Eigen::VectorXd lambda = Eigen::VectorXd::Random(size).array().exp();
  if (mirrored) lambda += lambda.reverse().eval();
  return ScaledToOne(lambda);
}

// With the polar factor of K T diag(lambda)^1/2 the bound loses nothing where the total is asked
// for in proportion to K^2, and is never above the true norm elsewhere.
TEST(AttributeSplitTest, LosesNothingWhereThePolarFactorFits) {
  for (const QueryKind queries : {QueryKind::kPrefix, QueryKind::kRange}) {
    for (const int64_t size : {2, 3, 10, 11, 60}) {
      const QuerySpace space(AttributeOf(size, queries));
      const Eigen::VectorXd lambda = SomeMultipliers(size, queries == QueryKind::kRange);
      const AttributeFrame frame = FrameOf(space, space.share);
      for (const double total_factor : {0.3, 1.0, 40.0}) {
        for (const int num_active : {1, 2, 3}) {
          const AttributeSplit split =
              queries == QueryKind::kPrefix
                  ? SplitOfPrefixes(space.share, lambda, total_factor, num_active)
                  : SplitOfRanges(lambda, total_factor, num_active);
          EXPECT_NEAR(split.height, frame.height, 1e-8 * frame.height);
          for (const double asked : {0.1, 0.3, 1.0, 40.0, 1000.0}) {
            Eigen::MatrixXd block = BlockOf(split);
            block.row(0) *= std::sqrt(asked);
            const double bound = split.rest + NuclearNorm(block);
            const double norm = NuclearNorm(ScaledRows(frame, lambda, asked));
            EXPECT_LE(bound, norm * (1 + 1e-9));
            if (asked == total_factor) {
              EXPECT_NEAR(bound, norm, 1e-6 * norm);
            }
          }
          // The first row, which tables without the attribute ask for, is kept by two directions.
          if (split.num_active > 1) {
            EXPECT_NEAR(BlockOf(split).row(0).norm(), 1, 1e-6);
          }
        }
      }
    }
  }
}

// Multipliers from fewer cells are as good as those of many steps with all of them: the lower bound
// of the one-attribute problem is no more than 1e-4 below any strategy.
TEST(AttributeSplitTest, SmoothMultipliersAreNearTheFixedPoint) {
  for (const QueryKind queries : {QueryKind::kPrefix, QueryKind::kRange}) {
    for (const int64_t size : {500, 1025}) {
      for (const double trade_off : {0.5, 6.0}) {
        const QuerySpace space(AttributeOf(size, queries));
        StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
        const Strategy strategy = solver.Solve(trade_off, 1e-6, 60, false);
        const double c = 1 - strategy.privacy_cost;
        const double least =
            strategy.residual_mean + (strategy.constant_mean + solver.Eta(trade_off)) / c;
        const Eigen::VectorXd lambda = SmoothMultipliers(queries, size, trade_off);
        EXPECT_NEAR(lambda.sum(), 1, 1e-12);
        const double factor = std::exp(trade_off);
        const AttributeSplit split =
            queries == QueryKind::kPrefix
                ? SplitOfPrefixes(space.share, ScaledToOne(lambda), factor, 1)
                : SplitOfRanges(ScaledToOne(lambda), factor, 1);
        const double trace = split.rest + split.corner * std::sqrt(factor);
        EXPECT_LE(trace * trace / split.height, least);
        EXPECT_GE(trace * trace / split.height, least * (1 - 1e-4));
      }
    }
  }
}

}  // namespace
}  // namespace residua
