#include "residua/measure/residual_transform.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "residua/base/error.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/measure/true_counts.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/naive_marginal.h"

namespace residua {
namespace {

Integer ToInteger(Int128 value) {
  const bool is_negative = value < 0;
  const UInt128 magnitude =
      is_negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  Integer integer(static_cast<unsigned long>(magnitude >> 64));
  integer = integer * (Integer(1) << 64) + static_cast<unsigned long>(magnitude);
  return is_negative ? Integer(-integer) : integer;
}

std::vector<Integer> ValuesOf(const TrueResidual& residual) {
  std::vector<Integer> values;
  std::visit(
      [&](const auto& integers) {
        for (const auto value : integers) values.push_back(ToInteger(value));
      },
      TrueCounts::Values(residual));
  return values;
}

oracle::DenseMatrix Dense(int64_t size, const ResidualMatrix& matrix) {
  oracle::DenseMatrix dense;
  if (const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix)) {
    return Dense(size, Expanded(*convolution));
  }
  if (const auto* integers = std::get_if<IntegerMatrix>(&matrix)) {
    for (int64_t row = 0; row < integers->num_rows; ++row) {
      dense.emplace_back();
      for (int64_t k = 0; k < integers->num_columns; ++k) {
        dense.back().emplace_back(static_cast<long>(
            integers->entries[static_cast<size_t>(row * integers->num_columns + k)]));
      }
    }
    return dense;
  }
  for (int64_t row = 0; row < size; ++row) {
    dense.emplace_back(static_cast<size_t>(size), Integer(-1));
    dense.back()[static_cast<size_t>(row)] += static_cast<long>(size);
  }
  return dense;
}

// Entries up to `limit` in size, with the extremes among them.
IntegerMatrix RandomMatrix(int64_t size, int64_t limit, std::mt19937_64& random) {
  IntegerMatrix matrix{size - 1, size, {}};
  std::uniform_int_distribution<int64_t> entry(-limit, limit);
  for (int64_t k = 0; k < matrix.num_rows * size; ++k) {
    matrix.entries.push_back(random() % 3 == 0 ? (random() % 2 == 0 ? limit : -limit)
                                               : entry(random));
  }
  return matrix;
}

void ExpectDense(const Domain& domain, const std::vector<ResidualMatrix>& matrices,
                 const AttributeSet& set, const std::vector<int64_t>& cells, bool is_wide) {
  oracle::DenseMatrix product = {{1}};
  for (const int i : set) {
    product = oracle::Kronecker(product, Dense(domain[i].size, matrices[static_cast<size_t>(i)]));
  }
  std::vector<Integer> counts;
  for (const int64_t cell : cells) counts.emplace_back(static_cast<long>(cell));
  const TrueResidual residual =
      ResidualTransform(domain, matrices).Apply(TrueCounts::Marginal(set, cells));
  EXPECT_EQ(residual.attributes(), set);
  EXPECT_EQ(residual.is_wide(), is_wide);
  EXPECT_EQ(ValuesOf(residual), oracle::Multiply(product, counts));
}

TEST(ResidualTransformTest, AgreesWithDenseKroneckerProducts) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<int64_t> sizes(1 + random() % 4);
    std::vector<ResidualMatrix> matrices;
    for (int64_t& size : sizes) {
      size = 2 + static_cast<int64_t>(random() % 4);
      if (random() % 2 == 0) {
        matrices.emplace_back(SubtractionMatrix{});
      } else {
        matrices.emplace_back(RandomMatrix(size, 1 << 12, random));
      }
    }
    const Domain domain = DomainOfSizes(sizes);
    AttributeSet set;
    for (int i = 0; i < domain.size(); ++i) {
      if (random() % 4 != 0) set.push_back(i);
    }
    std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(domain, set)));
    for (int64_t& cell : cells) cell = static_cast<int64_t>(random() % 10);
    ExpectDense(domain, matrices, set, cells, false);
  }
}

// Long enough for every lane of a vector, and what is left over.
TEST(ResidualTransformTest, AgreesAlongLongAxes) {
  std::mt19937_64 random(13);
  const Domain domain = DomainOfSizes({19, 14, 2});
  for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {0, 1}, {1, 2}, {0, 1, 2}}) {
    for (const bool identity : {true, false}) {
      std::vector<ResidualMatrix> matrices(3, SubtractionMatrix{});
      if (!identity) matrices[1] = RandomMatrix(14, 1 << 12, random);
      std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(domain, set)));
      for (int64_t& cell : cells) cell = static_cast<int64_t>(random() % 1000);
      ExpectDense(domain, matrices, set, cells, false);
    }
  }
}

TEST(ResidualTransformTest, RefusesMoreThan63BitsOfRows) {
  const Domain domain = DomainOfSizes({2});
  const ResidualTransform transform(domain, {SubtractionMatrix{}});
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_NO_THROW(transform.Apply(TrueCounts::Marginal({0}, {most - 1, 1})));
  EXPECT_THROW(transform.Apply(TrueCounts::Marginal({0}, {most, 1})), Error);
  EXPECT_THROW(transform.Apply(TrueCounts::Marginal({0}, {-1, 1})), Error);
}

