#include "residua/measure/remote/joint_counts.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/remote/joint_cells.h"
#include "residua/measure/true_counts.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

std::map<AttributeSet, std::vector<int64_t>> CountsOf(CountedRows&& rows) {
  std::map<AttributeSet, std::vector<int64_t>> counts;
  CountMarginalBatches(rows, {}, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& marginal : batch) {
      counts[marginal.attributes()] = TrueCounts::Cells(marginal);
    }
  });
  return counts;
}

// Sums over the groups themselves, one set after the other.
TEST(JointCounts, AgreesWithBruteForce) {
  const std::vector<int64_t> sizes = {4, 30, 2, 7, 3};
  const Domain domain = DomainOfSizes(sizes);
  const std::vector<AttributeSet> sets = SetsUpTo(5, 5);
  std::mt19937_64 random(3);
  JointCounts joint(domain, sets, {});
  std::map<AttributeSet, std::vector<int64_t>> expected;
  for (const AttributeSet& set : sets) {
    expected[set].resize(static_cast<size_t>(NumCellsInMemory(domain, set)), 0);
  }
  int64_t num_rows = 0;
  for (int group = 0; group < 3000; ++group) {
    std::vector<int32_t> cells;
    for (const int64_t size : sizes) cells.push_back(static_cast<int32_t>(random() % size));
    // Some beyond 32 bits.
    const auto weight = static_cast<int64_t>(random() % (group % 10 == 0 ? int64_t{1} << 40 : 5));
    joint.Add(cells, weight);
    num_rows += weight;
    for (const AttributeSet& set : sets) {
      int64_t cell = 0;
      for (const int i : set) {
        cell = cell * sizes[static_cast<size_t>(i)] + cells[static_cast<size_t>(i)];
      }
      expected[set][static_cast<size_t>(cell)] += weight;
    }
  }
  CountedRows rows = std::move(joint).Take();
  EXPECT_EQ(rows.num_rows(), num_rows);
  EXPECT_EQ(CountsOf(std::move(rows)), expected);
}

TEST(JointCounts, WithoutRows) {
  const Domain domain = DomainOfSizes({2, 3});
  EXPECT_EQ(CountsOf(JointCounts(domain, {{}, {1}}, {}).Take()),
            (std::map<AttributeSet, std::vector<int64_t>>{{{}, {0}}, {{1}, {0, 0, 0}}}));
}

TEST(JointCounts, RefusesWhatIsTooLarge) {
  EXPECT_EQ(NumJointCells(DomainOfSizes({1024, 1024})), kMaxJointCells);
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const auto& sizes :
       {std::vector<int64_t>{1024, 1025}, {1 << 20, 2}, {3, 1 << 20, 1 << 20}}) {
    EXPECT_THROW(NumJointCells(DomainOfSizes(sizes)), Error);
  }
  const Domain domain = DomainOfSizes({2});
  JointCounts joint(domain, {{0}}, {});
  joint.Add(std::vector<int32_t>{1}, most);
  EXPECT_THROW(joint.Add(std::vector<int32_t>{0}, 1), Error);
  EXPECT_THROW(joint.Add(std::vector<int32_t>{2}, 0), Error);
  EXPECT_THROW(joint.Add(std::vector<int32_t>{-1}, 0), Error);
  EXPECT_THROW(joint.Add(std::vector<int32_t>{1}, -1), Error);
  // Where rows would be held, nobody has them.
  EXPECT_THROW(JointCounts(domain, {{0}}, {.memory_budget_bytes = 1}), Error);
}

}  // namespace
}  // namespace residua
