#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <map>
#include <set>

#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/integer_basis.h"
#include "residua/basis/tree/tree_inverse.h"
#include "residua/basis/tree/tree_solver.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd DenseOf(const TreeMatrix& matrix) {
  const IntegerMatrix expanded = Expanded(matrix);
  MatrixXd dense(expanded.num_rows, expanded.num_columns);
  for (int64_t row = 0; row < expanded.num_rows; ++row) {
    for (int64_t k = 0; k < expanded.num_columns; ++k) {
      dense(row, k) = static_cast<double>(
          expanded.entries[static_cast<size_t>(row * expanded.num_columns + k)]);
    }
  }
  return dense;
}

// From the definitions alone.
MatrixXd DenseByDefinition(const TreeMatrix& matrix) {
  const CellTree& tree = *matrix.tree;
  const int64_t n = tree.num_cells;
  MatrixXd below = MatrixXd::Zero(n + tree.num_nodes(), n);
  below.topRows(n).setIdentity();
  std::vector<VectorXd> lines;
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    const int64_t count = tree.num_children(node);
    int64_t sum = 0;
    for (int64_t c = 0; c < count; ++c) {
      below.row(n + node) += below.row(tree.children_of(node)[c]);
      sum += rows.shares.empty() ? 1 : rows.shares[static_cast<size_t>(c)];
    }
    for (int64_t c = 0; c < (rows.dense.empty() ? count : count - 1); ++c) {
      VectorXd line = VectorXd::Zero(n);
      if (rows.dense.empty()) {
        const double share =
            rows.shares.empty() ? 1.0 : static_cast<double>(rows.shares[static_cast<size_t>(c)]);
        const size_t of = rows.factors.size() == 1 ? 0 : static_cast<size_t>(c);
        line = static_cast<double>(rows.factors[of]) *
               (static_cast<double>(sum) * below.row(tree.children_of(node)[c]) -
                share * below.row(n + node))
                   .transpose();
      }
      for (int64_t d = 0; d < count && !rows.dense.empty(); ++d) {
        line += static_cast<double>(rows.dense[static_cast<size_t>(c * count + d)]) *
                below.row(tree.children_of(node)[d]).transpose();
      }
      lines.push_back(line);
    }
  }
  MatrixXd dense(lines.size(), n);
  for (size_t k = 0; k < lines.size(); ++k) dense.row(static_cast<int64_t>(k)) = lines[k];
  return dense;
}

// One of each kind in turn.
CellTree AnyTree(const Attribute& attribute, int trial) {
  if (trial % 3 == 0) return BlockTree(attribute);
  const auto cut = CutTree(attribute, 2 + trial % 7);
  return trial % 3 == 1 && cut ? *cut : *GroupTree(attribute);
}

TEST(CellTreeTest, BlocksAreTheCellsInTheSameGroups) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    Attribute attribute = Named(3 + static_cast<int64_t>(random() % 12), QueryKind::kHierarchy);
    for (size_t g = 0; g < 1 + random() % 5; ++g) {  // overlapping ones too
      CellGroup group;
      for (int64_t cell = 0; cell < attribute.size; ++cell) {
        if (random() % 2 == 0) group.cells.push_back(cell);
      }
      if (!group.cells.empty()) attribute.groups.push_back(group);
    }
    const auto groups_of = [&](int64_t cell) {
      std::set<size_t> in;
      for (size_t g = 0; g < attribute.groups.size(); ++g) {
        const auto& cells = attribute.groups[g].cells;
        if (std::find(cells.begin(), cells.end(), cell) != cells.end()) in.insert(g);
      }
      return in;
    };
    const CellTree tree = BlockTree(attribute);
    EXPECT_EQ(tree.kind, CellTree::Kind::kBlocks);
    std::set<std::set<size_t>> kinds;
    for (int64_t a = 0; a < attribute.size; ++a) {
      kinds.insert(groups_of(a));
      for (int64_t b = 0; b < a; ++b) {
        const int64_t root = tree.num_nodes() - 1;
        const int64_t above = tree.parent[static_cast<size_t>(a)];
        const bool together = above == tree.parent[static_cast<size_t>(b)];
        if (above == root && together && tree.num_nodes() == 1) continue;  // one block, or none
        EXPECT_EQ(together && above != root, groups_of(a) == groups_of(b));
      }
    }
    if (kinds.size() > 1) {
      EXPECT_EQ(tree.num_children(tree.num_nodes() - 1), static_cast<int64_t>(kinds.size()));
    }
  }
}

