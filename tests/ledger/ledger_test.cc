#include "residua/ledger/ledger.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/ledger/sqlite_statement.h"

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

  // Runs SQL with SQLite itself.
  void Sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(LedgerTest, SpendsUpToTheGrantAndNoMore) {
  Ledger ledger = Ledger::OpenOrCreate(path_, Rational(1, 3), kOneRow);
  ledger.Confirm(ledger.Reserve({Rational(1, 6), 1e-9, "a", "one.parquet", kOneRow, false}), "");
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
  ledger.Confirm(confirmed, "");
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
  EXPECT_THROW(ledger.Grant(1, ""), Error);
  EXPECT_THROW(ledger.Grant(1, " \t\r\n"), Error);
  EXPECT_EQ(ledger.CurrentBalance().granted, Rational(3, 2));
  EXPECT_EQ(ledger.BalanceBefore(2).granted, 1);
  // Opening again with another first grant changes nothing.
  EXPECT_EQ(Ledger::OpenOrCreate(path_, 100, kOneRow).CurrentBalance().granted, Rational(3, 2));
}

// Twelve processes race for a budget that seven of them fit into; ten more race to create a ledger.
TEST_F(LedgerTest, ABudgetIsSetBeforeTheFirstSpend) {
  EXPECT_THROW(Ledger::Create(path_, 1, kOneRow, ""), Error);
  EXPECT_THROW(Ledger::Create(path_, 1, kOneRow, "  "), Error);
  EXPECT_THROW(Ledger::Create(path_, 0, kOneRow, "board"), Error);
  EXPECT_FALSE(fs::exists(path_));
  Ledger ledger = Ledger::Create(path_, Rational(1, 3), kOneRow, "board decision");
  EXPECT_EQ(ledger.CurrentBalance().granted, Rational(1, 3));
  EXPECT_EQ(ledger.Neighbours(), kOneRow);
  ASSERT_EQ(ledger.Entries().size(), 1u);
  EXPECT_EQ(ledger.Entries()[0].what, "board decision");
  // Another budget is a grant, not another ledger; and measuring takes this one.
  EXPECT_THROW(Ledger::Create(path_, 1, kOneRow, "board decision"), Error);
  Ledger same = Ledger::OpenOrCreate(path_, 7, kOneRow);
  EXPECT_EQ(same.CurrentBalance().granted, Rational(1, 3));
  EXPECT_TRUE(Refused(same, {Rational(1, 2), 1e-9, "a", "one.parquet", kOneRow, false}));
}

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
        ledger.Confirm(id, "");
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

// However many processes resume an interrupted spend, only one of them may publish what it
// measured.
TEST_F(LedgerTest, ASpendIsConfirmedOnceAndByItsLastHolder) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 1, kOneRow);
  Ledger::Spend spend{1, 1e-9, "plan", folder_ / "m", kOneRow, false, true, "m.one"};
  const int64_t id = ledger.Reserve(spend);
  spend.temporary = "m.two";
  EXPECT_EQ(ledger.Reserve(spend), id) << "the same spend";
  EXPECT_THROW(ledger.Confirm(id, "m.one"), Error);
  EXPECT_EQ(ledger.Entries()[1].kind, Kind::kReserved);
  ledger.Confirm(id, "m.two");
  EXPECT_THROW(ledger.Confirm(id, "m.two"), Error);
  EXPECT_TRUE(Refused(ledger, spend)) << "nothing that was confirmed is continued";
  EXPECT_EQ(ledger.CurrentBalance().spent, 1);
}

TEST_F(LedgerTest, ASpendIsNotTakenFromAProcessAtWork) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 1, kOneRow);
  Ledger::Spend spend{1, 1e-9, "plan", folder_ / "m", kOneRow, false, true};
  {
    const FileInProgress file(spend.output);
    spend.temporary = fs::path(file.path()).filename();
    ledger.Reserve(spend);
    EXPECT_TRUE(Refused(ledger, spend));
    EXPECT_THROW(ledger.ConfirmPlaced(spend), Error);
    spend.resume = false;
    EXPECT_TRUE(Refused(ledger, spend));
    spend.resume = true;
  }
  ledger.Reserve(spend);
  std::ofstream(spend.output) << "made meanwhile";
  EXPECT_TRUE(Refused(ledger, spend));
  ledger.ConfirmPlaced(spend);
  EXPECT_EQ(ledger.Entries()[1].kind, Kind::kConfirmed);
}

