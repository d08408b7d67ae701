#include "residua/ledger/spend_refusal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/files/file.h"

namespace residua {
namespace {

using Kind = LedgerEntry::Kind;

// What must be granted for the spend to be allowed, in pcost and on the Gaussian curve; not positive
// if it is allowed already. Nothing on the curve where that would not do.
struct Missing {
  Rational pcost;
  std::optional<Rational> mu2;
};

Missing MissingFor(const std::vector<LedgerEntry>& entries, const Ledger::Balance& balance,
                   const Ledger::Spend& spend) {
  std::vector<LedgerEntry> spends;
  for (const LedgerEntry& entry : entries) {
    if (entry.is_spend()) spends.push_back(entry);
  }
  spends.push_back({.pcost = spend.pcost, .mu2 = spend.mu2, .limits = spend.limits});
  const auto missing = [&](const auto& is_by_curve) {
    Rational by_zcdp = 0;
    Rational by_curve = 0;
    for (const LedgerEntry& entry : spends) {
      if (entry.mu2 && is_by_curve(entry)) {
        by_curve += *entry.mu2;
      } else {
        by_zcdp += entry.pcost;
      }
    }
    const Rational in_all = by_zcdp + by_curve - balance.granted - balance.granted_mu2;
    std::optional<Rational> mu2;
    if (by_zcdp <= balance.granted) mu2 = in_all;
    return Missing{std::max(Rational(by_zcdp - balance.granted), in_all), mu2};
  };
  Missing least = missing([](const LedgerEntry&) { return false; });
  for (const Missing& other :
       {missing([](const LedgerEntry&) { return true; }),
        missing([](const LedgerEntry& entry) { return entry.limits == Accounting::kGaussian; })}) {
    least.pcost = std::min(least.pcost, other.pcost);
    if (!other.mu2) continue;
    least.mu2 = least.mu2 ? std::min(*least.mu2, *other.mu2) : *other.mu2;
  }
  return least;
}

}  // namespace

std::filesystem::path TemporaryOf(const LedgerEntry& entry) {
  return FolderOf(entry.what) / entry.temporary;
}

bool IsBeingMeasured(const LedgerEntry& entry) {
  return entry.kind == Kind::kReserved && !entry.temporary.empty() &&
         IsBeingWritten(TemporaryOf(entry));
}

std::optional<LedgerEntry> SpendOf(const std::vector<LedgerEntry>& entries,
                                   const std::string& plan_digest) {
  for (const LedgerEntry& entry : entries) {
    if (entry.is_spend() && entry.plan_digest == plan_digest) return entry;
  }
  return std::nullopt;
}

Rational RootAbove(const Rational& mu2) {
  const double root = std::sqrt(ToDoubleUp(mu2));
  Rational above(root);
  if (above * above < mu2) {
    above = Rational(std::nextafter(root, std::numeric_limits<double>::infinity()));
  }
  return above;
}

std::optional<SpendRefusal> ReasonToRefuse(const std::string& ledger,
                                           const std::vector<LedgerEntry>& entries,
                                           const Ledger::Balance& balance,
                                           const Ledger::Spend& spend) {
  RESIDUA_CHECK(spend.pcost >= 0 && spend.mu2.value_or(0) >= 0);
  for (const LedgerEntry& entry : entries) {
    if (entry.kind != Kind::kRefused && entry.neighbours != spend.neighbours) {
      return SpendRefusal{
          "for other neighbours",
          ErrorOf(ErrorKind::kRefused,
                  "{}: the ledger is kept for \"{}\", the plan for \"{}\", and their costs do not "
                  "add up; plan for the former, or {} and take responsibility for both",
                  ledger, entry.neighbours, spend.neighbours, Phrase{Phrase::Kind::kOtherLedger})};
    }
  }
  const auto earlier = spend.again ? std::nullopt : SpendOf(entries, spend.plan_digest);
  if (earlier && IsBeingMeasured(*earlier)) {
    return SpendRefusal{
        "being measured",
        ErrorOf(ErrorKind::kRefused,
                "{}: another residua is measuring this plan into {} (entry {}, {}); wait "
                "until it is done",
                ledger, earlier->what, earlier->id, earlier->time)};
  }
  if (earlier && earlier->kind == Kind::kConfirmed && !earlier->temporary.empty() &&
      !std::filesystem::exists(earlier->what) && std::filesystem::exists(TemporaryOf(*earlier))) {
    return SpendRefusal{
        "measured before",
        ErrorOf(
            ErrorKind::kRefused,
            "{}: this plan was measured before (entry {}, {}), and its process ended before the "
            "file had its name; it is complete: rename {} to {}",
            ledger, earlier->id, earlier->time, TemporaryOf(*earlier).string(), earlier->what)};
  }
  if (earlier && earlier->kind == Kind::kConfirmed) {
    return SpendRefusal{
        "measured before",
        ErrorOf(
            ErrorKind::kRefused,
            "{}: this plan was measured before, into {} (entry {}, {}); measuring it again is a "
            "new spend: {} if you mean it",
            ledger, earlier->what, earlier->id, earlier->time,
            Phrase{Phrase::Kind::kMeasureAgain})};
  }
  if (earlier) {
    return SpendRefusal{
        "interrupted before",
        ErrorOf(
            ErrorKind::kRefused,
            "{}: a measurement of this plan into {} was interrupted (entry {}, {}); if it was a "
            "release, put its folder back and run the same command again; if nothing of it was "
            "published, {} frees its budget",
            ledger, earlier->what, earlier->id, earlier->time,
            Phrase{Phrase::Kind::kForgive, {fmt::format("{}", earlier->id), ledger}})};
  }
  const Missing missing = MissingFor(entries, balance, spend);
  if (missing.pcost > 0) {
    std::string sums;
    const auto add = [&](std::string_view unit, const Rational& spent, const Rational& asked,
                         const Rational& granted) {
      const SpentText text = TextOfSpent(spent, granted);
      sums += fmt::format("{}{} {} was spent and {} is asked for, of {} granted",
                          sums.empty() ? "" : ", and ", unit, text.spent, TextAbove(asked),
                          text.granted);
    };
    if (balance.granted > 0 || balance.granted_mu2 == 0 || !spend.mu2) {
      add("rho", balance.spent / 2, spend.pcost / 2, balance.granted / 2);
    }
    if (balance.granted_mu2 > 0) {
      add("mu^2", balance.spent_mu2, spend.mu2.value_or(0), balance.granted_mu2);
    }
    // In the unit that the budget was granted in.
    const Phrase more =
        balance.granted == 0 && balance.granted_mu2 > 0 && missing.mu2
            ? Phrase{Phrase::Kind::kGrant, {"mu", TextAbove(RootAbove(*missing.mu2)), ledger}}
            : Phrase{Phrase::Kind::kGrant, {"rho", TextAbove(missing.pcost / 2), ledger}};
    return SpendRefusal{
        "over the budget",
        ErrorOf(ErrorKind::kRefused, "{}: the budget does not allow it: {}; plan for less, or {}",
                ledger, sums, more)};
  }
  return std::nullopt;
}

}  // namespace residua
