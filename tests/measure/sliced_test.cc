#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "residua/measure/counting.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/remote/partial_counts.h"
#include "residua/measure/sliced/counting_units.h"
#include "residua/measure/sliced/lane_adder.h"
#include "residua/measure/sliced/packed_rows.h"
#include "residua/measure/sliced/row_digits.h"
#include "residua/measure/sliced/slice_counter.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/measure/sliced/sliced_tables.h"
#include "residua/measure/sliced/sorted_rows.h"
#include "residua/measure/table_counters.h"
#include "residua/measure/true_counts.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/naive_marginal.h"

namespace residua {
namespace {

// All sets of three with `slice`, or some of them.
std::vector<AttributeSet> TablesWith(int num_attributes, int slice, std::mt19937_64* some) {
  std::vector<AttributeSet> tables;
  for (const AttributeSet& set : SetsUpTo(num_attributes, 3)) {
    if (set.size() != 3 || !std::binary_search(set.begin(), set.end(), slice)) continue;
    if (some == nullptr || (*some)() % 3 == 0) tables.push_back(set);
  }
  return tables;
}

SlicePlan PlanOf(const Domain& domain, int slice, std::vector<AttributeSet> tables) {
  const SlicedSets sets{slice, std::move(tables)};
  return SlicePlan(domain, sets, std::make_shared<const RowDigits>(domain, std::span(&sets, 1)));
}

template <typename Counter>
std::vector<std::vector<Counter>> ZerosFor(const Domain& domain, const SlicePlan& plan) {
  std::vector<std::vector<Counter>> counters;
  for (const AttributeSet& table : plan.tables()) {
    counters.emplace_back(static_cast<size_t>(NumCellsInMemory(domain, table)), 0);
  }
  return counters;
}

template <typename Counter>
void ExpectNaive(const Domain& domain, const SlicePlan& plan, const EncodedTable& rows) {
  std::vector<std::vector<Counter>> counters = ZerosFor<Counter>(domain, plan);
  std::vector<Counter*> first_cells;
  for (auto& of_table : counters) first_cells.push_back(of_table.data());
  const int64_t middle = rows.num_rows() / 3;
  CountSliced<Counter>(plan, rows, 0, middle, first_cells);
  CountSliced<Counter>(plan, rows, middle, rows.num_rows(), first_cells);
  for (size_t t = 0; t < counters.size(); ++t) {
    const std::vector<int64_t> expected = oracle::NaiveMarginal(rows, domain, plan.tables()[t]);
    EXPECT_TRUE(
        std::equal(counters[t].begin(), counters[t].end(), expected.begin(), expected.end()))
        << SetName(domain, plan.tables()[t]) << " sliced by " << domain[plan.slice()].name;
  }
}

TEST(SlicePlan, CountsLikeBruteForceOnRandomDomains) {
  std::mt19937_64 random(1);
  constexpr std::array<int64_t, 16> kSizes = {2, 2,  2,  3,  4,  5,  7,   8,
                                              9, 15, 16, 17, 20, 42, 100, 256};
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<int64_t> sizes(3 + random() % 8);
    for (int64_t& size : sizes) size = kSizes[random() % (trial % 4 == 0 ? 11 : kSizes.size())];
    // A cell for missing values is one more.
    sizes.front() = std::min<int64_t>(sizes.front() + 1, 256);
    std::shuffle(sizes.begin(), sizes.end(), random);
    const Domain domain = DomainOfSizes(sizes);
    const auto slice = static_cast<int>(random() % sizes.size());
    const SlicePlan plan =
        PlanOf(domain, slice, TablesWith(domain.size(), slice, trial % 2 == 0 ? nullptr : &random));
    const EncodedTable rows =
        RandomTable(domain, static_cast<int64_t>(random() % (trial % 3 == 0 ? 4000 : 40)), random);
    ExpectNaive<uint32_t>(domain, plan, rows);
    ExpectNaive<uint64_t>(domain, plan, rows);
  }
}

// More attributes than one word of a packed row, one pass of lanes, and one group hold.
TEST(SlicePlan, CountsManyAttributes) {
  std::mt19937_64 random(2);
  const Domain domain = DomainOfSizes(
      {16, 30, 15, 14, 17, 13, 18, 12, 11, 16, 2, 2, 2, 2, 2, 2, 2, 2, 2, 19, 2, 3, 9, 8, 20});
  const SlicePlan plan = PlanOf(domain, 1, TablesWith(domain.size(), 1, nullptr));
  EXPECT_GT(plan.bytes_per_row(), 8u);
  EXPECT_GT(plan.row_digits().groups().size(), 1u);
  ExpectNaive<uint32_t>(domain, plan, RandomTable(domain, 3000, random));
}

// Rows in which some lanes fill up much faster than others, or all at once.
enum class Skew { kConstantColumns, kOneValueDominates, kSorted };

EncodedTable SkewedRows(const Domain& domain, int64_t num_rows, Skew skew,
                        std::mt19937_64& random) {
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : domain.attributes()) {
    const auto size = static_cast<uint64_t>(attribute.size);
    const bool is_constant = random() % 2 == 0;
    std::vector<uint8_t> codes;
    for (int64_t row = 0; row < num_rows; ++row) {
      const bool is_common = skew == Skew::kConstantColumns     ? is_constant
                             : skew == Skew::kOneValueDominates ? random() % 100 != 0
                                                                : false;
      codes.push_back(static_cast<uint8_t>(is_common ? size - 1 : random() % size));
    }
    if (skew == Skew::kSorted) std::sort(codes.begin(), codes.end());
    columns.emplace_back(std::move(codes));
  }
  return EncodedTable(domain, std::move(columns));
}