TEST(CellTreeTest, GroupsMakeATreeUnlessTheyOverlap) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 20), random);
    const auto tree = GroupTree(attribute);
    ASSERT_TRUE(tree);
    std::vector<std::vector<int64_t>> below(
        static_cast<size_t>(tree->num_cells + tree->num_nodes()));
    for (size_t v = 0; v < below.size(); ++v) {
      if (tree->is_cell(static_cast<int64_t>(v))) below[v] = {static_cast<int64_t>(v)};
      std::sort(below[v].begin(), below[v].end());
      const int64_t parent = tree->parent[v];
      EXPECT_EQ(parent < 0, v + 1 == below.size());
      if (parent < 0) continue;
      auto& above = below[static_cast<size_t>(tree->num_cells + parent)];
      above.insert(above.end(), below[v].begin(), below[v].end());
    }
    EXPECT_EQ(static_cast<int64_t>(below.back().size()), attribute.size);
    const std::vector<int64_t> vertices = VerticesOfGroups(attribute, *tree);
    for (size_t g = 0; g < attribute.groups.size(); ++g) {
      EXPECT_EQ(below[static_cast<size_t>(vertices[g])], attribute.groups[g].cells);
    }
    for (int64_t node = 0; node < tree->num_nodes(); ++node) {
      EXPECT_GE(tree->num_children(node), 2);
    }
  }
  Attribute overlap = Named(5, QueryKind::kHierarchy);
  overlap.groups = {{"a", {0, 1, 2}}, {"b", {2, 3}}};
  EXPECT_FALSE(GroupTree(overlap));
}

TEST(TreeMatrixTest, AgreesWithTheDenseMatrix) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 80; ++trial) {
    const Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 15), random);
    const TreeMatrix matrix = RandomTreeMatrix(AnyTree(attribute, trial), random);
    CheckTreeMatrix(attribute, matrix);
    const MatrixXd dense = DenseByDefinition(matrix);
    ASSERT_EQ(NumRowsOf(ResidualMatrix(matrix), attribute.size), dense.rows());
    EXPECT_EQ(DenseOf(matrix), dense);
    EXPECT_EQ(static_cast<double>(LargestEntryOf(matrix)), dense.cwiseAbs().maxCoeff());
    const MatrixXd products = dense.transpose() * dense;
    EXPECT_EQ(SquaredSensitivity(matrix).get_d(), products.diagonal().maxCoeff());
    double least = 0;
    for (int64_t a = 0; a < attribute.size; ++a) {
      for (int64_t b = 0; b < a; ++b) least = std::min(least, products(a, b));
    }
    EXPECT_EQ(LargestNegativeProduct(matrix).get_d(), -least);
    // Along the middle axis of a tensor.
    const int64_t inner = 1 + static_cast<int64_t>(random() % 3);
    std::vector<double> values(static_cast<size_t>(2 * attribute.size * inner));
    for (double& value : values) value = static_cast<double>(random() % 100);
    std::vector<double> results(static_cast<size_t>(2 * dense.rows() * inner));
    ApplyTree(matrix, {2, attribute.size, inner}, values.data(), results.data());
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t row = 0; row < dense.rows(); ++row) {
        for (int64_t i = 0; i < inner; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < attribute.size; ++k) {
            sum +=
                dense(row, k) * values[static_cast<size_t>((o * attribute.size + k) * inner + i)];
          }
          EXPECT_EQ(results[static_cast<size_t>((o * dense.rows() + row) * inner + i)], sum);
        }
      }
    }
  }
}

