#include "residua/model/symmetry.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "residua/base/error.h"
#include "residua/model/closure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

using Kind = MarginalRule::Kind;

// Every set of the workload with its weight, expanded from the orbits.
std::map<AttributeSet, double> Expand(const WorkloadOrbits& workload) {
  std::map<AttributeSet, double> sets;
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    int64_t members = 0;
    ForEachMember(workload.classes, workload.orbits[j], [&](const AttributeSet& set) {
      EXPECT_TRUE(sets.emplace(set, workload.weight[static_cast<size_t>(j)]).second);
      ++members;
    });
    EXPECT_EQ(OrbitSize(workload.classes, workload.orbits[j]), static_cast<long>(members));
  }
  return sets;
}

TEST(SymmetryTest, EqualAttributesCollapseUnderRules) {
  const Domain domain = ParseDomain("10*200");
  const WorkloadOrbits workload = FindSymmetry(domain, {{{Kind::kUpTo, 3}}, {}});
  EXPECT_EQ(workload.classes.size(), 1);
  EXPECT_EQ(workload.orbits.size(), 4);
  EXPECT_EQ(Closure(workload.orbits).size(), 4);
}

TEST(SymmetryTest, AListedMarginalSplitsClasses) {
  const Domain domain = ParseDomain("5*6");
  // Attributes 0 and 1 occur in the listed pair, the rest do not: two classes.
  const WorkloadOrbits pair = FindSymmetry(domain, {{{Kind::kExactly, 1}}, {{{0, 1}, 1.0}}});
  EXPECT_EQ(pair.classes.members, (std::vector<std::vector<int>>{{0, 1}, {2, 3, 4, 5}}));
  // All pairs listed: full symmetry.
  Workload all{{}, {}};
  for (int i = 0; i < 6; ++i) {
    for (int j = i + 1; j < 6; ++j) all.marginals.push_back({{i, j}, 2.0});
  }
  EXPECT_EQ(FindSymmetry(domain, all).classes.size(), 1);
  all.marginals.back().weight = 3.0;
  EXPECT_EQ(FindSymmetry(domain, all).classes.size(), 2);
  // A path 0-1-2-3-4-5 has mirror symmetry, which is not a product of permutations within classes.
  Workload path{{}, {}};
  for (int i = 0; i < 5; ++i) path.marginals.push_back({{i, i + 1}, 1.0});
  EXPECT_EQ(Expand(FindSymmetry(domain, path)), Expand(WithoutSymmetry(domain, path)));
}

TEST(SymmetryTest, OrbitsExpandToExactlyTheWorkload) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 300; ++trial) {
    const int d = 2 + pick(5);
    std::string sizes;
    for (int i = 0; i < d; ++i) sizes += (i > 0 ? "," : "") + std::to_string(2 + pick(2));
    const Domain domain = ParseDomain(sizes);
    Workload workload;
    if (pick(3) > 0)
      workload.rules.push_back({pick(2) == 0 ? Kind::kExactly : Kind::kUpTo, pick(d)});
    if (pick(4) == 0) workload.rules.push_back({Kind::kMaxCells, 1 + pick(20)});
    std::set<AttributeSet> used;
    for (int k = pick(6); k > 0 || (workload.rules.empty() && used.empty()); --k) {
      AttributeSet set;
      for (int i = 0; i < d; ++i) {
        if (pick(2) == 0) set.push_back(i);
      }
      if (used.insert(set).second) workload.marginals.push_back({set, 1.0 + pick(2)});
    }
    const WorkloadOrbits collapsed = FindSymmetry(domain, workload);
    EXPECT_EQ(Expand(collapsed), Expand(WithoutSymmetry(domain, workload))) << sizes;
    EXPECT_NO_THROW(OrbitsUnder(domain, workload, collapsed.classes));
  }
}

TEST(SymmetryTest, ClassesThatAreNotASymmetryAreRefused) {
  const Domain domain = ParseDomain("5*3");
  const Workload workload{{}, {{{0, 1}, 1.0}}};
  const AttributeClasses one_class{{{0, 1, 2}}, {0, 0, 0}};
  EXPECT_THROW(OrbitsUnder(domain, workload, one_class), Error);
}

TEST(ClosureTest, HoldsEverySubsetOnce) {
  const Domain domain = ParseDomain("2,3,4,5");
  const WorkloadOrbits workload = WithoutSymmetry(domain, {{}, {{{0, 1, 2}, 1.0}, {{2, 3}, 1.0}}});
  EXPECT_EQ(Closure(workload.orbits).size(), 8 + 2);
}

TEST(ClosureTest, RefusesWhatWouldNotFit) {
  std::string sizes = "2";
  for (int n = 3; n < 45; ++n) sizes += "," + std::to_string(n);
  const Domain domain = ParseDomain(sizes);
  const WorkloadOrbits workload = FindSymmetry(domain, {{{Kind::kExactly, domain.size()}}, {}});
  EXPECT_THROW(Closure(workload.orbits), Error);
}

TEST(MultisetTableTest, FindsWhatWasInsertedAmongMany) {
  MultisetTable table;
  for (int i = 0; i < 300; ++i) {
    for (int j = i; j < 300; ++j) table.Insert(std::vector<int>{i, j});
  }
  EXPECT_EQ(table.size(), 300 * 301 / 2);
  const auto index = table.Find(std::vector<int>{17, 250});
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(std::vector<int>(table[*index].begin(), table[*index].end()),
            (std::vector<int>{17, 250}));
  EXPECT_FALSE(table.Find(std::vector<int>{250, 17}).has_value());
  EXPECT_FALSE(table.Find(std::vector<int>{}).has_value());
}

TEST(MultisetTableTest, FindsAListByTheSumOfItsItemsHashes) {
  MultisetTable table;
  EXPECT_FALSE(table.FindHash(0).has_value());
  for (int i = 0; i < 60; ++i) {
    for (int j = i; j < 60; ++j) table.Insert(std::vector<int>{i, j});
  }
  for (int64_t k = 0; k < table.size(); ++k) {
    const uint64_t hash = MultisetTable::HashOf(table[k][0]) + MultisetTable::HashOf(table[k][1]);
    EXPECT_EQ(hash, MultisetTable::HashOf(table[k]));
    EXPECT_EQ(table.FindHash(hash), k);
  }
  EXPECT_FALSE(table.FindHash(MultisetTable::HashOf(7)).has_value());
  EXPECT_FALSE(table.FindHash(0).has_value()) << "the empty list";
}

TEST(AttributeSetTest, HasASubsetForEachMask) {
  const AttributeSet set = {2, 5, 9};
  std::vector<AttributeSet> subsets;
  ForEachSubset(set, [&](size_t mask, std::span<const int> subset) {
    EXPECT_EQ(mask, subsets.size());
    subsets.emplace_back(subset.begin(), subset.end());
    EXPECT_TRUE(IsSubset(subsets.back(), set));
  });
  EXPECT_EQ(subsets,
            (std::vector<AttributeSet>{{}, {2}, {5}, {2, 5}, {9}, {2, 9}, {5, 9}, {2, 5, 9}}));
  ForEachSubset({}, [&](size_t, std::span<const int> subset) { EXPECT_TRUE(subset.empty()); });
  EXPECT_FALSE(IsSubset({2, 4}, set));
  EXPECT_FALSE(IsSubset(set, {2, 5}));
}

}  // namespace
}  // namespace residua
