#include "residua/basis/query_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "residua/base/error.h"
#include "residua/basis/row_space.h"
#include "tests/basis/named_attribute.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<Attribute> Examples() {
  std::vector<Attribute> examples;
  for (const int64_t n : {2, 3, 7}) {
    examples.push_back(Named(n, QueryKind::kIdentity));
    examples.push_back(Named(n, QueryKind::kPrefix));
    examples.push_back(Named(n, QueryKind::kRange));
  }
  Attribute tree = Named(5, QueryKind::kHierarchy);
  tree.groups = {{"left", {0, 3}}, {"right", {1, 2}}, {"both", {0, 1, 2, 3}}};
  examples.push_back(tree);
  Attribute custom = Named(4, QueryKind::kCustom);
  custom.custom = {3, {1, 1, 1, 1, 0.5, -2, 0, 3, 0, 0, 1, 1}};
  examples.push_back(custom);
  return examples;
}

TEST(QueryMatrixTest, NormsOfManyCellsAreThoseOfTheDenseMatrix) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    const Attribute attribute = Named(260, kind);
    const MatrixXd p = MatrixXd::Random(260, 3);
    const VectorXd expected = (oracle::DenseQueries(attribute) * p).rowwise().squaredNorm();
    EXPECT_LT((QueryMatrix(attribute).SquaredNorms(p) - expected).norm(), 1e-10 * expected.norm());
  }
}

TEST(QueryMatrixTest, SweepsAgreeWithTheDenseMatrix) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const Attribute& attribute : Examples()) {
    const QueryMatrix queries(attribute);
    const MatrixXd dense = oracle::DenseQueries(attribute);
    ASSERT_EQ(queries.num_answers(), dense.rows());
    const VectorXd x = VectorXd::NullaryExpr(attribute.size, [&] { return normal(random); });
    EXPECT_LT((queries.Apply(x) - dense * x).norm(), 1e-12);
    const VectorXd weight =
        VectorXd::NullaryExpr(dense.rows(), [&] { return std::fabs(normal(random)); });
    EXPECT_LT((queries.Gram(weight) - dense.transpose() * weight.asDiagonal() * dense).norm(),
              1e-11);
    EXPECT_LT((queries.Gram() - dense.transpose() * dense).norm(), 1e-11);
    const MatrixXd half =
        MatrixXd::NullaryExpr(attribute.size, attribute.size, [&] { return normal(random); });
    const MatrixXd symmetric = half + half.transpose();
    EXPECT_LT(
        (queries.QuadraticForms(symmetric) - (dense * symmetric * dense.transpose()).diagonal())
            .norm(),
        1e-10);
    EXPECT_LT((queries.SquaredNorms(half) - (dense * half).rowwise().squaredNorm()).norm(), 1e-10);
    for (int64_t q = 0; q < queries.num_answers(); ++q) {
      EXPECT_EQ(queries.Row(q), VectorXd(dense.row(q)));
    }
    // Along the middle of three axes, and along the last of two.
    for (const int64_t inner : {3, 1}) {
      std::vector<double> tensor;
      for (int64_t k = 0; k < 2 * attribute.size * inner; ++k) tensor.push_back(normal(random));
      const std::vector<double> answers = queries.ApplyAlongAxis(tensor, 2, inner);
      for (int64_t o = 0; o < 2; ++o) {
        for (int64_t c = 0; c < inner; ++c) {
          VectorXd fibre(attribute.size);
          for (int64_t k = 0; k < attribute.size; ++k) {
            fibre(k) = tensor[static_cast<size_t>((o * attribute.size + k) * inner + c)];
          }
          const VectorXd expected = dense * fibre;
          for (int64_t q = 0; q < dense.rows(); ++q) {
            EXPECT_NEAR(answers[static_cast<size_t>((o * dense.rows() + q) * inner + c)],
                        expected(q), 1e-12);
          }
        }
      }
    }
  }
}

TEST(QueryMatrixTest, RangesAreNumberedBothWays) {
  for (const int64_t n : {2, 5, 100, 4096}) {
    int64_t answer = 0;
    for (int64_t first = 0; first < n; first += std::max<int64_t>(1, n / 50)) {
      for (const int64_t last : {first, (first + n - 1) / 2, n - 1}) {
        if (last < first) continue;
        answer = AnswerOfRange(n, {first, last});
        EXPECT_EQ(RangeOfAnswer(n, answer), (CellRange{first, last}));
      }
    }
    EXPECT_EQ(AnswerOfRange(n, {n - 1, n - 1}), n * (n + 1) / 2 - 1);
  }
}

