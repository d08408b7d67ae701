#include "residua/measure/choose_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

std::vector<size_t> Kept(const std::vector<char>& is_kept) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < is_kept.size(); ++row) {
    if (is_kept[row]) rows.push_back(row);
  }
  return rows;
}

TEST(ChooseRows, KeepsAtMostAsManyOfEachIdentifier) {
  DeterministicBits bits(3);
  const std::vector<int64_t> owners = {0, 1, 0, 2, 0, 2, 0, 0};
  for (int64_t max_rows = 1; max_rows <= 6; ++max_rows) {
    std::map<int64_t, int64_t> num_rows;
    for (const size_t row : Kept(ChooseRows(owners, max_rows, bits))) ++num_rows[owners[row]];
    EXPECT_EQ(num_rows[0], std::min<int64_t>(5, max_rows));
    EXPECT_EQ(num_rows[1], 1);
    EXPECT_EQ(num_rows[2], std::min<int64_t>(2, max_rows));
  }
  EXPECT_TRUE(ChooseRows({}, 1, bits).empty());
}

// Each of the 10 pairs of 5 rows is as likely: chi-squared with 9 degrees of freedom is above 33.7
// once in ten thousand times. Keeping the first rows, or the last, fails at once.
TEST(ChooseRows, EveryChoiceIsEquallyLikely) {
  DeterministicBits bits(4);
  const std::vector<int64_t> owners = {0, 1, 0, 0, 1, 0, 0};
  std::map<std::vector<size_t>, int> counts;
  constexpr int kRuns = 20000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<size_t> rows = Kept(ChooseRows(owners, 2, bits));
    std::erase_if(rows, [&](size_t row) { return owners[row] != 0; });
    ++counts[rows];
  }
  EXPECT_EQ(counts.size(), 10u);
  double chi_squared = 0;
  for (const auto& [rows, count] : counts) {
    const double expected = kRuns / 10.0;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 33.7);
}

// The choice by a secret: `codes` tell the rows apart.
std::vector<char> ChosenByKey(const std::vector<int64_t>& owners, const std::vector<uint8_t>& codes,
                              int64_t max_rows, const SealingKey& key) {
  const std::vector<std::string_view> names = {"ann", "bob", "eve"};
  const CodeColumn column = codes;
  const std::vector<const CodeColumn*> columns = {&column};
  return ChooseRows(owners, names, columns, max_rows, key);
}

TEST(ChooseRowsByKey, KeepsTheSameRowsInAnyOrder) {
  std::mt19937_64 random(5);
  const std::vector<int64_t> owners = {0, 1, 0, 2, 0, 2, 0, 0, 0};
  const std::vector<uint8_t> codes = {9, 1, 3, 4, 4, 4, 3, 7, 9};
  for (int64_t max_rows = 1; max_rows <= 7; ++max_rows) {
    const SealingKey key = DrawSealingKey();
    std::map<int64_t, std::multiset<uint8_t>> first;
    for (const size_t row : Kept(ChosenByKey(owners, codes, max_rows, key))) {
      first[owners[row]].insert(codes[row]);
    }
    EXPECT_EQ(std::ssize(first[0]), std::min<int64_t>(6, max_rows));
    EXPECT_EQ(std::ssize(first[1]), 1);
    EXPECT_EQ(std::ssize(first[2]), std::min<int64_t>(2, max_rows));
    std::vector<size_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (int run = 0; run < 20; ++run) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<int64_t> other_owners;
      std::vector<uint8_t> other_codes;
      for (const size_t row : order) {
        other_owners.push_back(owners[row]);
        other_codes.push_back(codes[row]);
      }
      std::map<int64_t, std::multiset<uint8_t>> again;
      for (const size_t row : Kept(ChosenByKey(other_owners, other_codes, max_rows, key))) {
        again[other_owners[row]].insert(other_codes[row]);
      }
      EXPECT_EQ(first, again);
    }
  }
}

// What is kept of one identifier does not depend on the rows of another.
TEST(ChooseRowsByKey, IdentifiersDoNotMatterToEachOther) {
  const SealingKey key = DrawSealingKey();
  const auto of_first = [](std::vector<size_t> rows) {
    std::erase_if(rows, [](size_t row) { return row >= 5; });
    return rows;
  };
  const auto alone = Kept(ChosenByKey({0, 0, 0, 0, 0}, {1, 2, 3, 4, 5}, 2, key));
  const auto with_other = ChosenByKey({0, 0, 0, 0, 0, 1, 1, 1}, {1, 2, 3, 4, 5, 3, 3, 1}, 2, key);
  EXPECT_EQ(of_first(Kept(with_other)), alone);
}

// As above, over many keys; two of the rows are equal, and count as one kind.
TEST(ChooseRowsByKey, EveryChoiceIsEquallyLikely) {
  std::map<std::multiset<uint8_t>, int> counts;
  const std::vector<uint8_t> codes = {1, 2, 3, 4, 4};
  constexpr int kRuns = 20000;
  SealingKey key = {1};
  for (int run = 0; run < kRuns; ++run) {
    key = DerivedKey(key, "the next");  // the same in every run of the test
    std::multiset<uint8_t> kept;
    for (const size_t row : Kept(ChosenByKey({0, 0, 0, 0, 0}, codes, 2, key))) {
      kept.insert(codes[row]);
    }
    ++counts[kept];
  }
  // Of ten pairs: three without a 4, three times two with one, and one of both.
  EXPECT_EQ(counts.size(), 7u);
  double chi_squared = 0;
  for (const auto& [kept, count] : counts) {
    const double expected = kRuns / 10.0 * (kept.count(4) == 1 ? 2 : 1);
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 27.9);  // 6 degrees of freedom, once in ten thousand times
}

}  // namespace
}  // namespace residua