// Made by version 0.2, which put a file in place before it confirmed the spend.
TEST_F(LedgerTest, ALedgerOfAnOlderVersionIsContinued) {
  Sql(R"(
    CREATE TABLE entries (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL CHECK (kind IN ('grant', 'reserved', 'confirmed', 'forgiven', 'refused')),
      time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
      pcost TEXT NOT NULL, delta REAL NOT NULL, plan_digest TEXT NOT NULL, what TEXT NOT NULL,
      unit TEXT NOT NULL DEFAULT 'add or remove one row'
    ) STRICT;
    PRAGMA application_id = 1380275017;
    PRAGMA user_version = 1;
    INSERT INTO entries (kind, pcost, delta, plan_digest, what) VALUES ('grant', '3', 0, '', 'it'),
      ('reserved', '1', 1e-9, 'plan', '/nowhere/m');)");
  Ledger ledger = Ledger::Open(path_);
  EXPECT_EQ(ledger.CurrentBalance().spent, 1);
  // There is no way to tell whether the file was in place and was moved away since.
  const Ledger::Spend spend{1, 1e-9, "plan", "/nowhere/m", kOneRow, false, true, "m.a1B2c3"};
  EXPECT_TRUE(Refused(ledger, spend));
  ledger.Forgive(2, "nothing of it was published");
  EXPECT_EQ(ledger.Reserve(spend), 3);
  // And the older version continues with what the newer one changed.
  Sql(R"(INSERT INTO entries (kind, pcost, delta, plan_digest, what, unit)
         VALUES ('reserved', '1', 1e-9, 'other', 'n', 'add or remove one row');
         UPDATE entries SET kind = 'confirmed' WHERE id = 4 AND kind = 'reserved';)");
  EXPECT_EQ(Ledger::Open(path_).CurrentBalance().spent, 2);
  EXPECT_EQ(Ledger::Open(path_).Entries()[3].temporary, "");
}

TEST_F(LedgerTest, AFileInPlaceConfirmsWhatAnOlderVersionReserved) {
  Ledger ledger = Ledger::OpenOrCreate(path_, 5, kOneRow);
  const Ledger::Spend spend{1, 1e-9, "plan", folder_ / "m", kOneRow, false, true};
  ledger.Reserve({1, 1e-9, "plan", folder_ / "elsewhere", kOneRow, false});
  ledger.ConfirmPlaced(spend);
  EXPECT_EQ(ledger.Entries()[1].kind, Kind::kConfirmed) << "the folder was moved";
  ledger.Reserve({1, 1e-9, "plan", folder_ / "third", kOneRow, true});
  ledger.ConfirmPlaced(spend);
  EXPECT_EQ(ledger.Entries()[2].kind, Kind::kReserved) << "that is another spend";
}

