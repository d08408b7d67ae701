#include "residua/select/bound/attribute_split.h"

#include <gtest/gtest.h>

#include "residua/basis/strategy_solver.h"

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
        const Eigen::VectorXd lambda = ScaledToOne(solver.multipliers());
        const AttributeFrame frame = FrameOf(space, solver.query_weights());
        const AttributeSplit dense = SplitWithActive(RootOf(frame, lambda), 2);
        const AttributeSplit sparse =
            SplitOfCells(solver.RootOfCells(lambda), lambda, solver.height(), 2);
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
  const BidiagonalRoot root = solver.RootOfCells(lambda);
  const AttributeSplit one = SplitOfCells(root, lambda, solver.height(), 1);
  const AttributeSplit three = SplitOfCells(root, lambda, solver.height(), 3);
  EXPECT_EQ(one.num_active, 1);
  EXPECT_EQ(three.num_active, 3);
  const double trace = RootOf(FrameOf(space, solver.query_weights()), lambda).trace;
  EXPECT_NEAR(one.corner + one.rest, trace, 1e-8 * trace);
  EXPECT_LT(three.rest, one.rest);
}

}  // namespace
}  // namespace residua
