#include "residua/select/bound/weight_ascent.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua {
namespace {

// Of one table of one attribute: the trace of S, but by the parts of its split.
double BoundOfOneTable(const AttributeSplit& split) {
  Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
  block.diagonal() << 1, split.second, split.third;
  Eigen::Matrix3d twist = Eigen::Matrix3d::Identity();
  twist(2, 1) = split.twist;
  Eigen::Matrix3d link = Eigen::Matrix3d::Identity();
  link(1, 0) = split.link;
  block = split.corner * block * twist * link;
  const double norm = Eigen::JacobiSVD<Eigen::Matrix3d>(block).singularValues().sum();
  return (split.rest + norm) / std::sqrt(split.height);
}

// From equal weights to those of the one-attribute minimax problem, which is its dual.
TEST(WeightAscentTest, ReachesTheLeastLargestVarianceOfOneAttribute) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    Attribute attribute;
    attribute.name = "a";
    attribute.size = 9;
    attribute.queries = kind;
    const QuerySpace space(attribute);
    const Eigen::MatrixXd queries = oracle::DenseQueries(attribute);
    const oracle::OptimumBounds optimum = oracle::LeastMaxVariance(queries, 1000);
    const Eigen::Index num_answers = queries.rows();
    AttributeWeights weights{
        Eigen::VectorXd::Constant(num_answers, 1 / static_cast<double>(num_answers)),
        Eigen::VectorXd::Constant(9, 1.0 / 9)};
    double first = 0;
    double bound = 0;
    for (int step = 0; step < 80; ++step) {
      const AttributeFrame frame = FrameOf(space, weights.answers);
      const FrameRoot root = RootOf(frame, weights.cells);
      bound = root.trace * root.trace / frame.height;
      if (step == 0) first = bound;
      EXPECT_LE(bound, optimum.upper) << step;
      weights = AscendedWeights(space, root, weights.answers, 3, 1, BoundOfOneTable);
      EXPECT_NEAR(weights.answers.sum(), 1, 1e-12);
      EXPECT_NEAR(weights.cells.sum(), 1, 1e-12);
      EXPECT_GT(weights.answers.minCoeff(), 0);
      EXPECT_GT(weights.cells.minCoeff(), 0);
    }
    EXPECT_LT(first, 0.95 * optimum.lower);
    EXPECT_GT(bound, 0.995 * optimum.lower);
  }
}

}  // namespace
}  // namespace residua