// A thread that found the ledger holds a transaction on it while another is still busy making it:
// closing a descriptor of the same file would drop its lock.
TEST_F(LedgerTest, MakingALedgerDropsNoLockOnIt) {
  for (int attempt = 0; attempt < 30; ++attempt) {
    sqlite3* database = nullptr;
    std::thread finder([&] {
      while (!fs::exists(path_)) {
      }
      ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
      sqlite3_busy_timeout(database, 10'000);
      ASSERT_EQ(sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    });
    Ledger::OpenOrCreate(path_, 1, kOneRow);
    finder.join();
    struct stat status = {};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    const std::string inode = ":" + std::to_string(status.st_ino) + " ";
    bool is_locked = false;
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
      is_locked |= line.find(inode) != std::string::npos && line.find("WRITE") != std::string::npos;
    }
    EXPECT_TRUE(is_locked) << "attempt " << attempt;
    sqlite3_close(database);
    fs::remove(path_);
  }
}

TEST_F(LedgerTest, WhatIsNotALedgerIsNotTouched) {
  EXPECT_THROW(Ledger::Open(path_), Error);
  EXPECT_FALSE(fs::exists(path_));
  std::ofstream(path_) << "age,sex\n1,f\n";
  EXPECT_THROW(Ledger::Open(path_), Error);
  EXPECT_THROW(Ledger::OpenOrCreate(path_, 1, kOneRow), Error);
  EXPECT_THROW(Ledger::Open(folder_), Error);
}

TEST_F(LedgerTest, SaysWhatToDoWhereItCannotBeWritten) {
  const auto message_of = [&](const char* uri) {
    sqlite3* database = nullptr;
    sqlite3_open_v2(uri, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr);
    std::string message;
    try {
      sqlite3_exec(database, "CREATE TABLE t (a)", nullptr, nullptr, nullptr);
      FailOfSqlite("people.ledger", database);
    } catch (const Error& error) {
      message = error.what();
    }
    sqlite3_close(database);
    return message;
  };
  Ledger::OpenOrCreate(path_, 1, kOneRow);
  const std::string remedy =
      "; make it a file that can be written, in a folder that can be written";
  EXPECT_EQ(
      message_of(("file:" + path_.string() + "?mode=ro").c_str()),
      "people.ledger: the ledger cannot be used: attempt to write a readonly database" + remedy);
  EXPECT_EQ(message_of("/nowhere/people.ledger"),
            "people.ledger: the ledger cannot be used: unable to open database file" + remedy);
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

Ledger::Spend SpendOf(const char* plan, const Rational& pcost, std::optional<Rational> mu2,
                      Accounting limits) {
  Ledger::Spend spend{pcost, 1e-9, plan, std::string(plan) + ".parquet", kOneRow};
  spend.mu2 = std::move(mu2);
  spend.limits = limits;
  return spend;
}

constexpr Accounting kZcdp = Accounting::kZcdp;
constexpr Accounting kGaussian = Accounting::kGaussian;

// mu^2 adds up as rho does, each against its own grants, exactly.
TEST_F(LedgerTest, BothCostsAddUp) {
  Ledger ledger = Ledger::OpenOrCreate(path_, Rational(1, 3), kOneRow, kGaussian);
  ledger.Reserve(SpendOf("a", Rational(1, 7), Rational(1, 6), kGaussian));
  const Rational hair(1, 1000000000);
  EXPECT_TRUE(Refused(ledger, SpendOf("b", Rational(1, 7), Rational(1, 6) + hair, kGaussian)));
  EXPECT_TRUE(Refused(ledger, SpendOf("c", hair, std::nullopt, kZcdp)))
      << "nothing was granted by zCDP, and zCDP alone is weaker than the curve";
  ledger.Reserve(SpendOf("b", Rational(1, 7), Rational(1, 6), kZcdp));
  const Ledger::Balance balance = ledger.CurrentBalance();
  EXPECT_EQ(balance.granted, 0);
  EXPECT_EQ(balance.granted_mu2, Rational(1, 3));
  EXPECT_EQ(balance.spent, Rational(2, 7));
  EXPECT_EQ(balance.spent_mu2, Rational(1, 3));
  EXPECT_TRUE(Refused(ledger, SpendOf("d", hair, hair, kGaussian)));
  const std::vector<LedgerEntry> entries = ledger.Entries();
  EXPECT_EQ(entries[0].pcost, 0) << "for versions that know zCDP alone, nothing is granted";
  EXPECT_EQ(entries[0].mu2, Rational(1, 3));
  EXPECT_EQ(entries[1].mu2, Rational(1, 6));
  EXPECT_EQ(entries[1].limits, kGaussian);
}

// Each spend is charged by its own plan's unit; what is left of zCDP pays for the curve too, and
// not the other way round.
TEST_F(LedgerTest, GrantsOfBothKinds) {
  const Rational above(1000001, 1000000);  // mu2 is a little above pcost
  Ledger ledger = Ledger::OpenOrCreate(path_, 1, kOneRow);
  ledger.Reserve(SpendOf("rho", 1, above, kZcdp));
  EXPECT_TRUE(Refused(ledger, SpendOf("epsilon", Rational(1, 30), Rational(1, 30), kGaussian)));
  ledger.Grant(Rational(1, 30), "a second question", kGaussian);
  EXPECT_TRUE(Refused(ledger, SpendOf("old", Rational(1, 30), std::nullopt, kZcdp)));
  ledger.Reserve(SpendOf("epsilon", Rational(1, 31), Rational(1, 30), kGaussian));
  ledger.Grant(Rational(1, 2), "a third", kZcdp);
  ledger.Reserve(SpendOf("epsilon 2", Rational(1, 4), Rational(1, 4), kGaussian));
  ledger.Reserve(SpendOf("old", Rational(1, 4), std::nullopt, kZcdp));
  EXPECT_TRUE(Refused(ledger, SpendOf("more", Rational(1, 1000), Rational(1, 1000), kGaussian)));
  EXPECT_EQ(SpentInWords(ledger.CurrentBalance()),
            "rho 0.76613 or mu^2 1.28334 spent (each spend counts in one of the two) of rho 0.75 "
            "and mu^2 0.0333333");
}

// Its grants and spends are by zCDP, and new ones join them.
TEST_F(LedgerTest, ALedgerOfEarlierVersionsGoesOn) {
  {
    Ledger ledger = Ledger::OpenOrCreate(path_, 1, kOneRow);
    ledger.Reserve({Rational(1, 2), 1e-9, "old", "m", kOneRow});
  }
  for (const char* column : {"mu2", "limits"}) {
    Sql(fmt::format("ALTER TABLE entries DROP COLUMN {}", column));
  }
  Ledger ledger = Ledger::Open(path_);
  EXPECT_EQ(ledger.Entries()[1].mu2, std::nullopt);
  EXPECT_EQ(ledger.Entries()[1].limits, kZcdp);
  EXPECT_TRUE(Refused(ledger, SpendOf("a", Rational(51, 100), Rational(51, 100), kGaussian)));
  ledger.Reserve(SpendOf("a", Rational(1, 2), Rational(51, 100), kZcdp));
  EXPECT_EQ(ledger.CurrentBalance().spent, 1);
  EXPECT_EQ(ledger.CurrentBalance().spent_mu2, Rational(51, 100));
}

}  // namespace
}  // namespace residua