// With any noise of the total, [z | P] is the best linear unbiased estimate, in spite of rows that
// depend on each other: (1 1^T + Sub^T Sub)^-1 = z z^T + P P^T.
TEST(TreeInverseTest, IsTheBestEstimateFromTheDenseMatrix) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 80; ++trial) {
    const Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 15), random);
    const TreeMatrix matrix = RandomTreeMatrix(AnyTree(attribute, trial), random);
    const int64_t n = attribute.size;
    const ResidualBasis basis = BasisFromTree(attribute, matrix);
    const StructuredInverse& tree = *basis.inverse->structured;
    const MatrixXd sub = DenseOf(matrix);
    const VectorXd z = basis.inverse->constant;
    MatrixXd p(n, sub.rows());
    for (int64_t k = 0; k < n; ++k) p.row(k) = tree.RowWeights(VectorXd::Unit(n, k)).transpose();
    EXPECT_LT((z * VectorXd::Ones(n).transpose() + p * sub - MatrixXd::Identity(n, n)).norm(),
              1e-11);
    EXPECT_LT((sub * z).norm(), 1e-11 * sub.norm());
    EXPECT_LT(p.colwise().sum().norm(), 1e-12);
    const MatrixXd best = (MatrixXd::Ones(n, n) + sub.transpose() * sub).inverse();
    const MatrixXd product = p * p.transpose();
    EXPECT_LT((best - z * z.transpose() - product).norm(), 1e-10 * best.norm());

    const MatrixXd queries = oracle::DenseQueries(attribute);
    const std::vector<QueryVariance> variances = tree.Variances(QueryMatrix(attribute));
    ASSERT_EQ(static_cast<int64_t>(variances.size()), queries.rows());
    QueryVariance mean;
    for (int64_t q = 0; q < queries.rows(); ++q) {
      const QueryVariance& variance = variances[static_cast<size_t>(q)];
      const double residual = (queries.row(q) * p).squaredNorm();
      const double constant = std::pow(queries.row(q).dot(z), 2);
      EXPECT_NEAR(variance.residual, residual, 1e-12 * product.norm());
      EXPECT_NEAR(variance.constant, constant, 1e-12);
      mean.residual += residual / static_cast<double>(queries.rows());
      mean.constant += constant / static_cast<double>(queries.rows());
      const QueryCovariance covariance = CovarianceOf(
          basis, queries.row(q).transpose(), queries.row((q * 5) % queries.rows()).transpose());
      EXPECT_NEAR(covariance.residual,
                  (queries.row(q) * product).dot(queries.row((q * 5) % queries.rows())),
                  1e-12 * product.norm() * static_cast<double>(n));
    }
    EXPECT_NEAR(basis.mean.residual, mean.residual, 1e-12 * product.norm());
    EXPECT_NEAR(basis.mean.constant, mean.constant, 1e-12);

    const int64_t inner = 1 + static_cast<int64_t>(random() % 3);
    const auto draw = [&](int64_t count) {
      VectorXd values(count);
      for (double& value : values) value = static_cast<double>(random() % 1000) / 7;
      return values;
    };
    const VectorXd rows = draw(2 * sub.rows() * inner);
    const VectorXd constant = draw(2 * inner);
    VectorXd result(2 * n * inner);
    tree.Apply(2, inner, rows.data(), constant.data(), result.data());
    VectorXd products = draw(2 * n * inner);
    const VectorXd before = products;
    tree.ApplyProduct(2, inner, products.data());
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        VectorXd measured(sub.rows());
        for (int64_t k = 0; k < sub.rows(); ++k) {
          measured(k) = rows((o * sub.rows() + k) * inner + i);
        }
        const VectorXd cells = p * measured + z * constant(o * inner + i);
        VectorXd vector(n);
        for (int64_t k = 0; k < n; ++k) vector(k) = before((o * n + k) * inner + i);
        const VectorXd spread = product * vector;
        for (int64_t k = 0; k < n; ++k) {
          EXPECT_NEAR(result((o * n + k) * inner + i), cells(k), 1e-10 * (1 + cells.norm()));
          EXPECT_NEAR(products((o * n + k) * inner + i), spread(k), 1e-10 * (1 + spread.norm()));
        }
      }
    }
  }
}

