#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/convolution/convolution_draft.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_inverse.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/convolution/exact_product.h"
#include "residua/basis/convolution/real_product.h"
#include "tests/basis/named_attribute.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd DenseByDefinition(const ConvolutionMatrix& matrix) {
  const auto num_rows = static_cast<int64_t>(matrix.kernel.size());
  MatrixXd dense = MatrixXd::Zero(num_rows, num_rows + 1);
  for (int64_t i = 0; i < num_rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      dense(i, j) = static_cast<double>(matrix.row_weights[static_cast<size_t>(i)]) *
                    static_cast<double>(matrix.kernel[static_cast<size_t>(i - j)]) *
                    static_cast<double>(matrix.column_weights[static_cast<size_t>(j)]);
    }
    if (matrix.total_weights.empty()) continue;
    dense.row(i).array() -= static_cast<double>(matrix.row_weights[static_cast<size_t>(i)]) *
                            static_cast<double>(matrix.total_weights[static_cast<size_t>(i)]);
  }
  return dense;
}

// One that doubles undo well; half of them have a part of the total in their rows.
ConvolutionMatrix RandomConvolution(int64_t size, std::mt19937_64& random) {
  ConvolutionMatrix matrix;
  const bool with_total = random() % 2 == 0;
  for (int64_t k = 0; k + 1 < size; ++k) {
    matrix.row_weights.push_back(1 + static_cast<int64_t>(random() % 5));
    matrix.column_weights.push_back(1 + static_cast<int64_t>(random() % 9));
    matrix.kernel.push_back(k == 0 ? 20 : static_cast<int64_t>(random() % 20) / (k + 1));
    if (with_total) matrix.total_weights.push_back(static_cast<int64_t>(random() % 60));
  }
  return matrix;
}

TEST(ExactProductTest, ThePrimesAreAsTheyMustBe) {
  for (int f = 0; f < ExactProduct::kNumPrimes; ++f) {
    const uint64_t p = ExactProduct::kPrimes[f];
    const Integer prime = ToInteger(static_cast<int64_t>(p));
    EXPECT_GT(mpz_probab_prime_p(prime.get_mpz_t(), 40), 0);
    EXPECT_EQ(p >> 62, 0u);
    UInt128 power = ExactProduct::kRoots[f];
    for (int k = 0; k + 1 < ExactProduct::kLogOrder; ++k) power = power * power % p;
    EXPECT_EQ(static_cast<uint64_t>(power), p - 1);  // so that its order is 2^kLogOrder
  }
  EXPECT_NE(ExactProduct::kPrimes[0], ExactProduct::kPrimes[1]);
}

TEST(ExactProductTest, IsThatTermByTerm) {
  std::mt19937_64 random(1);
  for (const size_t size : {size_t{257}, size_t{511}, size_t{512}, size_t{513}, size_t{1500}}) {
    for (int trial = 0; trial < 6; ++trial) {
      std::vector<uint64_t> kernel(size);
      std::vector<uint64_t> values(size);
      for (size_t k = 0; k < size; ++k) {
        // The largest numbers there are, none at all, and any.
        kernel[k] = trial == 0 ? (uint64_t{1} << 59) / size - 1 : random() >> (24 + trial);
        values[k] = trial == 0 ? ~uint64_t{0} : trial == 1 ? 0 : random();
        if (trial == 2) values[k] = k == size / 2 ? ~uint64_t{0} : 0;
      }
      const ExactProduct product(kernel);
      std::vector<UInt128> slow(size);
      std::vector<UInt128> fast(size);
      product.MultiplyTermByTerm(values, slow);
      product.MultiplyByTransforms(values, fast);
      EXPECT_EQ(slow, fast);
      product.Multiply(values, fast);
      EXPECT_EQ(slow, fast);
    }
  }
  EXPECT_THROW(ExactProduct(std::vector<uint64_t>{uint64_t{1} << 59}), Error);
}

