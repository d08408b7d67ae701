#include "residua/measure/counting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <type_traits>

#include "residua/base/error.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/row_counter.h"
#include "residua/measure/sum_down.h"
#include "residua/measure/true_counts.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/naive_marginal.h"

namespace residua {
namespace {

// Safety rule 1: no writer accepts a true count. A writer would need what these concepts show to be
// missing.
template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <typename T>
concept HasCells = requires(const T& value) {
  value.cells();
}
|| requires(const T& value) { value.cells_; };
static_assert(!std::is_copy_constructible_v<TrueMarginal> &&
              !std::is_copy_constructible_v<TrueResidual>);
static_assert(!Streamable<TrueMarginal> && !Streamable<TrueResidual>);
static_assert(!fmt::is_formattable<TrueMarginal>::value &&
              !fmt::is_formattable<TrueResidual>::value);
static_assert(!HasCells<TrueMarginal> && !std::ranges::range<TrueMarginal>);
static_assert(!std::is_default_constructible_v<TrueMarginal>);

using Marginals = std::map<AttributeSet, std::vector<int64_t>>;

Marginals CountAll(const EncodedTable& table, const Domain& domain,
                   const std::vector<AttributeSet>& sets, const CountingOptions& options) {
  Marginals marginals;
  CountMarginals(table, domain, sets, options, [&](TrueMarginal&& marginal) {
    const auto [at, is_new] = marginals.emplace(marginal.attributes(), TrueCounts::Cells(marginal));
    EXPECT_TRUE(is_new) << SetName(domain, at->first) << " was visited twice";
  });
  return marginals;
}

void ExpectNaive(const EncodedTable& table, const Domain& domain,
                 const std::vector<AttributeSet>& sets, const CountingOptions& options) {
  const Marginals marginals = CountAll(table, domain, sets, options);
  for (const AttributeSet& set : sets) {
    ASSERT_TRUE(marginals.contains(set)) << SetName(domain, set) << " was not visited";
    EXPECT_EQ(marginals.at(set), oracle::NaiveMarginal(table, domain, set)) << SetName(domain, set);
  }
  for (const auto& [set, cells] : marginals) {
    EXPECT_NE(std::find(sets.begin(), sets.end(), set), sets.end()) << SetName(domain, set);
  }
}

TEST(CountMarginals, AgreesWithBruteForceOnRandomWorkloads) {
  std::mt19937_64 random(20240601);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<int64_t> sizes(1 + random() % 7);
    for (int64_t& size : sizes)
      size = 2 + static_cast<int64_t>(random() % (trial % 5 == 0 ? 300 : 6));
    const Domain domain = DomainOfSizes(sizes);
    const auto num_rows = static_cast<int64_t>(random() % (trial % 2 == 0 ? 5000 : 90));
    const EncodedTable table = RandomTable(domain, num_rows, random);
    std::vector<AttributeSet> sets;
    for (uint64_t k = 0, num_sets = 1 + random() % 12; k < num_sets; ++k) {
      AttributeSet set;
      for (int i = 0; i < domain.size(); ++i) {
        if (random() % 2 == 0 && set.size() < 3) set.push_back(i);
      }
      sets.push_back(set);
    }
    ExpectNaive(table, domain, sets,
                {.memory_budget_bytes = int64_t{1} << 30, .num_threads = 1 + trial % 3});
  }
}

TEST(CountMarginals, SplitsTheRowsOfFewLargeTables) {
  std::mt19937_64 random(2);
  const Domain domain = DomainOfSizes({40, 50, 60, 3});
  const EncodedTable table = RandomTable(domain, 150'001, random);
  ExpectNaive(table, domain, {{0, 1, 2}}, {.num_threads = 4});
  ExpectNaive(table, domain, SetsUpTo(4, 4), {.num_threads = 3});
  ExpectNaive(table, domain, {{}}, {.num_threads = 2});
}

TEST(CountMarginals, CountsWideCodes) {
  std::mt19937_64 random(3);
  const Domain domain = DomainOfSizes({65536, 300, 2, 65535, 65537, 1 << 20});
  const EncodedTable table = RandomTable(domain, 3000, random);
  ExpectNaive(table, domain, {{0}, {3}, {1, 2}, {0, 2}, {2, 3}, {0}, {4}, {2, 4}, {2, 5}}, {});
}

TEST(CountMarginals, CountsAnEmptyTable) {
  std::mt19937_64 random(4);
  const Domain domain = DomainOfSizes({3, 4});
  ExpectNaive(RandomTable(domain, 0, random), domain, SetsUpTo(2, 2), {});
}

TEST(CountMarginals, WorksWithinTheMemoryBudget) {
  std::mt19937_64 random(5);
  const Domain domain = DomainOfSizes({9, 8, 7, 6, 5, 4});
  const EncodedTable table = RandomTable(domain, 400, random);
  const std::vector<AttributeSet> sets = SetsUpTo(6, 3);
  const int64_t budget = 20'000;
  size_t num_batches = 0;
  size_t num_marginals = 0;
  CountMarginalBatches(table, domain, sets, {.memory_budget_bytes = budget, .num_threads = 2},
                       [&](std::vector<TrueMarginal>&& batch) {
                         int64_t bytes = 0;
                         for (const TrueMarginal& marginal : batch)
                           bytes += 8 * marginal.num_cells();
                         EXPECT_LE(bytes, budget);
                         ++num_batches;
                         num_marginals += batch.size();
                       });
  EXPECT_GE(num_batches, 3u);
  EXPECT_EQ(num_marginals, sets.size());
  ExpectNaive(table, domain, sets, {.memory_budget_bytes = budget, .num_threads = 2});
}

// A widened table must not need more than the budget when the sets asked for do not.
TEST(CountMarginals, WidensOnlyWithinTheMemoryBudget) {
  std::mt19937_64 random(6);
  const Domain domain = DomainOfSizes({5, 5, 5, 5, 5, 5});
  const EncodedTable table = RandomTable(domain, 50'000, random);
  ExpectNaive(table, domain, SetsUpTo(6, 2), {.memory_budget_bytes = 100, .num_threads = 1});
}

TEST(CountMarginals, VisitsInAnOrderThatThreadsDoNotChange) {
  std::mt19937_64 random(7);
  const Domain domain = DomainOfSizes({9, 8, 7, 6, 5, 4, 3, 2});
  const EncodedTable table = RandomTable(domain, 100'000, random);
  const std::vector<AttributeSet> sets = SetsUpTo(8, 3);
  std::vector<std::vector<AttributeSet>> orders;
  for (const int num_threads : {1, 2, 5}) {
    orders.emplace_back();
    CountMarginals(table, domain, sets, {.num_threads = num_threads}, [&](TrueMarginal&& marginal) {
      orders.back().push_back(marginal.attributes());
    });
  }
  EXPECT_EQ(orders[0].size(), sets.size());
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_EQ(orders[0], orders[2]);
}

std::string MessageOf(const EncodedTable& table, const Domain& domain,
                      const std::vector<AttributeSet>& sets, const CountingOptions& options) {
  try {
    CountAll(table, domain, sets, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CountMarginals, NamesWhatItRefuses) {
  std::mt19937_64 random(8);
  const Domain domain = DomainOfSizes({10, 20, 65536, 65536, 65536, 65536});
  const EncodedTable table = RandomTable(domain, 10, random);
  EXPECT_EQ(
      MessageOf(table, domain, {{2, 3}}, {.memory_limit_bytes = int64_t{1} << 30}),
      "counting a2 x a3 takes 64.0 GiB of memory, and 1.0 may be used; ask for fewer attributes "
      "together");
  EXPECT_THROW(CheckCountable(domain, std::vector<AttributeSet>{{2, 3}}, 10,
                              {.memory_limit_bytes = int64_t{1} << 30}),
               Error);
  EXPECT_EQ(
      MessageOf(table, domain, {{2, 3, 4, 5}}, {}),
      "the table a2 x a3 x a4 x a5 has 18446744073709551616 cells, too many to hold; ask for fewer "
      "attributes");
  EXPECT_EQ(MessageOf(table, domain, {{1, 0}}, {}),
            "the marginal a1 x a0 does not list its attributes in domain order");
  EXPECT_EQ(MessageOf(table, domain, {{0, 9}}, {}),
            "attribute index 9 is not in the domain; indices run from 0 to 5");
  EXPECT_EQ(MessageOf(table, domain, {{0}}, {.num_threads = -1}),
            "-1 threads; give 1 or more, or 0 for one per processor");
  EXPECT_EQ(MessageOf(table, DomainOfSizes({10, 20}), {{0}}, {}),
            "the table was encoded for another domain than the one to count");
}

TEST(PlanCounting, CoversEachSetOnceWithFewerAdditionsThanSets) {
  const Domain domain = DomainOfSizes({100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2});
  const std::vector<AttributeSet> sets = SetsUpTo(14, 3);
  const std::vector<CountedTable> plan =
      PlanCounting(domain, sets, std::numeric_limits<int64_t>::max());
  std::vector<int> times_covered(sets.size(), 0);
  for (const CountedTable& table : plan) {
    EXPECT_EQ(table.num_cells, NumCellsInMemory(domain, table.attributes));
    for (const int k : table.sets) {
      const AttributeSet& set = sets[static_cast<size_t>(k)];
      ++times_covered[static_cast<size_t>(k)];
      EXPECT_TRUE(
          std::includes(table.attributes.begin(), table.attributes.end(), set.begin(), set.end()));
    }
  }
  EXPECT_EQ(times_covered, std::vector<int>(sets.size(), 1));
  EXPECT_LT(AdditionsPerRow(domain, plan), 364 / 2);
}

TEST(PlanCounting, CountsOnlyMaximalSetsWhereNothingMayBeWidened) {
  const Domain domain = DomainOfSizes({2, 2, 2, 2, 2});
  const std::vector<CountedTable> plan = PlanCounting(domain, SetsUpTo(5, 2), 0);
  EXPECT_EQ(plan.size(), 10u);
  for (const CountedTable& table : plan) EXPECT_EQ(table.attributes.size(), 2u);
}

// More than 2^32 rows would take too long: the 64-bit counters are tried directly.
TEST(CountRows, SixtyFourBitCountersAgree) {
  std::mt19937_64 random(9);
  const Domain domain = DomainOfSizes({30, 20, 300});
  const EncodedTable table = RandomTable(domain, 5000, random);
  const std::vector<AttributeSet> sets = {{0, 1, 2}, {0, 2}, {1}};
  const CountedTable counted{{0, 1, 2}, 180'000, {0, 1, 2}};
  std::vector<uint64_t> counters(180'000, 0);
  CountRows(table, counted.attributes, 0, 1234, counters);
  CountRows(table, counted.attributes, 1234, 5000, counters);
  const auto cells = SumDown(domain, counted, sets, counters);
  for (size_t k = 0; k < sets.size(); ++k) {
    EXPECT_EQ(cells[k], oracle::NaiveMarginal(table, domain, sets[k]));
  }
}

// Each width of codes and of cell numbers, and the places where one width becomes the next, with
// row counts around the length of a block.
TEST(CountRows, AgreesWithBruteForceInEveryWidth) {
  std::mt19937_64 random(10);
  const std::vector<std::vector<int64_t>> all_sizes = {
      {2},          {256},        {257},         {65535},        {65536},         {65537},
      {5, 51, 257}, {255, 257},   {256, 256},    {257, 256},     {300, 300},      {2, 65535},
      {65535, 2},   {65536, 2},   {2, 65536},    {2, 65537},     {65537, 2},      {2, 65537, 2},
      {7, 300, 31}, {7, 300, 32}, {3, 2, 2, 70}, {100, 100, 99}, {300, 2, 301, 2}};
  for (const std::vector<int64_t>& sizes : all_sizes) {
    const Domain domain = DomainOfSizes(sizes);
    AttributeSet all;
    int64_t num_cells = 1;
    for (int i = 0; i < domain.size(); ++i) {
      all.push_back(i);
      num_cells *= sizes[static_cast<size_t>(i)];
    }
    for (const int64_t num_rows : {1, 3, 2047, 2048, 2049, 4100}) {
      const EncodedTable table = RandomTable(domain, num_rows, random);
      std::vector<uint32_t> counters(static_cast<size_t>(num_cells), 0);
      CountRows(table, all, 0, num_rows / 3, counters);
      CountRows(table, all, num_rows / 3, num_rows, counters);
      const std::vector<int64_t> expected = oracle::NaiveMarginal(table, domain, all);
      EXPECT_TRUE(std::equal(counters.begin(), counters.end(), expected.begin(), expected.end()))
          << fmt::format("{} cells, {} rows", num_cells, num_rows);
    }
  }
}

// More cells than a table of counters could have.
TEST(CellsOf, AgreesWithBruteForceBeyond32Bits) {
  std::mt19937_64 random(11);
  const Domain domain = DomainOfSizes({65537, 65536, 300, 2});
  const EncodedTable table = RandomTable(domain, 5000, random);
  const auto code = [&](int i, int64_t row) {
    return std::visit([&](const auto& codes) { return uint64_t{codes[static_cast<size_t>(row)]}; },
                      table.column(i));
  };
  for (const AttributeSet& set : {AttributeSet{0, 1, 2}, {1, 2, 3}, {2, 3}, {3}, {0, 1, 2, 3}}) {
    std::vector<uint64_t> cells(4990);
    CellsOf(table, set, 10, cells);
    for (size_t k = 0; k < cells.size(); ++k) {
      uint64_t expected = 0;
      for (const int i : set) {
        expected = expected * static_cast<uint64_t>(domain[i].size) +
                   code(i, 10 + static_cast<int64_t>(k));
      }
      ASSERT_EQ(cells[k], expected) << SetName(domain, set) << ", row " << 10 + k;
    }
  }
}

}  // namespace
}  // namespace residua
