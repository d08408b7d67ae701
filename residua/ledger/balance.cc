#include "residua/base/error.h"
#include "residua/ledger/ledger.h"

namespace residua {

Ledger::Balance Ledger::BalanceBefore(int64_t id) const {
  Balance balance;
  for (const LedgerEntry& entry : Entries()) {
    if (entry.id >= id) continue;
    const Rational mu2 = entry.mu2.value_or(0);
    if (entry.pcost < 0 || mu2 < 0) {
      Fail(ErrorKind::kRefused, "{}: entry {} has a negative cost", name_, entry.id);
    }
    if (entry.kind == LedgerEntry::Kind::kGrant) {
      balance.granted += entry.pcost;
      balance.granted_mu2 += mu2;
    }
    if (entry.is_spend()) {
      balance.spent += entry.pcost;
      balance.spent_mu2 += mu2;
    }
  }
  return balance;
}

std::string SpentInWords(const Ledger::Balance& balance) {
  const SpentText rho = TextOfSpent(balance.spent / 2, balance.granted / 2);
  const SpentText mu2 = TextOfSpent(balance.spent_mu2, balance.granted_mu2);
  if (balance.granted_mu2 == 0) return fmt::format("rho {} of {} spent", rho.spent, rho.granted);
  if (balance.granted == 0) return fmt::format("mu^2 {} of {} spent", mu2.spent, mu2.granted);
  return fmt::format(
      "rho {} or mu^2 {} spent (each spend counts in one of the two) of rho {} and mu^2 {}",
      rho.spent, mu2.spent, rho.granted, mu2.granted);
}

}  // namespace residua