TEST(RealProductTest, IsThatTermByTermToTheLastDigits) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const size_t size : {1, 2, 5, 64, 65, 100, 1000, 4095}) {
    std::vector<double> kernel(size);
    std::vector<double> values[2] = {std::vector<double>(size), std::vector<double>(size)};
    long double norm = 0;
    long double norms[2] = {0, 0};
    for (size_t k = 0; k < size; ++k) {
      kernel[k] = normal(random) / std::sqrt(static_cast<double>(k + 1));
      norm += static_cast<long double>(kernel[k]) * kernel[k];
      for (int f = 0; f < 2; ++f) {
        values[f][k] = normal(random) * (f == 0 ? 1 : 1e6);
        norms[f] += static_cast<long double>(values[f][k]) * values[f][k];
      }
    }
    const RealProduct product(kernel);
    for (const bool transposed : {false, true}) {
      std::vector<double> out[2] = {values[0], values[1]};
      std::vector<double> alone = values[0];
      if (transposed) {
        product.ApplyTransposed(out[0].data(), out[1].data());
        product.ApplyTransposed(alone.data(), nullptr);
      } else {
        product.Apply(out[0].data(), out[1].data());
        product.Apply(alone.data(), nullptr);
      }
      // Two at once share what they are rounded by.
      const auto error = static_cast<double>(1e-15L * std::sqrt(norm * (norms[0] + norms[1])));
      for (size_t k = 0; k < size; k += 1 + size / 100) {
        long double sums[2] = {0, 0};
        for (size_t j = 0; j < size; ++j) {
          if (transposed ? j < k : j > k) continue;
          const size_t at = transposed ? j - k : k - j;
          for (int f = 0; f < 2; ++f) {
            sums[f] += static_cast<long double>(kernel[at]) * values[f][j];
          }
        }
        for (int f = 0; f < 2; ++f) EXPECT_NEAR(out[f][k], static_cast<double>(sums[f]), error);
        EXPECT_NEAR(alone[k], static_cast<double>(sums[0]),
                    static_cast<double>(1e-15L * std::sqrt(norm * norms[0])));
      }
    }
  }
}

TEST(RealProductTest, InverseSequencesUndoTheirKernel) {
  for (const size_t size : {1, 2, 3, 64, 65, 1000, 3000}) {
    std::vector<double> kernel;
    for (size_t k = 0; k < size; ++k) kernel.push_back(1 / std::sqrt(static_cast<double>(k + 1)));
    const std::vector<double> inverse = InverseSequence(kernel);
    std::vector<long double> exact(size);
    for (size_t k = 0; k < size; ++k) {
      long double sum = k == 0 ? 1 : 0;
      for (size_t j = 0; j < k; ++j) sum -= static_cast<long double>(kernel[k - j]) * exact[j];
      exact[k] = sum;
      EXPECT_NEAR(inverse[k], static_cast<double>(exact[k]), 1e-15);
    }
  }
}

TEST(ConvolutionMatrixTest, AgreesWithTheDenseMatrix) {
  std::mt19937_64 random(3);
  for (const int64_t size : {2, 3, 5, 12, 40, 300}) {
    for (int trial = 0; trial < 5; ++trial) {
      const ConvolutionMatrix matrix = RandomConvolution(size, random);
      const MatrixXd dense = DenseByDefinition(matrix);
      const IntegerMatrix expanded = Expanded(matrix);
      ASSERT_EQ(NumRowsOf(ResidualMatrix(matrix), size), dense.rows());
      ASSERT_EQ(expanded.num_rows, dense.rows());
      for (int64_t row = 0; row < dense.rows(); ++row) {
        for (int64_t k = 0; k < size; ++k) {
          EXPECT_EQ(static_cast<double>(expanded.entries[static_cast<size_t>(row * size + k)]),
                    dense(row, k));
        }
      }
      EXPECT_EQ(SquaredSensitivity(matrix), SquaredSensitivity(expanded));
      EXPECT_GE(static_cast<double>(LargestEntryOf(matrix)), dense.cwiseAbs().maxCoeff());
      const MatrixXd products = dense.transpose() * dense;
      EXPECT_GE(LargestNegativeProduct(matrix).get_d(), -products.minCoeff());
      EXPECT_LE(static_cast<double>(LargestEntryOf(matrix)),
                std::sqrt(dense.colwise().squaredNorm().maxCoeff()) * (1 + 1e-9) + 1);
      std::vector<double> values(static_cast<size_t>(2 * size * 3));
      for (double& value : values) value = static_cast<double>(random() % 100);
      std::vector<double> results(static_cast<size_t>(2 * (size - 1) * 3));
      ApplyConvolution(matrix, {2, size, 3}, values.data(), results.data());
      for (int64_t o = 0; o < 2; ++o) {
        for (int64_t row = 0; row + 1 < size; ++row) {
          for (int64_t i = 0; i < 3; ++i) {
            double sum = 0;
            for (int64_t k = 0; k < size; ++k) {
              sum += dense(row, k) * values[static_cast<size_t>((o * size + k) * 3 + i)];
            }
            EXPECT_NEAR(results[static_cast<size_t>((o * (size - 1) + row) * 3 + i)], sum,
                        1e-11 * dense.norm() * 100);
          }
        }
      }
    }
  }
}