TEST(QueryMatrixTest, AnswersAreLabelled) {
  Attribute age = Named(101, QueryKind::kPrefix);
  age.encoding.cells = IntegerEncoding{0, 99};
  age.encoding.null_cell = true;
  EXPECT_EQ(AnswerLabel(age, 30), "<=30");
  EXPECT_EQ(AnswerLabel(age, 100), "all");
  age.queries = QueryKind::kRange;
  EXPECT_EQ(AnswerLabel(age, AnswerOfRange(101, {18, 30})), "18..30");
  EXPECT_EQ(AnswerLabel(age, AnswerOfRange(101, {18, 18})), "18");
  Attribute income = Named(4, QueryKind::kPrefix);
  income.encoding.cells = CutEncoding{{10, 25.5, 50}};
  EXPECT_EQ(AnswerLabel(income, 1), "<=25.5");
  EXPECT_EQ(AnswerLabel(income, 3), "<=inf");
  income.queries = QueryKind::kRange;
  EXPECT_EQ(AnswerLabel(income, AnswerOfRange(4, {1, 2})), "(10, 50]");
  EXPECT_EQ(AnswerLabel(income, AnswerOfRange(4, {0, 3})), "(-inf, inf)");
  Attribute tree = Named(3, QueryKind::kHierarchy);
  tree.groups = {{"north", {0, 1}}, {"south", {2}}};
  EXPECT_EQ(AnswerLabel(tree, 2), "2");
  EXPECT_EQ(AnswerLabel(tree, 3), "north");
}

TEST(QueryMatrixTest, BadMatricesAreRefused) {
  const auto message = [](const CellMatrix& matrix,
                          const CellMatrix& strategy = {}) -> std::string {
    Attribute attribute = Named(3, QueryKind::kCustom);
    attribute.custom = matrix;
    attribute.strategy = strategy;
    try {
      CheckQueries(attribute);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message({2, {1, 1, 1, 1, 0, 0}}), "");
  EXPECT_NE(message({2, {1, 1, 1, 2, 2, 2}}).find("tells no cells apart"), std::string::npos);
  EXPECT_NE(message({1, {1, nan, 1}}).find("entries must be finite"), std::string::npos);
  EXPECT_NE(message({1, {1, INFINITY, 1}}).find("entries must be finite"), std::string::npos);
  EXPECT_NE(message({1, {1, -1e155, 1}})
                .find("the entry -1e+155 in row 1; entries must be finite and "
                      "at most 1e+154 in size"),
            std::string::npos);
  EXPECT_NE(message({2, {1, 0, 1, 2, 0, 1}}).find("column 2"), std::string::npos);
  EXPECT_NE(message({2, {1, 1, 0, 0, 1, 1}}).find("add a row of ones"), std::string::npos);
  EXPECT_NE(message({1, {1, 1}}).find("needs 3 columns"), std::string::npos);
  EXPECT_NE(message({0, {}}).find("needs 3 columns"), std::string::npos);
  const CellMatrix first_cell{2, {1, 1, 1, 1, 0, 0}};
  const CellMatrix last_cell{2, {1, 1, 1, 0, 0, 1}};
  EXPECT_NE(message(first_cell, last_cell).find("cannot answer"), std::string::npos);
  EXPECT_EQ(message(first_cell, first_cell), "");
}

TEST(QueryMatrixTest, RowSpacesAreExact) {
  // Dependent rows with decimals that no double holds: 0.1 + 0.2 = 0.3.
  const CellMatrix matrix{3, {0.1, 0.2, 0, 0.2, 0.1, 0.3, 0.3, 0.3, 0.3}};
  EXPECT_EQ(RowSpaceBasis(3, matrix).num_rows, 2);
  EXPECT_TRUE(SpansOnes(3, matrix));
  EXPECT_EQ(RowSpaceBasis(3, matrix).entries, (std::vector<int64_t>{1, 2, 0, 2, 1, 3}));
  EXPECT_FALSE(SpansOnes(2, {1, {1, 1.0000001}}));
}

}  // namespace
}  // namespace residua
