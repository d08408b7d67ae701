#include "residua/ledger/ledger.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "residua/base/error.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

const std::string kOneRow = "add or remove one row";
using Kind = LedgerEntry::Kind;

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    std::string name = testing::TempDir() + "ledger_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "people.ledger";
  }
  ~LedgerTest() override { fs::remove_all(folder_); }

  static bool Refused(Ledger& ledger, const Ledger::Spend& spend) {
    try {
      ledger.Reserve(spend);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return true;
    }
    return false;
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(LedgerTest, SpendsUpToTheGrantAndNotAHairMore) {
  Ledger ledger = Ledger::OpenOrCreate(path_, Rational(1, 3), kOneRow);
  ledger.Confirm(ledger.Reserve({Rational(1, 6), 1e-9, "a", "one.parquet", kOneRow, false}));
  EXPECT_TRUE(Refused(ledger, {Rational(1, 6) + Rational(1, 1000000000), 1e-9, "b", "two.parquet",
                               kOneRow, false}));
  ledger.Reserve({Rational(1, 6), 1e-9, "b", "two.parquet", kOneRow, false});
  EXPECT_EQ(ledger.CurrentBalance().spent, Rational(1, 3)) << "exactly, in rationals";
  EXPECT_TRUE(
      Refused(ledger, {Rational(1, 1000000000), 1e-9, "c", "three.parquet", kOneRow, false}));
  const std::vector<LedgerEntry> entries = ledger.Entries();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[0].kind, Kind::kGrant);
  EXPECT_EQ(entries[1].kind, Kind::kConfirmed);
  EXPECT_EQ(entries[2].kind, Kind::kRefused);
  EXPECT_EQ(entries[3].kind, Kind::kReserved);
  EXPECT_EQ(entries[4].kind, Kind::kRefused);
}

TEST_F(LedgerTest, APlanIsMeasuredOnce) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 10, kOneRow);
  const int64_t id = ledger.Reserve({1, 1e-9, "plan", "m", kOneRow, false});
  EXPECT_TRUE(Refused(ledger, {1, 1e-9, "plan", "m", kOneRow, false}));
  EXPECT_FALSE(Refused(ledger, {1, 1e-9, "plan", "m", kOneRow, true}));
  EXPECT_EQ(ledger.CurrentBalance().spent, 2);
  ledger.Forgive(id, "the machine lost power before anything was written");
  EXPECT_EQ(ledger.CurrentBalance().spent, 1);
}

TEST_F(LedgerTest, ForgivingNeedsAReservedEntryAndAReason) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 10, kOneRow);
  const int64_t reserved = ledger.Reserve({1, 1e-9, "a", "m", kOneRow, false});
  const int64_t confirmed = ledger.Reserve({2, 1e-9, "b", "n", kOneRow, false});
  ledger.Confirm(confirmed);
  EXPECT_THROW(ledger.Forgive(reserved, " "), Error);
  EXPECT_THROW(ledger.Forgive(confirmed, "please"), Error);
  EXPECT_THROW(ledger.Forgive(99, "please"), Error);
  EXPECT_EQ(ledger.CurrentBalance().spent, 3);
  ledger.Forgive(reserved, "nothing was published");
  EXPECT_EQ(ledger.CurrentBalance().spent, 2);
  EXPECT_THROW(ledger.Forgive(reserved, "again"), Error);
  EXPECT_NE(ledger.Entries()[1].what.find("nothing was published"), std::string::npos);
}

TEST_F(LedgerTest, GrantsAddUp) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 1, kOneRow);
  ledger.Grant(Rational(1, 2), "board");
  EXPECT_THROW(ledger.Grant(0, "nothing"), Error);
  EXPECT_THROW(ledger.Grant(-1, "less"), Error);
  EXPECT_EQ(ledger.CurrentBalance().granted, Rational(3, 2));
  // Opening again with another first grant changes nothing.
  EXPECT_EQ(Ledger::OpenOrCreate(path_, 100, kOneRow).CurrentBalance().granted, Rational(3, 2));
}

// Twelve processes race for a budget that seven of them fit into; ten more race to create a ledger.
TEST_F(LedgerTest, ConcurrentProcessesNeverOverspend) {
  std::vector<pid_t> children;
  for (int k = 0; k < 12; ++k) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        Ledger ledger = Ledger::OpenOrCreate(path_, 7, kOneRow);
        const int64_t id =
            ledger.Reserve({1, 1e-9, "plan" + std::to_string(k), "m", kOneRow, false});
        ledger.Confirm(id);
        _exit(0);
      } catch (const Error& error) {
        _exit(error.kind() == ErrorKind::kRefused ? 1 : 2);
      }
    }
    children.push_back(child);
  }
  int spent = 0;
  int refused = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    spent += WEXITSTATUS(status) == 0 ? 1 : 0;
    refused += WEXITSTATUS(status) == 1 ? 1 : 0;
  }
  EXPECT_EQ(spent, 7);
  EXPECT_EQ(refused, 5);
  const Ledger ledger = Ledger::Open(path_);
  EXPECT_EQ(ledger.CurrentBalance().spent, 7);
  EXPECT_EQ(ledger.CurrentBalance().granted, 7) << "created once, granted once";
}

TEST_F(LedgerTest, WhatIsNoLedgerIsNotTouched) {
  EXPECT_THROW(Ledger::Open(path_), Error);
  EXPECT_FALSE(fs::exists(path_));
  std::ofstream(path_) << "age,sex\n1,f\n";
  EXPECT_THROW(Ledger::Open(path_), Error);
  EXPECT_THROW(Ledger::OpenOrCreate(path_, 1, kOneRow), Error);
  EXPECT_THROW(Ledger::Open(folder_), Error);
}

TEST_F(LedgerTest, AddsUpCostsOfOneKindOfNeighboursOnly) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 10, "replace one row");
  ledger.Reserve({1, 1e-9, "a", "m", "replace one row", false});
  EXPECT_TRUE(Refused(ledger, {1, 1e-9, "b", "n", kOneRow, false}));
  // The refusal itself is no reason to refuse, and a grant is for the same neighbours.
  ledger.Grant(1, "more");
  ledger.Reserve({1, 1e-9, "c", "o", "replace one row", false});
  EXPECT_EQ(ledger.Entries().back().neighbours, "replace one row");
  EXPECT_EQ(ledger.CurrentBalance().spent, 2);
}

}  // namespace
}  // namespace residua