TEST(TreeMatrixTest, RefusesNumbersThatDoNotFit) {
  const Attribute attribute = TwoLevels({2, 3});
  std::mt19937 random(5);
  const auto message = [&](const auto& change) -> std::string {
    TreeMatrix matrix{std::make_shared<const CellTree>(BlockTree(attribute)),
                      {{{3}, {}, {}}, {{4}, {}, {}}, {{}, {}, {1, -1}}}};
    change(&matrix);
    try {
      BasisFromTree(attribute, matrix);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return error.what();
    }
    return "";
  };
  const std::string of = "the basis of attribute 'a' does not fit its groups: ";
  EXPECT_EQ(message([](TreeMatrix*) {}), "");
  EXPECT_EQ(message([](TreeMatrix* m) { m->nodes.pop_back(); }),
            of + "it has another number of nodes");
  EXPECT_EQ(message([](TreeMatrix* m) { m->nodes[0].factors = {0}; }),
            of + "a factor is not positive, or too large");
  EXPECT_EQ(message([](TreeMatrix* m) { m->nodes[0].factors = {INT64_MAX}; }),
            of + "a factor is not positive, or too large");
  EXPECT_EQ(message([](TreeMatrix* m) {
              m->nodes[1].shares = {1, -1, 1};
            }),
            of + "a share is not positive, or too large");
  EXPECT_EQ(message([](TreeMatrix* m) {
              m->nodes[1].shares = {INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2};
            }),
            of + "a share is not positive, or too large");
  EXPECT_EQ(message([](TreeMatrix* m) { m->nodes[1].shares = {1}; }),
            of + "a node has another number of factors or shares");
  EXPECT_EQ(message([](TreeMatrix* m) { m->nodes[2].dense = {1}; }),
            of + "a node has another number of rows");
  EXPECT_EQ(message([](TreeMatrix* m) {
              m->nodes[2].dense = {2, 2};
            }),
            "the basis of attribute 'a' is degenerate: its rows and the total do not determine the "
            "queries");
}

std::vector<Attribute> BlockExamples() {
  Attribute deep = TwoLevels({4, 1, 6, 3, 3}, 1);
  deep.groups.push_back({"upper", {0, 1, 2, 3, 4}});
  deep.groups.push_back({"same", {0, 1, 2, 3, 4}});
  deep.groups.push_back({"one", {7}});
  Attribute overlap = TwoLevels({5, 4, 4}, 2);
  overlap.groups.push_back({"across", {3, 4, 5, 6}});
  return {TwoLevels({5, 5, 5}), TwoLevels({2, 9, 1, 1, 4}, 1), TwoLevels({3, 3}, 3), deep, overlap};
}

TEST(StrategySolverTest, TheQuotientIsTheDenseProblem) {
  for (const Attribute& attribute : BlockExamples()) {
    const QuerySpace dense_space(AsCustom(attribute));
    const CellTree tree = BlockTree(attribute);
    const QuerySpace space(attribute, tree);
    for (const BasisKind kind : {BasisKind::kOblique, BasisKind::kOrthogonal}) {
      for (const StrategyGoal goal : {StrategyGoal::kMean, StrategyGoal::kMax}) {
        for (const double trade_off : {-1.0, 0.0, 2.5}) {
          // There neither comes to its end in this many steps.
          if (goal == StrategyGoal::kMax && trade_off < 0) continue;
          StrategySolver dense(dense_space, kind, goal);
          StrategySolver solver(space, kind, goal);
          const double tolerance = goal == StrategyGoal::kMax ? 1e-5 : 1e-9;
          const Strategy a = dense.Solve(trade_off, tolerance, 3000);
          const Strategy b = solver.Solve(trade_off, tolerance, 3000);
          EXPECT_LE(b.relative_gap, a.relative_gap + 2 * tolerance);
          const double digits = goal == StrategyGoal::kMax ? 2e-2 : 1e-5;
          EXPECT_NEAR(a.privacy_cost, b.privacy_cost, digits);
          EXPECT_NEAR(a.residual_mean * a.privacy_cost / (b.residual_mean * b.privacy_cost), 1,
                      digits);
          EXPECT_NEAR(a.constant_mean / b.constant_mean, 1, digits);
          if (goal == StrategyGoal::kMax) {
            EXPECT_NEAR(a.residual_variance.maxCoeff() / b.residual_variance.maxCoeff(), 1, digits);
          }
          // In integers: the same figures, exactly priced.
          const TreeMatrix matrix = RoundBlocks(space, std::make_shared<const CellTree>(tree),
                                                FactorBasis(b.gram, b.constant), b.left_over, 16);
          const ResidualBasis basis = BasisFromTree(attribute, matrix);
          if (goal == StrategyGoal::kMean) {
            EXPECT_NEAR(
                basis.privacy_cost * basis.mean.residual / (b.privacy_cost * b.residual_mean), 1,
                1e-4);
            EXPECT_NEAR(basis.mean.constant / b.constant_mean, 1, 1e-4);
          }
        }
      }
    }
  }
}

