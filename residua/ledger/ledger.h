#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/rational.h"
#include "residua/privacy/budget.h"

struct sqlite3;

namespace residua {

struct SpendRefusal;  // ledger/spend_refusal.h

// One line of the ledger. A spend is reserved before its noise is drawn. It is confirmed once its
// file is complete and before the file is put in place: until then it counts as spent, and no
// reader can find its file. A spend that is forgiven no longer counts, but stays on record.
struct LedgerEntry {
  enum class Kind { kGrant, kReserved, kConfirmed, kForgiven, kRefused };
  int64_t id = 0;
  Kind kind = Kind::kGrant;
  std::string time = {};         // UTC, when it was written
  Rational pcost = 0;            // granted, spent or asked for
  double delta = 0;              // at which the plan stated its epsilon
  std::string plan_digest = {};  // empty for grants
  std::string what = {};         // the file written, or the reason given
  std::string neighbours = {};   // in words; costs for different ones do not add up
  // The name, beside `what`, of the file that the noise is written to. Empty in spends of versions
  // that confirmed a spend after its file was in place.
  std::string temporary = {};
  std::string note = {};  // what else there is to know
  // A spend's cost on the Gaussian curve; nothing where zCDP alone is known, as of every spend of
  // earlier versions. Of a grant by the Gaussian curve what it grants, and its `pcost` is 0.
  std::optional<Rational> mu2 = {};
  // What a spend's plan was limited by.
  Accounting limits = Accounting::kZcdp;

  bool is_spend() const { return kind == Kind::kReserved || kind == Kind::kConfirmed; }
};

// What was granted for one data set and what was spent on it: an SQLite file. Several processes may
// use it at once; each change is one transaction, on disk when the call returns. One object belongs
// to one thread at a time; threads may each open the file.
//
// Grants are by zCDP or by the Gaussian curve, and both kinds of cost add up (docs/security.md).
// Let R be the sum of the first, in pcost, and M that of the second, in mu2. Each spend is charged
// by one of both: x is the pcost of those charged by zCDP, y the mu2 of the others. The spends are
// within the grants if x <= R and y <= M + R - x: mu-Gaussian DP is mu^2/2-zCDP, so that what is
// left of R pays for it. What is known by zCDP alone is charged so; the others all by zCDP, all by
// the Gaussian curve, or each by what its plan was limited by, whichever fits.
class Ledger {
 public:
  // Opens the ledger; Error{kIo} if there is none.
  static Ledger Open(const std::filesystem::path& path);
  // Opens it, or makes one with this grant.
  static Ledger OpenOrCreate(const std::filesystem::path& path, const Rational& first_grant,
                             const std::string& neighbours,
                             Accounting accounting = Accounting::kZcdp);
  // Makes one before anything is measured. Error{kRefused} if there is a file of that name,
  // Error{kBadInput} without a reason.
  static Ledger Create(const std::filesystem::path& path, const Rational& first_grant,
                       const std::string& neighbours, const std::string& reason,
                       Accounting accounting = Accounting::kZcdp);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  struct Balance {
    Rational granted;          // by zCDP, in pcost
    Rational spent;            // reserved and confirmed, in pcost
    Rational granted_mu2 = 0;  // by the Gaussian curve
    Rational spent_mu2 = 0;    // of the spends whose cost on the curve is known
  };
  // Of the entries before this one, and of all.
  Balance BalanceBefore(int64_t id) const;
  Balance CurrentBalance() const { return BalanceBefore(std::numeric_limits<int64_t>::max()); }
  std::vector<LedgerEntry> Entries() const;

  struct Spend {
    Rational pcost;
    double delta = 0;
    std::string plan_digest;
    std::filesystem::path output;  // absolute
    std::string neighbours;        // in words, from NeighboursInWords
    bool again = false;            // the same plan may be measured a second time
    bool resume = false;           // continue a spend that was interrupted
    std::string temporary = {};    // as in LedgerEntry
    std::string note = {};
    std::optional<Rational> mu2 = {};
    Accounting limits = Accounting::kZcdp;
  };
  // Records the refusal and throws Error{kRefused}, with what was spent, asked for and granted,
  // unless the spend is allowed now.
  void CheckAffordable(const Spend& spend);
  // Why the spend would be refused now; nothing is recorded.
  std::optional<Error> Refusal(const Spend& spend) const;
  // The same, and reserves the spend; returns its id. If several processes resume one spend, it
  // belongs to the last that reserved it.
  int64_t Reserve(const Spend& spend);
  // Error{kRefused} unless the entry is reserved, and for this temporary file: another process may
  // have resumed it since, or a person forgiven it. Only the process that confirmed may publish.
  void Confirm(int64_t id, const std::string& temporary);
  // The file is in place: confirms what is reserved for it, or for its plan if nothing of that is
  // confirmed. Error{kRefused} while another process is writing it.
  void ConfirmPlaced(const Spend& spend);
  // The last spend of the same plan for the same file, and the first of a plan for any file.
  std::optional<LedgerEntry> Find(const Spend& spend) const;
  std::optional<LedgerEntry> FindPlan(const std::string& plan_digest) const;

  // Takes a reserved spend off the count; refused while its file, or a temporary one, is there.
  // Error{kBadInput} unless there is one of that id and a reason.
  void Forgive(int64_t id, const std::string& reason);
  // Adds to what may be spent, for the neighbours that the ledger began with. Error{kBadInput}
  // without a reason.
  void Grant(const Rational& amount, const std::string& reason,
             Accounting accounting = Accounting::kZcdp);
  std::string Neighbours() const;

  // What tells this data set from every other in what is published of it: 32 hexadecimal digits,
  // drawn at random when the ledger was made, or now for one of an earlier version. It does not
  // depend on the data, on its name or on its place.
  std::string Identity();

 private:
  Ledger(const std::filesystem::path& path, bool create);
  // False if there was a file of that name first.
  static bool Make(const std::filesystem::path& path, const LedgerEntry& first_grant);
  void Execute(const std::string& sql) const;
  bool HasColumn(const char* column) const;
  void AddNewColumns();
  int64_t Insert(const LedgerEntry& entry);
  // The reserved entry that the spend continues; Error{kRefused} if that is not safe.
  std::optional<LedgerEntry> FindToResume(const Spend& spend) const;
  int64_t Record(const Spend& spend, const std::optional<SpendRefusal>& refusal);
  template <typename Work>
  auto Transact(const Work& work);

  std::string name_;
  sqlite3* database_ = nullptr;
};

// "rho 0.3 of 0.5 spent", in the units that were granted.
std::string SpentInWords(const Ledger::Balance& balance);

}  // namespace residua
