#include "residua/draft/release_cost.h"

#include <gtest/gtest.h>

#include "residua/base/threads.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

ReleaseSize SizeFor(const std::string& domain, const std::string& marginals, double num_rows) {
  return SizeOfRelease(
      Select({ParseDomain(domain), {ParseMarginalRules(marginals), {}}, {}, BudgetFromRho(1)}),
      num_rows, 0);
}

TEST(ReleaseCost, CountsCellsAndAnswers) {
  const ReleaseSize size = SizeFor("10,20:prefix,3:range", "<=2", 1000);
  EXPECT_EQ(size.num_cells, 1 + 10 + 20 + 3 + 200 + 30 + 60);
  EXPECT_EQ(size.largest_cells, 200);
  EXPECT_EQ(size.num_answers, 1 + 10 + 20 + 6 + 200 + 60 + 120) << "3 cells have 6 ranges";
  EXPECT_EQ(size.largest_answers, 10) << "of identity attributes alone";
  EXPECT_GE(size.swept_bytes, 16 * 200);
  EXPECT_EQ(size.bytes_per_row, 0) << "rows are counted as they come";
  EXPECT_EQ(size.sorting_bytes, 0);
  EXPECT_EQ(SizeFor("10", "1", 1000).num_counted, 1);
}

// Rows are sorted in parts: what that takes does not depend on their number.
TEST(ReleaseCost, KnowsThatRowsAreSorted) {
  const ReleaseSize size = SizeFor("100*6,9,7,5,2", "<=3", 1000);
  EXPECT_GT(size.sorting_bytes, 1e6);
  EXPECT_LT(size.sorting_bytes, 1e8 * Threads(0).count());
  EXPECT_EQ(SizeFor("100*6,9,7,5,2", "<=3", 1e9).sorting_bytes, size.sorting_bytes);
  EXPECT_LT(size.num_counted, 120) << "of 120 tables of three, some share additions";
}

TEST(ReleaseCost, HoldsTheRowsOfIdentifiers) {
  SelectRequest request{
      ParseDomain("1000,20"), {ParseMarginalRules("<=1"), {}}, {}, BudgetFromRho(1)};
  request.protection.identifier = "person";
  request.protection.max_rows = 2;
  const ReleaseSize size = SizeOfRelease(Select(request), 1000, 400);
  EXPECT_EQ(size.bytes_per_row, 3) << "1000 cells need two bytes";
}

// Measured in slabs: with 10 million rows in 195 MB, and in a byte per cell with any number.
TEST(ReleaseCost, ABillionCellsTakeLittleMemory) {
  const ReleaseSize size = SizeFor("1000*3", "3", 1e7);
  EXPECT_EQ(size.slab_cells, 1e9);
  EXPECT_EQ(size.largest_cells, 1e6);
  EXPECT_EQ(size.bytes_per_row, 0);
  EXPECT_GT(PredictMemoryBytes(size), 1.5e8);
  EXPECT_LT(PredictMemoryBytes(size), 5e8);
  EXPECT_LT(PredictMemoryBytes(SizeFor("1000*3", "3", 1e9)), 2e9);
  // The table of ranges is made whole.
  EXPECT_GT(PredictMemoryBytes(SizeFor("1000*2,60:range", "3", 1e7)), 1.5e10);
}

// A hierarchy of 84,000 tracts by 18, 2 and 7 cells, all tables: the release took 1,743 MB.
TEST(ReleaseCost, TablesOfHierarchiesHoldWhatTheyAreMadeOf) {
  Attribute place{"place", 84'000};
  place.queries = QueryKind::kHierarchy;
  for (int64_t first = 0; first < place.size;) {
    CellGroup county{"county " + std::to_string(first), {}};
    for (const int64_t last = std::min(place.size, first + 27); first < last; ++first) {
      county.cells.push_back(first);
    }
    place.groups.push_back(std::move(county));
  }
  std::vector<Attribute> attributes = ParseDomain("18,2,7").attributes();
  attributes.push_back(place);
  const ReleaseSize size = SizeOfRelease(
      Select({Domain(attributes), {ParseMarginalRules("<=4"), {}}, {}, BudgetFromRho(1)}), 3.3e7,
      0);
  EXPECT_NEAR(PredictMemoryBytes(size), 1.75e9, 0.2e9);
}

// Large releases take time and memory in proportion; small ones a little of both.
TEST(ReleaseCost, GrowsWithEachSize) {
  const ReleaseSize small = {.num_rows = 10, .bytes_per_row = 1, .num_counted = 1};
  EXPECT_LT(PredictSeconds(small, 2), 1);
  EXPECT_LT(PredictMemoryBytes(small), 2e8);
  const auto doubles = [&](double ReleaseSize::*part, bool is_time, bool is_memory) {
    ReleaseSize large = small;
    large.*part = 1e11;
    ReleaseSize twice = large;
    twice.*part = 2e11;
    const double time = PredictSeconds(twice, 2) / PredictSeconds(large, 2);
    EXPECT_NEAR(time, is_time ? 2 : 1, 0.01);
    const double memory = PredictMemoryBytes(twice) / PredictMemoryBytes(large);
    EXPECT_NEAR(memory, is_memory ? 2 : 1, 0.01);
    EXPECT_NEAR(PredictSeconds(large, 1) / PredictSeconds(large, 4), is_time ? 4 : 1, 0.01);
  };
  doubles(&ReleaseSize::num_rows, true, true);
  doubles(&ReleaseSize::num_identifiers, false, true);
  doubles(&ReleaseSize::num_cells, true, false);
  doubles(&ReleaseSize::largest_cells, false, true);
  doubles(&ReleaseSize::slab_cells, true, false);
  doubles(&ReleaseSize::slab_bytes, false, true);
  doubles(&ReleaseSize::sorting_bytes, false, true);
  doubles(&ReleaseSize::num_answers, true, false);
  doubles(&ReleaseSize::largest_answers, false, true);
  doubles(&ReleaseSize::swept_bytes, false, true);
}

// What no machine of this size can do is refused before anything is spent, with some doubt left for
// the prediction.
TEST(ReleaseCost, RefusesWhatTheMachineCannotHold) {
  constexpr int64_t kMachine = int64_t{24} << 30;
  const auto plan = [](const char* domain) {
    return Select({ParseDomain(domain), {ParseMarginalRules("3"), {}}, {}, BudgetFromRho(1)});
  };
  EXPECT_NO_THROW(CheckMeasuringFits(plan("1000*3"), kMachine)) << "in slabs";
  EXPECT_NO_THROW(CheckTablesFit(plan("1000*3"), kMachine));
  const Plan swept = plan("1000:prefix,1000,1000");
  EXPECT_NO_THROW(CheckMeasuringFits(swept, kMachine)) << "40 GB, give or take";
  for (const auto& check : {CheckMeasuringFits, CheckTablesFit}) {
    EXPECT_NO_THROW(check(swept, 8 * kMachine));
    try {
      check(swept, kMachine / 2);
      FAIL() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
      EXPECT_TRUE(std::string(error.what()).find("this machine has 12.9 GB; leave out") !=
                  std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace residua
