#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "residua/ledger/ledger.h"

namespace residua {

// Why a ledger does not allow a spend.
struct SpendRefusal {
  std::string brief;  // for the record
  Error error;
};

// Nothing if the spend is allowed by a ledger of that name, with these entries and balance.
std::optional<SpendRefusal> ReasonToRefuse(const std::string& ledger,
                                           const std::vector<LedgerEntry>& entries,
                                           const Ledger::Balance& balance,
                                           const Ledger::Spend& spend);

// The first spend of the plan.
std::optional<LedgerEntry> SpendOf(const std::vector<LedgerEntry>& entries,
                                   const std::string& plan_digest);

// The file that the entry's noise is written to, and whether a process is writing it.
std::filesystem::path TemporaryOf(const LedgerEntry& entry);
bool IsBeingMeasured(const LedgerEntry& entry);

// A mu whose square is at least `mu2`, and hardly more.
Rational RootAbove(const Rational& mu2);

}  // namespace residua