// The largest numbers that are allowed, where sums of 64 bits, or of doubles, would be wrong.
TEST(ConvolutionMatrixTest, PricesTheLargestNumbersExactly) {
  const int64_t most = kMostConvolutionWeight;
  const size_t num_rows = 1000;
  const ConvolutionMatrix matrix{std::vector(num_rows, most), std::vector(num_rows, most - 1),
                                 std::vector(num_rows, most)};
  CheckConvolution(Named(1001, QueryKind::kPrefix), matrix);
  const Integer entry = ToInteger(most) * ToInteger(most) * ToInteger(most - 1);
  EXPECT_EQ(SquaredSensitivity(matrix), entry * entry * 1000);
  // With the total in every row the last column is the longest, then the first.
  ConvolutionMatrix with_total = matrix;
  with_total.total_weights.assign(num_rows, kMostTotalWeight);
  CheckConvolution(Named(1001, QueryKind::kPrefix), with_total);
  const Integer of_total = ToInteger(most) * ToInteger(kMostTotalWeight);
  EXPECT_EQ(SquaredSensitivity(with_total), of_total * of_total * 1000);
  EXPECT_EQ(SquaredTotal(with_total), of_total * of_total * 1000);
  EXPECT_EQ(WideToInteger(ProductsWithTotal(with_total)[0]),
            of_total * ToInteger(most) * ToInteger(most - 1) * 1000);
}