// Visits the counters of the plan's tables, counted with vectors of each width that this processor
// has.
template <typename Visit>
void ForEachWidth(const Domain& domain, const SlicePlan& plan, const EncodedTable& rows,
                  const Visit& visit) {
  RowMemory packed_memory;
  RowMemory sorted_memory;
  const PackedRows packed(rows, 0, rows.num_rows(), plan.row_digits(), &packed_memory);
  const SortedRows sorted(packed, plan, &sorted_memory);
  for (const VectorWidth width : WidthsOfThisProcessor()) {
    std::vector<std::vector<uint32_t>> counters = ZerosFor<uint32_t>(domain, plan);
    std::vector<uint32_t*> first_cells;
    for (auto& of_table : counters) first_cells.push_back(of_table.data());
    CountSlices<uint32_t>(plan, sorted, 0, plan.num_values(), first_cells, width);
    visit(counters, width);
  }
}

void ExpectNaiveWithEachWidth(const Domain& domain, const SlicePlan& plan,
                              const EncodedTable& rows) {
  ForEachWidth(domain, plan, rows, [&](const auto& counters, VectorWidth width) {
    for (size_t t = 0; t < counters.size(); ++t) {
      const std::vector<int64_t> expected = oracle::NaiveMarginal(rows, domain, plan.tables()[t]);
      ASSERT_TRUE(
          std::equal(counters[t].begin(), counters[t].end(), expected.begin(), expected.end()))
          << SetName(domain, plan.tables()[t]) << " of " << rows.num_rows() << " rows, width "
          << static_cast<int>(width);
    }
  });
}

TEST(SlicePlan, CountsSkewedRowsWithVectorsOfEachWidth) {
  std::mt19937_64 random(6);
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{100, 42, 16, 15, 9, 7, 6, 5, 2, 2},
                                            {256, 2, 2, 2, 255, 2, 16},
                                            {2, 17, 3, 16, 16, 16, 16, 2, 2},
                                            {20, 256, 5}}) {
    const Domain domain = DomainOfSizes(sizes);
    for (const int slice : {0, 1, domain.size() - 1}) {
      const SlicePlan plan = PlanOf(domain, slice, TablesWith(domain.size(), slice, nullptr));
      for (const Skew skew : {Skew::kConstantColumns, Skew::kOneValueDominates, Skew::kSorted}) {
        for (const int64_t num_rows : {0, 1, 5, 127, 128, 255, 1000, 3001}) {
          ExpectNaiveWithEachWidth(domain, plan, SkewedRows(domain, num_rows, skew, random));
        }
      }
    }
  }
}