// Weights up to `limit`, with the extremes among them.
ConvolutionMatrix RandomConvolution(int64_t size, int64_t limit, std::mt19937_64& random) {
  ConvolutionMatrix matrix;
  std::uniform_int_distribution<int64_t> weight(1, limit);
  for (int64_t k = 0; k + 1 < size; ++k) {
    matrix.row_weights.push_back(weight(random));
    matrix.kernel.push_back(k == 0 || random() % 4 != 0 ? weight(random) : 0);
    matrix.column_weights.push_back(random() % 3 == 0 ? limit : weight(random));
    if (size % 2 == 0) matrix.total_weights.push_back(weight(random) - 1);
  }
  return matrix;
}

// Beside other matrices, whose results may be negative and wrap on the way; also by transforms.
TEST(ResidualTransformTest, ConvolutionsAgreeWithDenseKroneckerProducts) {
  std::mt19937_64 random(14);
  for (const bool wide : {false, true}) {
    const int64_t limit = wide ? kMostConvolutionWeight : 16;
    for (const int64_t size : {2, 3, 7, 30, 300}) {
      const Domain domain = DomainOfSizes({2, size, 3});
      for (const AttributeSet& set : std::vector<AttributeSet>{{1}, {0, 1}, {1, 2}, {0, 1, 2}}) {
        if (size == 300 && set.size() == 3) continue;
        std::vector<ResidualMatrix> matrices = {SubtractionMatrix{},
                                                RandomConvolution(size, limit, random),
                                                RandomMatrix(3, 1 << 12, random)};
        std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(domain, set)));
        for (int64_t& cell : cells) {
          cell = static_cast<int64_t>(wide ? random() >> 28 : random() % 1000);
        }
        ExpectDense(domain, matrices, set, cells, wide);
      }
    }
  }
}

// The worst case of the bound is one cell with all rows: N (n - 1)^k is an entry of the result.
TEST(ResidualTransformTest, TakesTheWiderIntegersExactlyWhenTheBoundAsksForThem) {
  const Domain domain = DomainOfSizes({4, 4});
  const std::vector<ResidualMatrix> matrices(2, SubtractionMatrix{});
  std::vector<int64_t> cells(16, 0);
  const int64_t largest_narrow = std::numeric_limits<int64_t>::max() / 16;
  cells[5] = largest_narrow;
  ExpectDense(domain, matrices, {0, 1}, cells, false);
  cells[5] = largest_narrow + 1;
  ExpectDense(domain, matrices, {0, 1}, cells, true);
  cells[5] = std::numeric_limits<int64_t>::max();
  ExpectDense(domain, matrices, {0, 1}, cells, true);
}

TEST(ResidualTransformTest, IsExactWhereSixtyFourBitsWouldWrap) {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 30; ++trial) {
    const Domain domain = DomainOfSizes({2 + static_cast<int64_t>(random() % 3), 3, 2});
    std::vector<ResidualMatrix> matrices;
    for (int i = 0; i < domain.size(); ++i) {
      matrices.emplace_back(RandomMatrix(domain[i].size, int64_t{1} << 30, random));
    }
    matrices[random() % 3] = SubtractionMatrix{};
    std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(domain, {0, 1, 2})));
    for (int64_t& cell : cells) cell = static_cast<int64_t>(random() >> 10);
    ExpectDense(domain, matrices, {0, 1, 2}, cells, true);
  }
}

TEST(ResidualTransformTest, RefusesWhatOneHundredAndTwentyEightBitsCannotHold) {
  const Domain domain = DomainOfSizes({2, 2, 2});
  const IntegerMatrix matrix{1, 2, {std::numeric_limits<int64_t>::min(), 1}};
  const std::vector<ResidualMatrix> matrices(3, matrix);
  std::vector<int64_t> cells(4, 0);
  cells[0] = 1;
  // 2^126 fits.
  ExpectDense(domain, matrices, {0, 1}, cells, true);
  cells[0] = 2;
  try {
    ResidualTransform(domain, matrices).Apply(TrueCounts::Marginal({0, 1}, cells));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
    EXPECT_STREQ(
        error.what(),
        "the residuals of a0 x a1 may need more than 128 bits; use a basis of smaller integers");
  }
}

TEST(ResidualTransformTest, RefusesMatricesThatDoNotFit) {
  const Domain domain = DomainOfSizes({2, 3});
  const auto message = [&](const std::vector<ResidualMatrix>& matrices) -> std::string {
    try {
      ResidualTransform(domain, matrices).Apply(TrueCounts::Marginal({1}, {1, 2, 3}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({SubtractionMatrix{}, IntegerMatrix{1, 3, {1, 2, 3}}}), "");
  EXPECT_EQ(message({SubtractionMatrix{}, IntegerMatrix{1, 2, {1, 2}}}),
            "the matrix of attribute 'a1' is 1 x 2 with 2 entries; it needs 3 columns");
  EXPECT_EQ(message({SubtractionMatrix{}, IntegerMatrix{2, 3, {1, 2, 3}}}),
            "the matrix of attribute 'a1' is 2 x 3 with 3 entries; it needs 3 columns");
  EXPECT_EQ(message({SubtractionMatrix{}}),
            "1 residual matrices for 2 attributes; give one for each");
}

}  // namespace
}  // namespace residua