TEST(ConvolutionInverseTest, IsTheInverseOfTheDenseMatrix) {
  std::mt19937_64 random(4);
  for (int64_t size = 2; size <= 300; size = size < 40 ? size + 1 : size + 130) {
    const QueryKind kind = size % 2 == 0 ? QueryKind::kPrefix : QueryKind::kRange;
    const Attribute attribute = Named(size, kind);
    ConvolutionMatrix matrix = RandomConvolution(size, random);
    if (size % 3 == 0) matrix = FitConvolution(attribute, StrategyGoal::kMean);
    if (size % 4 == 0)
      matrix = FitConvolutionWithTotal(attribute, static_cast<double>(size % 15) / 2);
    const ResidualBasis basis = BasisFromConvolution(attribute, matrix);
    const StructuredInverse& inverse = *basis.inverse->structured;
    const MatrixXd sub = DenseByDefinition(matrix);
    MatrixXd whole = MatrixXd::Ones(size, size);
    whole.bottomRows(size - 1) = sub;
    const MatrixXd both = whole.inverse();
    const VectorXd z = basis.inverse->constant;
    const MatrixXd p = both.rightCols(size - 1);
    EXPECT_LT((z - both.col(0)).norm(), 1e-10 * z.norm());
    const double scale = p.norm();
    for (int64_t k = 0; k < size; ++k) {
      EXPECT_LT((inverse.RowWeights(VectorXd::Unit(size, k)) - p.row(k).transpose()).norm(),
                1e-11 * scale);
    }
    const MatrixXd product = p * p.transpose();
    for (const QueryKind asked : {QueryKind::kIdentity, QueryKind::kPrefix, QueryKind::kRange}) {
      if (asked == QueryKind::kRange && size > 200) continue;  // tens of thousands of dense rows
      const Attribute other = Named(size, asked);
      const MatrixXd queries = oracle::DenseQueries(other);
      const std::vector<QueryVariance> variances = inverse.Variances(QueryMatrix(other));
      ASSERT_EQ(static_cast<int64_t>(variances.size()), queries.rows());
      const MatrixXd spread = queries * p;
      double mean_residual = 0;
      double mean_constant = 0;
      std::vector<QueryVariance> points;
      for (int64_t q = 0; q < queries.rows(); ++q) {
        const double residual = spread.row(q).squaredNorm();
        const double constant = std::pow(queries.row(q).dot(z), 2);
        EXPECT_NEAR(variances[static_cast<size_t>(q)].residual, residual,
                    1e-10 * spread.squaredNorm());
        EXPECT_NEAR(variances[static_cast<size_t>(q)].constant, constant, 1e-10 * z.squaredNorm());
        mean_residual += residual / static_cast<double>(queries.rows());
        mean_constant += constant / static_cast<double>(queries.rows());
        points.push_back({residual, constant});
      }
      if (asked != kind) continue;
      EXPECT_NEAR(basis.mean.residual / mean_residual, 1, 1e-9);
      EXPECT_NEAR(basis.mean.constant / mean_constant, 1, 1e-9);
      // The same maximum of every combination.
      for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        const auto most = [&](const std::vector<QueryVariance>& among) {
          double largest = 0;
          for (const QueryVariance& point : among) {
            largest = std::max(
                largest, share * point.residual + (1 - share) * scale * scale * point.constant);
          }
          return largest;
        };
        EXPECT_NEAR(most(basis.peaks) / most(points), 1, 1e-9);
      }
    }
    const int64_t inner = 1 + size % 3;
    const auto draw = [&](int64_t count) {
      VectorXd values(count);
      for (double& value : values) value = static_cast<double>(random() % 1000) / 7;
      return values;
    };
    const VectorXd rows = draw(2 * (size - 1) * inner);
    const VectorXd constant = draw(2 * inner);
    VectorXd result(2 * size * inner);
    inverse.Apply(2, inner, rows.data(), constant.data(), result.data());
    VectorXd products = draw(2 * size * inner);
    const VectorXd before = products;
    inverse.ApplyProduct(2, inner, products.data());
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        VectorXd measured(size - 1);
        VectorXd vector(size);
        for (int64_t k = 0; k + 1 < size; ++k) {
          measured(k) = rows((o * (size - 1) + k) * inner + i);
        }
        for (int64_t k = 0; k < size; ++k) vector(k) = before((o * size + k) * inner + i);
        const VectorXd cells = p * measured + z * constant(o * inner + i);
        const VectorXd spread = product * vector;
        for (int64_t k = 0; k < size; ++k) {
          EXPECT_NEAR(result((o * size + k) * inner + i), cells(k), 1e-10 * (1 + cells.norm()));
          EXPECT_NEAR(products((o * size + k) * inner + i), spread(k), 1e-10 * (1 + spread.norm()));
        }
      }
    }
  }
}

TEST(ConvolutionMatrixTest, RefusesNumbersThatDoNotFit) {
  const Attribute attribute = Named(5, QueryKind::kPrefix);
  const auto message = [&](const auto& change) -> std::string {
    ConvolutionMatrix matrix{{1, 2, 3, 4}, {8, 4, 2, 1}, {5, 6, 7, 8}};
    change(matrix);
    try {
      BasisFromConvolution(attribute, matrix);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](ConvolutionMatrix&) {}), "");
  const std::string unsound = "the basis of attribute 'a' is not sound: ";
  const std::string weight = unsound + "a weight is not positive, or too large";
  const std::string term =
      unsound + "a number of its kernel is negative or too large, or the first one is 0";
  const std::string length =
      unsound + "each of its sequences must have one number less than there are cells";
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.row_weights[2] = 0; }), weight);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.column_weights[3] = -1; }), weight);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.row_weights[0] = kMostConvolutionWeight + 1; }),
            weight);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.kernel[0] = 0; }), term);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.kernel[2] = -1; }), term);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.kernel[2] = kMostConvolutionWeight + 1; }), term);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.kernel.pop_back(); }), length);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.row_weights.push_back(1); }), length);
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.column_weights.clear(); }), length);
  EXPECT_EQ(message([](ConvolutionMatrix& m) {
              m.total_weights = {1, 0, 2, kMostTotalWeight};
            }),
            "");
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.total_weights = {1, 2, 3}; }), length);
  const std::string total = unsound + "a weight of the total is negative or too large";
  EXPECT_EQ(message([](ConvolutionMatrix& m) { m.total_weights = {1, -1, 0, 0}; }), total);
  EXPECT_EQ(message([](ConvolutionMatrix& m) {
              m.total_weights = {0, 0, 0, kMostTotalWeight + 1};
            }),
            total);
  // What undoes it grows a thousandfold from term to term.
  EXPECT_NE(message([](ConvolutionMatrix& m) {
              m.kernel = {1, 1000, 0, 0};
            }).find("is degenerate"),
            std::string::npos);
  EXPECT_THROW(BasisFromConvolution(Named(5, QueryKind::kIdentity),
                                    {{1, 2, 3, 4}, {8, 4, 2, 1}, {5, 6, 7, 8}}),
               Error);
}

