#include "residua/measure/counted_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/measure.h"
#include "residua/measure/table_counters.h"
#include "residua/measure/true_counts.h"
#include "residua/select/select.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/naive_marginal.h"

namespace residua {
namespace {

using Marginals = std::map<AttributeSet, std::vector<int64_t>>;

Marginals MarginalsOf(CountedRows&& rows, const CountingOptions& options) {
  Marginals marginals;
  CountMarginalBatches(rows, options, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& marginal : batch) {
      EXPECT_TRUE(marginals.emplace(marginal.attributes(), TrueCounts::Cells(marginal)).second);
    }
  });
  return marginals;
}

// The sums of what a loop over the rows of each part counts.
void ExpectNaiveSums(const Marginals& marginals, const std::vector<EncodedTable>& parts,
                     const Domain& domain, const std::vector<AttributeSet>& sets) {
  EXPECT_EQ(marginals.size(), sets.size());
  for (const AttributeSet& set : sets) {
    std::vector<int64_t> sums(static_cast<size_t>(NumCellsInMemory(domain, set)), 0);
    for (const EncodedTable& part : parts) {
      const std::vector<int64_t> cells = oracle::NaiveMarginal(part, domain, set);
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += cells[c];
    }
    EXPECT_EQ(marginals.at(set), sums) << SetName(domain, set);
  }
}

class CountedRowsTest : public testing::TestWithParam<int64_t> {
 protected:
  const Domain domain_ = DomainOfSizes({40, 300, 2, 7, 3});
  const std::vector<AttributeSet> sets_ = SetsUpTo(5, 3);
  const CountingOptions options_{.memory_budget_bytes = GetParam(), .num_threads = 3};
};

// With the memory to count as rows come, and without.
INSTANTIATE_TEST_SUITE_P(Budgets, CountedRowsTest, testing::Values(int64_t{1} << 30, 200'000));

TEST_P(CountedRowsTest, AgreesWithBruteForceInParts) {
  std::mt19937_64 random(1);
  std::vector<EncodedTable> parts;
  CountedRows rows(domain_, sets_, options_);
  EXPECT_EQ(rows.holds_rows(), GetParam() < (int64_t{1} << 30));
  for (const int64_t num_rows : {1000, 0, 1, 70'000, 3}) {
    parts.push_back(RandomTable(domain_, num_rows, random));
    rows.Add(EncodedTable(parts.back()));
  }
  std::vector<EncodedTable> last;
  for (const int64_t num_rows : {500, 0}) {
    parts.push_back(RandomTable(domain_, num_rows, random));
    last.push_back(parts.back());
  }
  rows.AddAlone(std::move(last));
  EXPECT_EQ(rows.num_rows(), 71'504);
  ExpectNaiveSums(MarginalsOf(std::move(rows), options_), parts, domain_, sets_);
}

TEST_P(CountedRowsTest, AgreesWithBruteForceWhereThreadsAddAtOnce) {
  std::vector<EncodedTable> parts;
  std::mt19937_64 random(2);
  for (int k = 0; k < 40; ++k) parts.push_back(RandomTable(domain_, 1000 + 7 * k, random));
  CountedRows rows(domain_, sets_, options_);
  {
    std::vector<std::jthread> threads;
    for (size_t first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (size_t k = first; k < parts.size(); k += 4) rows.Add(EncodedTable(parts[k]));
      });
    }
  }
  ExpectNaiveSums(MarginalsOf(std::move(rows), options_), parts, domain_, sets_);
}

TEST_P(CountedRowsTest, CountsNoRows) {
  CountedRows rows(domain_, sets_, options_);
  EXPECT_EQ(rows.num_rows(), 0);
  ExpectNaiveSums(MarginalsOf(std::move(rows), options_), {}, domain_, sets_);
}

TEST(CountedRowsErrors, NamesWhatItRefuses) {
  const Domain domain = DomainOfSizes({10, 65536, 65536});
  try {
    CountedRows(domain, {{1, 2}},
                {.memory_limit_bytes = int64_t{1} << 30, .max_whole_cells = int64_t{1} << 40});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "counting a1 x a2 takes 64.0 GiB of memory, and 1.0 may be used; ask for fewer "
                 "attributes together");
  }
  // In slabs it takes less.
  try {
    CountedRows(domain, {{1, 2}}, {.memory_limit_bytes = int64_t{1} << 30, .num_threads = 1});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "counting a1 x a2 takes 8.2 GiB of memory, and 1.0 may be used; ask for fewer "
                 "attributes together");
  }
  std::mt19937_64 random(3);
  CountedRows rows(domain, {{0}}, {});
  EXPECT_THROW(rows.Add(RandomTable(DomainOfSizes({10}), 5, random)), Error);
  EXPECT_THROW(CountedRows(domain, {{0}}, {.num_threads = -1}), Error);
}

TEST(CountedRowsErrors, StopsWhenAsked) {
  std::mt19937_64 random(4);
  const Domain domain = DomainOfSizes({10, 3});
  std::stop_source stop;
  CountedRows rows(domain, SetsUpTo(2, 2), {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_THROW(rows.Add(RandomTable(domain, 5, random)), Error);
}

// More than 2^32 rows would take too long.
TEST(TableCounters, BecomeWideBeforeTheyWrap) {
  std::mt19937_64 random(5);
  const Domain domain = DomainOfSizes({30, 20});
  TableCounters counters(600, 1000);
  std::vector<int64_t> sums(600, 0);
  for (const int64_t num_rows : {400, 600, 1, 5000}) {
    const EncodedTable part = RandomTable(domain, num_rows, random);
    counters.Add(part, {0, 1});
    const std::vector<int64_t> cells = oracle::NaiveMarginal(part, domain, {0, 1});
    for (size_t c = 0; c < sums.size(); ++c) sums[c] += cells[c];
  }
  const Counters counted = counters.Take();
  ASSERT_TRUE(std::holds_alternative<std::vector<uint64_t>>(counted));
  const auto& wide = std::get<std::vector<uint64_t>>(counted);
  EXPECT_EQ(std::vector<int64_t>(wide.begin(), wide.end()), sums);
}

TEST(TableCounters, StayNarrowForAsManyRowsAsTheyHold) {
  std::mt19937_64 random(6);
  const Domain domain = DomainOfSizes({30});
  TableCounters counters(30, 1000);
  counters.Add(RandomTable(domain, 1000, random), {0});
  EXPECT_TRUE(std::holds_alternative<std::vector<uint32_t>>(counters.Take()));
}

TEST(MeasureCountedRows, RefusesRowsCountedForAnotherPlan) {
  const Domain domain = DomainOfSizes({4, 3});
  const Plan plan = Select(
      {domain, {{{MarginalRule::Kind::kUpTo, 2}}, {}}, {}, BudgetFromPcost(Rational(1)), {}});
  const MeasurablePlan measurable(VerifiedPlan(plan), 0, {});
  const auto measure = [&](CountedRows&& rows) {
    int64_t num_sets = 0;
    Measure(measurable, std::move(rows), {}, [&](NoisyResidual&&) { ++num_sets; });
    return num_sets;
  };
  EXPECT_EQ(measure(CountedRows(domain, MeasuredSets(plan), {})), 4);
  EXPECT_THROW(measure(CountedRows(domain, {{0}}, {})), Error);
  std::mt19937_64 random(7);
  CountedRows one_row(domain, MeasuredSets(plan), {});
  one_row.Add(RandomTable(domain, 1, random));
  EXPECT_THROW(measure(std::move(one_row)), Error);
}

}  // namespace
}  // namespace residua
