#include "residua/reconstruct/table_slabs.h"

#include <gtest/gtest.h>

#include <random>

#include "residua/base/error.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"

namespace residua {
namespace {

// The residuals of all subsets of one table, of random values.
struct RandomResiduals {
  RandomResiduals(const std::string& domain, int scale_bits, bool is_wide)
      : plan(Select({ParseDomain(domain),
                     {{{MarginalRule::Kind::kUpTo, 4}}, {}},
                     {},
                     BudgetFromPcost(1),
                     {}})) {
    std::mt19937_64 random(7);
    for (int i = 0; i < plan.domain.size(); ++i) table.push_back(i);
    ForEachSubset(table, [&](size_t, std::span<const int> subset) {
      NoisyResidual residual{AttributeSet(subset.begin(), subset.end()), {}, 1000, scale_bits};
      int64_t size = 1;
      for (const int i : subset) size *= plan.domain[i].size;
      std::vector<int64_t> narrow;
      std::vector<Int128> wide;
      for (int64_t k = 0; k < size; ++k) {
        narrow.push_back(static_cast<int64_t>(random()) >> 20);
        wide.push_back(Int128{narrow.back()} << 40);
      }
      if (is_wide) {
        residual.values = std::move(wide);
      } else {
        residual.values = std::move(narrow);
      }
      residuals.push_back(std::move(residual));
    });
  }

  // Without the values of the table itself.
  ResidualIndex IndexWithoutTable() const {
    std::vector<ResidualView> views;
    for (const NoisyResidual& residual : residuals) {
      views.push_back(ViewOf(residual));
      if (residual.attributes != table) continue;
      views.back().values = {};
      views.back().is_elsewhere = true;
    }
    return ResidualIndex(plan.domain, BasisOfAttributes(plan), views);
  }

  // The table's values from `first` on, at most `count`.
  ResidualValues Piece(size_t first, size_t count) const {
    return std::visit(
        [&](const auto& values) -> ResidualValues {
          return std::span(values).subspan(first, std::min(count, values.size() - first));
        },
        residuals.back().values);
  }

  Plan plan;
  AttributeSet table;
  std::vector<NoisyResidual> residuals;
};

// To the last bit, for every way that large tables are swept and every kind of values.
TEST(TableSlabs, GiveTheSameCounts) {
  for (const char* domain : {"130*3", "20,30,60,60", "1500,1500", "3,700,1000", "9,700,350"}) {
    for (const auto& [scale_bits, is_wide] :
         {std::pair{0, false}, std::pair{3, false}, std::pair{0, true}}) {
      const RandomResiduals random(domain, scale_bits, is_wide);
      const std::vector<double> expected =
          Reconstruct(IndexResiduals(random.plan, random.residuals), random.table);
      const ResidualIndex index = random.IndexWithoutTable();
      for (const size_t size : {size_t{1} << 20, size_t{777'777}, size_t{50'000}}) {
        TableSlabs slabs(index, random.table, is_wide, 2);
        for (size_t first = 0; first < expected.size(); first += size) {
          slabs.Sum(random.Piece(first, size));
        }
        std::vector<double> counts;
        for (size_t first = 0; first < expected.size(); first += size) {
          slabs.Add(random.Piece(first, size), [&](int64_t begin, std::span<const double> piece) {
            ASSERT_EQ(begin, std::ssize(counts));
            counts.insert(counts.end(), piece.begin(), piece.end());
          });
        }
        EXPECT_TRUE(counts == expected) << domain << " by " << size;
      }
    }
  }
}

TEST(TableSlabs, AreForLargeTablesOfIdentityAttributes) {
  EXPECT_FALSE(TableSlabs::BytesFor(std::vector<int64_t>{100, 100}).has_value());
  EXPECT_FALSE(TableSlabs::BytesFor(std::vector<int64_t>{int64_t{1} << 22}).has_value());
  EXPECT_LT(*TableSlabs::BytesFor(std::vector<int64_t>{1000, 1000, 1000}), 200'000'000);
  EXPECT_GT(*TableSlabs::BytesFor(std::vector<int64_t>{2, 30'000, 30'000}), 1'000'000'000);
}

// What is not there is not read.
TEST(TableSlabs, ValuesElsewhereAreNotReconstructed) {
  const RandomResiduals random("3,4", 0, false);
  EXPECT_THROW(Reconstruct(random.IndexWithoutTable(), random.table), Error);
}

}  // namespace
}  // namespace residua