// All columns cost nearly the same, whatever the size: where weights are small, rounding shows.
TEST(ConvolutionFitTest, ColumnsHaveOneNorm) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    for (const StrategyGoal goal : {StrategyGoal::kMean, StrategyGoal::kMax}) {
      for (const int64_t size : {2, 3, 100, 6000}) {
        const ConvolutionMatrix matrix = FitConvolution(Named(size, kind), goal);
        CheckConvolution(Named(size, kind), matrix);
        const std::vector<UInt128> columns = SquaredColumns(matrix);
        const double most = SquaredSensitivity(matrix).get_d();
        for (size_t j = 0; j < columns.size(); ++j) {
          const auto weight = static_cast<double>(matrix.column_weights[j]);
          EXPECT_GE(weight * weight * static_cast<double>(columns[j]), most * 0.9);
        }
      }
    }
  }
}

// All but the last column, which is shorter, have one norm with the total in every row too.
TEST(ConvolutionFitTest, ColumnsHaveOneNormBesideTheTotal) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    for (const double trade_off : {0.0, 0.5, 1.75, 3.0, 4.5, 7.0}) {
      for (const int64_t size : {2, 3, 100, 6000}) {
        const ConvolutionMatrix matrix = FitConvolutionWithTotal(Named(size, kind), trade_off);
        CheckConvolution(Named(size, kind), matrix);
        const std::vector<UInt128> columns = SquaredColumns(matrix);
        const std::vector<UInt128> products = ProductsWithTotal(matrix);
        const double of_total = SquaredTotal(matrix).get_d();
        const double most = SquaredSensitivity(matrix).get_d();
        EXPECT_LE(of_total, most);
        for (size_t j = 0; j < columns.size(); ++j) {
          const auto weight = static_cast<double>(matrix.column_weights[j]);
          EXPECT_GE(weight * weight * static_cast<double>(columns[j]) -
                        2 * weight * static_cast<double>(products[j]) + of_total,
                    most * 0.9)
              << size << " " << trade_off << " " << j;
        }
      }
    }
  }
}

// What selection compares is what the basis has.
TEST(ConvolutionFitTest, DraftsAreNearTheirBases) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    for (const int64_t size : {2, 70, 500, 3000}) {
      for (const double trade_off : {0.0, 1.25, 3.0, 6.5}) {
        const Attribute attribute = Named(size, kind);
        const ConvolutionMatrix matrix = FitConvolutionWithTotal(attribute, trade_off);
        const ResidualBasis draft = DraftOfConvolution(attribute, matrix);
        const ResidualBasis basis = BasisFromConvolution(attribute, matrix);
        EXPECT_EQ(draft.num_answers, basis.num_answers);
        EXPECT_EQ(draft.privacy_cost, basis.privacy_cost);
        EXPECT_NEAR(draft.weighted_mean.residual / basis.weighted_mean.residual, 1, 2e-3);
        EXPECT_NEAR(draft.weighted_mean.constant / basis.weighted_mean.constant, 1, 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace residua