EncodedTable EqualRows(const Domain& domain, size_t num_rows, uint8_t code) {
  std::vector<CodeColumn> columns(static_cast<size_t>(domain.size()),
                                  std::vector<uint8_t>(num_rows, code));
  return EncodedTable(domain, std::move(columns));
}

// All rows add to the same lanes, which 8 bits hold up to 255, and then to sums of 16 bits.
TEST(SlicePlan, NoLaneWraps) {
  const Domain domain = DomainOfSizes({20, 30, 16, 15, 9, 7, 6, 5, 2, 2});
  const SlicePlan plan = PlanOf(domain, 0, TablesWith(domain.size(), 0, nullptr));
  for (const size_t num_rows : {1u, 126u, 127u, 128u, 129u, 253u, 254u, 255u, 256u, 257u, 381u,
                                382u, 65534u, 65535u, 65536u, 65537u, 131070u, 131071u, 200'000u}) {
    const EncodedTable rows = EqualRows(domain, num_rows, 1);
    ForEachWidth(domain, plan, rows, [&](auto& counters, VectorWidth) {
      for (size_t t = 0; t < counters.size(); ++t) {
        size_t cell = 0;
        for (const int i : plan.tables()[t]) cell = cell * static_cast<size_t>(domain[i].size) + 1;
        EXPECT_EQ(counters[t][cell], num_rows) << SetName(domain, plan.tables()[t]);
        counters[t][cell] = 0;
        EXPECT_EQ(std::count(counters[t].begin(), counters[t].end(), 0u), std::ssize(counters[t]));
      }
    });
  }
}

// A lane is full from 128 on, and not before.
TEST(LaneAdder, SaysWhichBasesAreFull) {
  const Domain domain = DomainOfSizes({20, 30, 3, 2, 2});
  const SlicedSets sets{0, TablesWith(domain.size(), 0, nullptr)};
  const RowDigits digits(domain, std::span(&sets, 1));
  ASSERT_EQ(digits.groups().size(), 1u);
  // Rows have the same value everywhere but in the attribute of 30 values, which changes.
  std::vector<CodeColumn> columns;
  for (int i = 0; i < domain.size(); ++i) {
    std::vector<uint8_t> codes(kRowsPerAddition, 1);
    for (size_t r = 0; r < codes.size() && i == 1; ++r) codes[r] = static_cast<uint8_t>(r % 30);
    columns.emplace_back(std::move(codes));
  }
  const EncodedTable rows(domain, std::move(columns));
  RowMemory memory;
  const PackedRows packed(rows, 0, rows.num_rows(), digits, &memory);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(packed.words());
  for (const VectorWidth width : WidthsOfThisProcessor()) {
    std::vector<Lanes> spread(30);
    std::vector<Lanes> equal(12);
    const std::array<LaneBase, 2> bases = {LaneBase{digits.DigitOf(1), spread.data()},
                                           LaneBase{digits.DigitOf(2), equal.data()}};
    const LaneAdder adder(digits.groups()[0], bases, width);
    EXPECT_EQ(adder.Add({bytes, 8, 127}), 0u);
    EXPECT_EQ(adder.Add({bytes, 8, 0}), 0u);
    EXPECT_EQ(adder.Add({bytes, 8, 1}), 2u);
    EXPECT_EQ(*std::max_element(spread[0].lane.begin(), spread[0].lane.end()), 6);
  }
}

// The digits that later slices need are in the first words.
TEST(RowDigits, AreSharedBySlices) {
  std::mt19937_64 random(7);
  const Domain domain = DomainOfSizes({20, 21, 22, 23, 24, 25, 26, 27, 28, 3, 4, 5});
  std::vector<SlicedSets> slices;
  for (const int slice : {0, 4, 8}) {
    slices.push_back({slice, TablesWith(domain.size(), slice, nullptr)});
  }
  slices[2].tables = {{6, 8, 9}, {8, 9, 10}};
  const auto digits = std::make_shared<const RowDigits>(domain, slices);
  EXPECT_EQ(digits->words_per_row(), 2u);
  EXPECT_EQ(SlicePlan(domain, slices[1], digits).bytes_per_row(), 16u);
  EXPECT_EQ(SlicePlan(domain, slices[2], digits).bytes_per_row(), 4u);
  const EncodedTable rows = RandomTable(domain, 500, random);
  for (const SlicedSets& sets : slices) {
    ExpectNaiveWithEachWidth(domain, SlicePlan(domain, sets, digits), rows);
  }
}

TEST(SlicePlan, CountsMoreRowsThanAreSortedAtOnce) {
  std::mt19937_64 random(3);
  const Domain domain = DomainOfSizes({17, 3, 18, 2});
  const SlicePlan plan = PlanOf(domain, 2, TablesWith(4, 2, nullptr));
  ExpectNaive<uint32_t>(domain, plan,
                        RandomTable(domain, 2 * PackedRows::kMostRows + 12'345, random));
}

// Counters become wide while other threads count.
TEST(SlicedTables, BecomeWideBeforeTheyWrap) {
  std::mt19937_64 random(4);
  const Domain domain = DomainOfSizes({20, 30, 3, 2, 18});
  const SlicePlan plan = PlanOf(domain, 0, TablesWith(5, 0, nullptr));
  for (const int64_t max_narrow_rows : {0, 999, 2000, 3999, 4000, 5000}) {
    std::vector<TableCounters> counters;
    for (const AttributeSet& table : plan.tables()) {
      counters.emplace_back(NumCellsInMemory(domain, table), max_narrow_rows);
    }
    const EncodedTable part = RandomTable(domain, 500, random);
    SlicedTables tables(plan, counters);
    std::atomic<int64_t> rows_so_far = 0;
    {
      std::vector<std::jthread> threads;
      for (size_t k = 0; k < 4; ++k) {
        threads.emplace_back([&, k] {
          RowMemory packed_memory;
          RowMemory memory;
          for (int repeat = 0; repeat < 2; ++repeat) {
            const PackedRows packed(part, 0, part.num_rows(), plan.row_digits(), &packed_memory);
            tables.Add(packed, rows_so_far += part.num_rows(), 3 * k, {}, &memory);
          }
        });
      }
    }
    for (size_t t = 0; t < counters.size(); ++t) {
      EXPECT_EQ(counters[t].is_wide(), max_narrow_rows < 4000);
      const std::vector<int64_t> expected = oracle::NaiveMarginal(part, domain, plan.tables()[t]);
      std::visit(
          [&](const auto& cells) {
            ASSERT_EQ(cells.size(), expected.size());
            for (size_t c = 0; c < cells.size(); ++c) {
              ASSERT_EQ(static_cast<int64_t>(cells[c]), 8 * expected[c]);
            }
          },
          counters[t].counters());
    }
  }
}

// Attributes in an order that puts slices first, last and between.
class SlicedRowsTest : public testing::Test {
 protected:
  using Marginals = std::map<AttributeSet, std::vector<int64_t>>;

  static Marginals MarginalsOf(CountedRows&& rows, const CountingOptions& options) {
    Marginals marginals;
    CountMarginalBatches(rows, options, [&](std::vector<TrueMarginal>&& batch) {
      for (const TrueMarginal& marginal : batch) {
        EXPECT_TRUE(marginals.emplace(marginal.attributes(), TrueCounts::Cells(marginal)).second);
      }
    });
    return marginals;
  }

  Marginals Naive(const std::vector<EncodedTable>& parts) const {
    Marginals marginals;
    for (const AttributeSet& set : sets_) {
      std::vector<int64_t>& sums = marginals[set];
      sums.resize(static_cast<size_t>(NumCellsInMemory(domain_, set)));
      for (const EncodedTable& part : parts) {
        const std::vector<int64_t> cells = oracle::NaiveMarginal(part, domain_, set);
        for (size_t c = 0; c < sums.size(); ++c) sums[c] += cells[c];
      }
    }
    return marginals;
  }

  std::vector<EncodedTable> Parts(std::initializer_list<int64_t> row_counts) {
    std::vector<EncodedTable> parts;
    for (const int64_t num_rows : row_counts) {
      parts.push_back(RandomTable(domain_, num_rows, random_));
    }
    return parts;
  }

  std::mt19937_64 random_{5};
  const Domain domain_ = DomainOfSizes({2, 60, 16, 50, 2, 9, 40, 6, 300, 45, 5, 15});
  const std::vector<AttributeSet> sets_ = SetsUpTo(12, 3);
};

TEST_F(SlicedRowsTest, SomeTablesAreSlicedAndFollowEachOther) {
  const std::vector<CountedTable> plan = PlanCounting(domain_, sets_, 65'535);
  std::set<int> slices;
  int before = -1;
  for (const CountedTable& table : plan) {
    if (table.slice >= 0 && table.slice != before) {
      EXPECT_TRUE(slices.insert(table.slice).second) << domain_[table.slice].name;
    }
    before = table.slice;
  }
  EXPECT_GE(slices.size(), 2u);
  EXPECT_LT(AdditionsPerRow(domain_, plan), std::ssize(plan));
}

TEST_F(SlicedRowsTest, RowsThatStreamAreCountedLikeBruteForceWithAnyThreads) {
  const std::vector<EncodedTable> parts = Parts({3000, 0, 1, 20'000, 777, 5000});
  const Marginals expected = Naive(parts);
  for (const int num_threads : {1, 2, 5}) {
    const CountingOptions options{.num_threads = num_threads};
    CountedRows rows(domain_, sets_, options);
    ASSERT_FALSE(rows.holds_rows());
    {
      std::vector<std::jthread> threads;
      for (size_t k = 0; k < 4; ++k) {
        threads.emplace_back([&, k] { rows.Add(EncodedTable(parts[k])); });
      }
    }
    rows.AddAlone({parts[4], parts[5]});
    EXPECT_EQ(MarginalsOf(std::move(rows), options), expected) << num_threads << " threads";
  }
}

TEST_F(SlicedRowsTest, RowsThatAreHeldAreCountedLikeBruteForce) {
  const std::vector<EncodedTable> parts = Parts({70'000, 1, 3000});
  const Marginals expected = Naive(parts);
  for (const int num_threads : {1, 40}) {
    const CountingOptions options{.memory_budget_bytes = 4'000'000, .num_threads = num_threads};
    CountedRows rows(domain_, sets_, options);
    ASSERT_TRUE(rows.holds_rows());
    for (const EncodedTable& part : parts) rows.Add(EncodedTable(part));
    EXPECT_EQ(MarginalsOf(std::move(rows), options), expected) << num_threads << " threads";
  }
  // All in one batch, with the rows split between threads.
  Marginals marginals;
  CountMarginals(parts[0], domain_, sets_, {.num_threads = 40}, [&](TrueMarginal&& marginal) {
    marginals.emplace(marginal.attributes(), TrueCounts::Cells(marginal));
  });
  EXPECT_EQ(marginals, Naive({parts[0]}));
}

TEST_F(SlicedRowsTest, PartialCountsAddUp) {
  const std::vector<EncodedTable> parts = Parts({2000, 0, 300});
  const CountingOptions options{.num_threads = 1};
  const CountingJob job{domain_, sets_, options, "the plan", 0, DrawSealingKey()};
  PartialSums sums(job);
  for (size_t k = 0; k < parts.size(); ++k) {
    CountedRows rows(domain_, sets_, options);
    rows.Add(EncodedTable(parts[k]));
    const PartialCounts counts(job, static_cast<int64_t>(k), std::move(rows), {});
    for (int64_t piece = 0; piece < counts.num_pieces(); ++piece) sums.Add(counts.Piece(piece));
  }
  std::vector<std::string> pieces;
  for (const int64_t piece : sums.Pieces()) pieces.push_back(sums.Piece(piece));
  EXPECT_EQ(MarginalsOf(OpenSums(job, pieces).rows, options), Naive(parts));
}

}  // namespace
}  // namespace residua
