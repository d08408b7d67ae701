#include "residua/measure/true_slabs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <thread>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/measure_with_bits.h"
#include "residua/measure/true_counts.h"
#include "residua/select/select.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

AttributeSet AllOf(const Domain& domain) {
  AttributeSet set;
  for (int i = 0; i < domain.size(); ++i) set.push_back(i);
  return set;
}

Domain WithPrefix(const std::vector<int64_t>& sizes, size_t attribute) {
  std::vector<Attribute> attributes = DomainOfSizes(sizes).attributes();
  attributes[attribute].queries = QueryKind::kPrefix;
  return Domain(attributes);
}

TEST(SlabCutTest, CutsTheFirstAttributeThatLeavesFewSums) {
  const auto cut = [](const Domain& domain, int64_t max_whole_cells) {
    return CutIntoSlabs(domain, AllOf(domain), {.max_whole_cells = max_whole_cells});
  };
  const Domain cube = DomainOfSizes({1000, 1000, 1000});
  const SlabCut of_cube = cut(cube, int64_t{1} << 25).value();
  EXPECT_EQ(of_cube.axis, 0u);
  EXPECT_EQ(of_cube.num_before, 1);
  EXPECT_EQ(of_cube.num_after, 1'000'000);
  EXPECT_EQ(of_cube.slab_size, 4);
  EXPECT_EQ(of_cube.num_slabs(), 250);
  EXPECT_EQ(of_cube.num_cells(), 1'000'000'000);

  // Sums along the first attribute would be half of the table.
  const SlabCut second = cut(DomainOfSizes({2, 30'000, 20'000}), int64_t{1} << 25).value();
  EXPECT_EQ(second.axis, 1u);
  EXPECT_EQ(second.num_before, 2);
  EXPECT_EQ(second.num_after, 20'000);
  EXPECT_EQ(second.num_slabs(), 2 * second.slabs_per_line());

  EXPECT_FALSE(cut(cube, 1'000'000'000).has_value());
  EXPECT_TRUE(cut(cube, 999'999'999).has_value());
  // No cut before an attribute of another kind, and none that is read too often.
  EXPECT_FALSE(cut(WithPrefix({30, 30, 30}, 0), 1000).has_value());
  EXPECT_TRUE(cut(WithPrefix({30, 30, 30}, 1), 1000).has_value());
  EXPECT_FALSE(cut(WithPrefix({2, 30, 30}, 1), 100).has_value());
  EXPECT_FALSE(cut(DomainOfSizes({2, 2, 2, 2, 2, 2, 2, 2, 30, 30}), 20'000).has_value());
}

TEST(SlabCutTest, EverySetIsOnOneSide) {
  const Domain domain = DomainOfSizes({40, 30, 2, 7});
  const std::vector<AttributeSet> sets = SetsUpTo(4, 3);
  const SplitSets split = SplitBySize(domain, sets, {.max_whole_cells = 500});
  EXPECT_EQ(split.in_slabs, (std::vector<AttributeSet>{{0, 1}, {0, 1, 2}, {0, 1, 3}, {0, 2, 3}}));
  EXPECT_EQ(split.whole.size() + split.in_slabs.size(), sets.size());
}

TrueCounts::ResidualValues AllSlabs(const SlabResiduals& residuals) {
  std::vector<int64_t> narrow;
  std::vector<Int128> wide;
  for (int64_t k = 0; k < residuals.num_slabs(); ++k) {
    const TrueResidual slab = residuals.Slab(k);
    if (const auto* values = std::get_if<std::vector<int64_t>>(&TrueCounts::Values(slab))) {
      narrow.insert(narrow.end(), values->begin(), values->end());
    } else {
      const auto& of_slab = std::get<std::vector<Int128>>(TrueCounts::Values(slab));
      wide.insert(wide.end(), of_slab.begin(), of_slab.end());
    }
  }
  if (!wide.empty()) return wide;
  return narrow;
}

// Against the transform of the whole table, in both widths and at several scales.
void ExpectTheWholeTable(const Domain& domain, int64_t max_whole_cells, int64_t num_rows) {
  const Plan plan = Select({domain,
                            {{{MarginalRule::Kind::kUpTo, domain.size()}}, {}},
                            {},
                            BudgetFromPcost(Rational(1)),
                            {}});
  const ResidualTransform transform(domain, MatrixOfAttributes(plan));
  const AttributeSet set = AllOf(domain);
  const CountingOptions options{.max_whole_cells = max_whole_cells, .num_threads = 2};
  const auto cut = CutIntoSlabs(domain, set, options);
  ASSERT_TRUE(cut.has_value());
  std::mt19937_64 random(static_cast<uint64_t>(num_rows + max_whole_cells));
  const EncodedTable table = RandomTable(domain, num_rows, random);
  TrueSlabs slabs(domain, set, *cut);
  slabs.Add(table);
  for (const int scale_bits : {0, 9}) {
    std::vector<int64_t> whole;
    CountMarginals(table, domain, std::vector<AttributeSet>{set}, options,
                   [&](TrueMarginal&& marginal) {
                     const TrueResidual residual = transform.Apply(std::move(marginal), scale_bits);
                     whole = std::get<std::vector<int64_t>>(TrueCounts::Values(residual));
                   });
    const auto narrow = AllSlabs(SlabResiduals(slabs, transform, num_rows, scale_bits));
    EXPECT_EQ(std::get<std::vector<int64_t>>(narrow), whole);
    // So many rows would need 128 bits.
    const auto wide = AllSlabs(SlabResiduals(slabs, transform, int64_t{1} << 62, scale_bits));
    EXPECT_EQ(InLeastWidth(std::get<std::vector<Int128>>(wide)), NoisyValues(whole));
  }
}

TEST(TrueSlabsTest, ResidualsAreThoseOfTheWholeTable) {
  for (const int64_t num_rows : {0, 1, 30, 5000}) {
    ExpectTheWholeTable(DomainOfSizes({13, 4, 5}), 100, num_rows);
    ExpectTheWholeTable(DomainOfSizes({13, 4, 5}), 200, num_rows);
    ExpectTheWholeTable(DomainOfSizes({2, 17, 6}), 50, num_rows);     // one attribute before
    ExpectTheWholeTable(DomainOfSizes({3, 2, 19, 4}), 80, num_rows);  // two
    ExpectTheWholeTable(DomainOfSizes({70, 3}), 20, num_rows);
    ExpectTheWholeTable(WithPrefix({11, 4, 6}, 2), 100, num_rows);
    ExpectTheWholeTable(WithPrefix({2, 11, 5, 3}, 2), 60, num_rows);
  }
}

TEST(TrueSlabsTest, ThreadsAddAtOnce) {
  const Domain domain = DomainOfSizes({40, 9, 10});
  const auto cut = CutIntoSlabs(domain, {0, 1, 2}, {.max_whole_cells = 1000});
  std::mt19937_64 random(3);
  std::vector<EncodedTable> parts;
  for (int k = 0; k < 40; ++k) parts.push_back(RandomTable(domain, 500 + k, random));
  TrueSlabs at_once(domain, {0, 1, 2}, *cut);
  TrueSlabs in_turn(domain, {0, 1, 2}, *cut);
  {
    std::vector<std::jthread> threads;
    for (size_t first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (size_t k = first; k < parts.size(); k += 4) at_once.Add(parts[k]);
      });
    }
  }
  for (const EncodedTable& part : parts) in_turn.Add(part);
  const std::vector<ResidualMatrix> matrices(3, SubtractionMatrix());
  const ResidualTransform transform(domain, matrices);
  EXPECT_EQ(AllSlabs(SlabResiduals(at_once, transform, 30'000, 0)),
            AllSlabs(SlabResiduals(in_turn, transform, 30'000, 0)));
}

class MeasureInSlabsTest : public testing::Test {
 protected:
  using Values = std::map<AttributeSet, std::vector<Int128>>;

  MeasureInSlabsTest() {
    std::mt19937_64 random(4);
    for (const int64_t num_rows : {3000, 0, 7, 2000}) {
      parts_.push_back(RandomTable(domain_, num_rows, random));
    }
  }

  static MeasureOptions Options(int64_t max_whole_cells, int64_t memory_budget_bytes) {
    MeasureOptions options;
    options.counting.max_whole_cells = max_whole_cells;
    options.counting.memory_budget_bytes = memory_budget_bytes;
    options.counting.num_threads = 1;
    return options;
  }

  // The residuals of whole tables.
  Values Truth() const {
    CountedRows rows(domain_, MeasuredSets(plan_), {});
    for (const EncodedTable& part : parts_) rows.Add(EncodedTable(part));
    const ResidualTransform transform(domain_, MatrixOfAttributes(plan_));
    Values truth;
    CountMarginalBatches(rows, {}, [&](std::vector<TrueMarginal>&& marginals) {
      for (TrueMarginal& marginal : marginals) {
        const AttributeSet set = marginal.attributes();
        const TrueResidual residual = transform.Apply(std::move(marginal), ScaleBits(plan_, set));
        std::visit([&](const auto& values) { truth[set].assign(values.begin(), values.end()); },
                   TrueCounts::Values(residual));
      }
    });
    return truth;
  }

  // Sets come in the plan's order, in pieces where they are large.
  Values MeasureRows(const MeasureOptions& options) {
    const std::vector<AttributeSet> sets = MeasuredSets(plan_);
    CountedRows rows(domain_, sets, options.counting);
    for (const EncodedTable& part : parts_) rows.Add(EncodedTable(part));
    Values values;
    const auto append = [&](const NoisyResidual& residual) {
      EXPECT_EQ(residual.noise_variance, IntegerNoiseVariance(plan_, residual.attributes));
      EXPECT_EQ(residual.scale_bits, ScaleBits(plan_, residual.attributes));
      std::vector<Int128>& all = values[residual.attributes];
      std::visit([&](const auto& more) { all.insert(all.end(), more.begin(), more.end()); },
                 residual.values);
    };
    num_pieces_ = 0;
    std::vector<AttributeSet> order;
    DeterministicBits bits(5);
    const MeasurablePlan measurable(VerifiedPlan(plan_), rows.num_rows(), options.counting);
    MeasureWithBits(measurable, std::move(rows), options, [&]() -> BitSource& { return bits; },
                    {[&](NoisyResidual&& residual) {
                       append(residual);
                       order.push_back(residual.attributes);
                     },
                     [&](NoisyPiece&& piece) {
                       EXPECT_EQ(piece.first_value, std::ssize(values[piece.part.attributes]));
                       append(piece.part);
                       ++num_pieces_;
                       if (piece.is_last) order.push_back(piece.part.attributes);
                     }});
    EXPECT_EQ(order, sets);
    return values;
  }

  // Squared errors over their variance are 1 on average: a wrong value, or noise that is missing or
  // doubled anywhere, would show. Too narrow by chance once in a billion times.
  void ExpectTruthAndNoise(const Values& values, const Values& truth) const {
    ASSERT_EQ(values.size(), truth.size());
    for (const auto& [set, exact] : truth) {
      const std::vector<Int128>& noisy = values.at(set);
      ASSERT_EQ(noisy.size(), exact.size());
      if (exact.size() < 100) continue;
      const double variance =
          std::ldexp(IntegerNoiseVariance(plan_, set).get_d(), 2 * ScaleBits(plan_, set));
      double sum = 0;
      for (size_t c = 0; c < exact.size(); ++c) {
        const auto error = static_cast<double>(noisy[c] - exact[c]);
        EXPECT_LT(error * error, 64 * variance) << SetName(domain_, set) << " " << c;
        sum += error * error / variance;
      }
      const auto n = static_cast<double>(exact.size());
      EXPECT_NEAR(sum / n, 1, 6 * std::sqrt(2 / n)) << SetName(domain_, set);
    }
  }

  const Domain domain_ = DomainOfSizes({12, 30, 2, 9});
  Plan PlanFor(const Rational& pcost) const {
    return Select(
        {domain_, {{{MarginalRule::Kind::kUpTo, 3}}, {}}, {}, BudgetFromPcost(pcost), {}});
  }
  Plan plan_ = PlanFor(100);
  std::vector<EncodedTable> parts_;
  int num_pieces_ = 0;
};

TEST_F(MeasureInSlabsTest, MeasuresWhatTheWholeTablesHave) {
  constexpr int64_t kMuch = int64_t{1} << 30;
  const Values truth = Truth();
  ExpectTruthAndNoise(MeasureRows(Options(1'000'000, kMuch)), truth);
  EXPECT_EQ(num_pieces_, 0);
  ExpectTruthAndNoise(MeasureRows(Options(300, kMuch)), truth);  // counted as rows come
  EXPECT_GT(num_pieces_, 20);
  ExpectTruthAndNoise(MeasureRows(Options(300, 1000)), truth);  // rows are held
  EXPECT_GT(num_pieces_, 20);
  MeasureOptions waiting = Options(300, kMuch);
  waiting.waiting.memory_bytes = 0;
  ExpectTruthAndNoise(MeasureRows(waiting), truth);
}

TEST_F(MeasureInSlabsTest, NoiseBeyond64Bits) {
  plan_ = PlanFor(ParseRational("3e-30", "pcost"));
  const Values truth = Truth();
  const Values values = MeasureRows(Options(300, int64_t{1} << 30));
  EXPECT_GT(num_pieces_, 20);
  ExpectTruthAndNoise(values, truth);
  const std::vector<Int128>& of_largest = values.at({0, 1, 3});
  EXPECT_TRUE(std::any_of(of_largest.begin(), of_largest.end(),
                          [](Int128 value) { return value != static_cast<int64_t>(value); }));
}

// A visitor of whole residuals gets them whole.
TEST_F(MeasureInSlabsTest, PiecesAreMadeWhole) {
  std::vector<AttributeSet> order;
  Measure(plan_, parts_.front(), Options(300, 1 << 20), [&](NoisyResidual&& residual) {
    order.push_back(residual.attributes);
    std::visit(
        [&](const auto& values) {
          EXPECT_EQ(std::ssize(values), NumCellsInMemory(domain_, residual.attributes));
        },
        residual.values);
  });
  EXPECT_EQ(order, MeasuredSets(plan_));
}

TEST_F(MeasureInSlabsTest, StopsBetweenSlabs) {
  std::stop_source stop;
  MeasureOptions options = Options(300, 1 << 20);
  options.counting.stop = stop.get_token();
  CountedRows rows(domain_, MeasuredSets(plan_), options.counting);
  int num_pieces = 0;
  EXPECT_THROW(
      Measure(MeasurablePlan(VerifiedPlan(plan_), 0, options.counting), std::move(rows), options,
              {[](NoisyResidual&&) {},
               [&](NoisyPiece&&) {
                 ++num_pieces;
                 stop.request_stop();
               }}),
      Error);
  EXPECT_EQ(num_pieces, 1);
}

TEST_F(MeasureInSlabsTest, TheMemoryItTakesIsRefusedBeforeAnyRow) {
  const Domain cube = DomainOfSizes({1000, 1000, 1000});
  const std::vector<AttributeSet> sets = {{0, 1, 2}};
  // Two bytes per cell, the sums and the slabs of two threads.
  EXPECT_NO_THROW(
      CheckCountable(cube, sets, 1000, {.memory_limit_bytes = 2'500'000'000, .num_threads = 2}));
  EXPECT_THROW(
      CheckCountable(cube, sets, 1000, {.memory_limit_bytes = 1'500'000'000, .num_threads = 2}),
      Error);
  EXPECT_THROW(CountedRows(cube, sets, {.memory_limit_bytes = 1'500'000'000, .num_threads = 2}),
               Error);
}

}  // namespace
}  // namespace residua
