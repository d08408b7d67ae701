#include "residua/reconstruct/closest_sets.h"

#include <gtest/gtest.h>

#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/reconstruct/small_release.h"

namespace residua {
namespace {

Plan PlanFor(const std::string& domain, const Workload& workload) {
  return Select(
      {ParseDomain(domain), workload, ParseObjective("sum-variance"), BudgetFromPcost(1), {}});
}

TEST(ClosestMeasured, AreTheMaximalSubsetsTheLargestFirst) {
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 200; ++trial) {
    Workload workload;
    for (size_t m = 0; m <= random() % 3; ++m) {
      std::vector<int> set;
      for (int i = 0; i < 5; ++i) {
        if (random() % 2 == 0) set.push_back(i);
      }
      const bool is_new = std::none_of(
          workload.marginals.begin(), workload.marginals.end(),
          [&](const WeightedMarginal& marginal) { return marginal.attributes == set; });
      if (is_new) workload.marginals.push_back({set, 1});
    }
    const Plan plan = PlanFor("3*3,2*2", workload);
    AttributeSet asked;
    for (int i = 0; i < 5; ++i) {
      if (random() % 3 != 0) asked.push_back(i);
    }
    // Brute force: every intersection with a marginal that no other contains.
    std::vector<AttributeSet> expected;
    for (const WeightedMarginal& marginal : workload.marginals) {
      AttributeSet common;
      std::set_intersection(asked.begin(), asked.end(), marginal.attributes.begin(),
                            marginal.attributes.end(), std::back_inserter(common));
      expected.push_back(common);
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    std::vector<AttributeSet> maximal;
    for (const AttributeSet& set : expected) {
      const bool is_maximal =
          std::none_of(expected.begin(), expected.end(), [&](const auto& other) {
            return other != set &&
                   std::includes(other.begin(), other.end(), set.begin(), set.end());
          });
      if (is_maximal) maximal.push_back(set);
    }
    std::vector<AttributeSet> found = ClosestMeasured(plan, asked, 100);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                               [](const auto& a, const auto& b) { return a.size() > b.size(); }));
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, maximal);
    EXPECT_EQ(ClosestMeasured(plan, asked, 1).size(), 1u);
    EXPECT_TRUE(ClosestMeasured(plan, asked, 0).empty());
    EXPECT_TRUE(ClosestMeasured(plan, asked, -1).empty());
  }
}

// 1,313,400 three-way sets in four orbits: none of them is enumerated.
TEST(ClosestMeasured, DoesNotEnumerate) {
  const Plan plan = PlanFor("10*200", {{{MarginalRule::Kind::kUpTo, 3}}, {}});
  AttributeSet asked;
  for (int i = 0; i < 200; ++i) asked.push_back(i);
  EXPECT_EQ(ClosestMeasured(plan, asked, 2), (std::vector<AttributeSet>{{0, 1, 2}, {0, 1, 3}}));
}

}  // namespace
}  // namespace residua