// The same to rounding on the sizes that dense bases are known for.
TEST(StrategySolverTest, TheQuotientOf200And500CellsIsTheDenseProblem) {
  for (const int64_t num_groups : {10, 20}) {
    std::vector<int64_t> sizes(static_cast<size_t>(num_groups), num_groups == 10 ? 20 : 25);
    const Attribute attribute = TwoLevels(sizes);
    const QuerySpace dense_space(attribute);
    const QuerySpace space(attribute, BlockTree(attribute));
    StrategySolver dense(dense_space, BasisKind::kOblique, StrategyGoal::kMean);
    StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
    const Strategy a = dense.Solve(1, 1e-9, 100);
    const Strategy b = solver.Solve(1, 1e-9, 100);
    EXPECT_NEAR(a.privacy_cost / b.privacy_cost, 1, 1e-12);
    EXPECT_NEAR(a.residual_mean / b.residual_mean, 1, 1e-12);
    EXPECT_NEAR(a.constant_mean / b.constant_mean, 1, 1e-12);
  }
}

double Objective(const Strategy& strategy, double trade_off, double height) {
  const double c = 1 - strategy.privacy_cost;
  return strategy.residual_mean + (strategy.constant_mean + std::expm1(trade_off) / height) / c;
}

// Never below the optimum; equal to it where all subtrees of a node are alike, near it elsewhere.
TEST(TreeSolverTest, IsNearTheOptimum) {
  Attribute even = TwoLevels({3, 3, 3, 3, 3, 3, 3, 3});
  even.groups.push_back({"left", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}});
  even.groups.push_back({"right", {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}});
  Attribute uneven = TwoLevels({1, 9, 2, 30, 4, 3, 3, 12}, 1);
  uneven.groups.push_back({"left", {}});
  for (int64_t k = 0; k < 12; ++k) uneven.groups.back().cells.push_back(k);
  struct Case {
    Attribute attribute;
    double most_above;
  };
  for (const Case& c : {Case{TwoLevels({5, 5, 5}), 1e-7}, Case{even, 1e-7}, Case{uneven, 5e-4},
                        Case{TwoLevels({40, 2, 1, 7}), 1e-4}}) {
    const QuerySpace dense_space(AsCustom(c.attribute));
    const MatrixXd gram =
        dense_space.queries.Gram() / static_cast<double>(dense_space.queries.num_answers());
    const double height = VectorXd(gram.ldlt().solve(dense_space.ones)).sum();
    for (const double trade_off : {-1.0, 0.0, 3.0}) {
      StrategySolver dense(dense_space, BasisKind::kOblique, StrategyGoal::kMean);
      const Strategy best = dense.Solve(trade_off, 1e-9, 4000);
      TreeSolver solver(c.attribute, std::make_shared<const CellTree>(*GroupTree(c.attribute)),
                        StrategyGoal::kMean);
      const Strategy strategy = solver.Solve(trade_off, 1e-9, 4000);
      EXPECT_LE(strategy.relative_gap, 1e-6);
      const double excess =
          Objective(strategy, trade_off, height) / Objective(best, trade_off, height) - 1;
      EXPECT_GE(excess, -1e-8);
      EXPECT_LE(excess, c.most_above);
      const ResidualBasis basis = BasisFromTree(
          c.attribute, RoundTree(std::make_shared<const CellTree>(*GroupTree(c.attribute)),
                                 strategy.tree_precision, strategy.tree_share, 16));
      EXPECT_NEAR(basis.privacy_cost * basis.mean.residual /
                      (strategy.privacy_cost * strategy.residual_mean),
                  1, 5e-4);
      EXPECT_NEAR(basis.mean.constant / strategy.constant_mean, 1, 1e-2);
    }
    // The largest variance: trade-offs other than 0 are stated for the weights that each starts from.
    TreeSolver solver(c.attribute, std::make_shared<const CellTree>(*GroupTree(c.attribute)),
                      StrategyGoal::kMax);
    const Strategy strategy = solver.Solve(0, 1e-3, 2000);
    StrategySolver dense(dense_space, BasisKind::kOblique, StrategyGoal::kMax);
    const Strategy best = dense.Solve(0, 1e-4, 3000);
    const auto largest = [](const Strategy& s) {
      return (s.residual_variance + s.constant_variance / (1 - s.privacy_cost)).maxCoeff();
    };
    EXPECT_LE(largest(strategy), 1.002 * largest(best));
  }
}

}  // namespace
}  // namespace residua
