#include "cli/guarantee_report.h"

#include <fmt/format.h>
#include "residua/text/json_text.h"

namespace residua::cli {

std::string GuaranteeInWords(const Guarantee& guarantee) {
  const std::string mu =
      guarantee.mu ? fmt::format(" mu {} (Gaussian DP),", TextAbove(*guarantee.mu)) : "";
  return fmt::format("rho {} (zCDP),{} epsilon {} at delta {}", TextAbove(guarantee.rho), mu,
                     TextAbove(guarantee.epsilon), DeltaText(guarantee.delta));
}

void AddGuarantee(const Guarantee& guarantee, Json* json) {
  (*json)["rho"] = guarantee.rho;
  (*json)["mu"] = guarantee.mu ? Json(*guarantee.mu) : nullptr;
  (*json)["epsilon"] = guarantee.epsilon;
  (*json)["delta"] = guarantee.delta;
}

void AddBalance(const Ledger::Balance& balance, Json* json) {
  (*json)["spent_rho"] = ToDoubleUp(balance.spent / 2);
  (*json)["granted_rho"] = ToDoubleDown(balance.granted / 2);
  (*json)["spent_mu2"] = ToDoubleUp(balance.spent_mu2);
  (*json)["granted_mu2"] = ToDoubleDown(balance.granted_mu2);
}

}  // namespace residua::cli
