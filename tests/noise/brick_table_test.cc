#include "residua/noise/brick_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/gaussian_density.h"

namespace residua {
namespace {

struct Column {
  uint64_t num_interior = 0;
  std::vector<uint64_t> edge_levels;
};

// Every inequality of docs/sampler.md, against MPFR.
void ExpectCovers(const BrickTable& table, const Rational& variance) {
  SCOPED_TRACE(variance.get_d());
  std::map<int, Column> columns;
  for (const int16_t k : table.interior) ++columns[k].num_interior;
  for (const BrickTable::Edge& edge : table.edges) {
    columns[edge.column].edge_levels.push_back(edge.level);
  }
  ASSERT_EQ(columns.size(), 2u * table.num_columns);
  ASSERT_EQ(columns.begin()->first, -table.num_columns);
  EXPECT_LE(table.interior.size() + table.edges.size() + 2, size_t{1} << table.log2_bricks);

  const Integer width = Integer(1) << table.log2_width;
  for (const auto& [k, column] : columns) {
    // Each brick once: interior 0..n-1, edges n..c-1.
    uint64_t level = column.num_interior;
    for (const uint64_t edge_level : column.edge_levels) ASSERT_EQ(edge_level, level++);
    const Integer nearest = k >= 0 ? Integer(k * width) : Integer(-(k + 1) * width + 1);
    const Integer farthest = k >= 0 ? Integer((k + 1) * width - 1) : Integer(-k * width);
    // c >= height max f unless floor(height max f) >= c.
    const Integer most = FloorScaledDensity(variance, nearest, table.height, 0);
    EXPECT_LT(nearest == 0 ? Integer(most - 1) : most, Integer(level)) << k;
    EXPECT_LE(Integer(column.num_interior), FloorScaledDensity(variance, farthest, table.height, 0))
        << k;
  }

  // f halves within a tail block, and the tail's proposal at its start is a probability.
  const Integer start = table.num_columns * width;
  const Integer block = Integer(1) << table.tail_log2_width;
  EXPECT_GE(FloorScaledDensity(variance, start, 1, 400),
            2 * FloorScaledDensity(variance, start + block, 1, 400));
  EXPECT_LE(FloorScaledDensity(variance, start, table.height,
                               400 + 1 + table.tail_log2_width - table.log2_width),
            Integer(1) << 400);
}

TEST(BrickTable, CoversTheDensity) {
  DeterministicBits bits(1);
  BitReader reader(bits);
  std::vector<Rational> variances = {Rational(1, 100), Rational(1, 4), Rational(1), Rational(2500),
                                     Rational(Integer(1) << 126)};
  for (unsigned exponent = 0; exponent < 130; exponent += 3) {
    Rational variance(Integer(1 + reader.Next() % 1000) << exponent,
                      Integer(1000 + reader.Next() % 100000));
    variance.canonicalize();
    if (variance < Rational(1, 100) || variance > Rational(Integer(1) << 126)) continue;
    variances.push_back(variance);
  }
  for (const Rational& variance : variances) {
    const Acceptance acceptance(variance, kErrorBudget);
    for (const int log2_bricks : {12, 14, 16}) {
      const BrickTable table = MakeBrickTable(acceptance, std::sqrt(variance.get_d()), log2_bricks);
      ExpectCovers(table, variance);
      // It pays: few edges, few numbers without a brick.
      EXPECT_LT(static_cast<double>(table.edges.size()), 0.12 * std::exp2(log2_bricks));
      EXPECT_GT(static_cast<double>(table.interior.size()), 0.85 * std::exp2(log2_bricks));
    }
  }
}

// The width comes from a double and may be anything: no inequality depends on it.
TEST(BrickTable, SurvivesABadGuessOfTheWidth) {
  const Rational variance(1000000);
  const Acceptance acceptance(variance, kErrorBudget);
  for (const double guess : {250.0, 4000.0, 20000.0}) {
    ExpectCovers(MakeBrickTable(acceptance, guess, 14), variance);
  }
}

TEST(BrickTable, NumbersPastTheLastBrickAreRejected) {
  const Acceptance acceptance(Rational(2500), kErrorBudget);
  const BrickTable table = MakeBrickTable(acceptance, 50.0, 12);
  DeterministicBits bits(1);
  BitReader reader(bits);
  const uint64_t first = table.interior.size() + table.edges.size() + 2;
  for (uint64_t brick = first; brick < 4096; ++brick) {
    EXPECT_FALSE(ResolveBrick(table, acceptance, brick, 0, reader).accepted);
  }
}

}  // namespace
}  // namespace residua
