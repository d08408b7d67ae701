#include "residua/release/privacy_facts.h"

#include "residua/privacy/suspicion.h"
#include "residua/release/warnings.h"

namespace residua {

Json PrivacyFacts(const Plan& plan) {
  const Guarantee guarantee = GuaranteeOf(plan);
  const Protection& protection = plan.protection;
  return {{"replaceOne", protection.neighbours == Protection::Neighbours::kReplaceOne},
          {"identifier", protection.identifier},
          {"maxRows", protection.max_rows},
          {"suspicion", PercentAbove(GrownSuspicion(0.5, guarantee.epsilon))},
          {"isWeak", !(guarantee.epsilon <= kLargeEpsilon)},
          {"epsilon", TextAbove(guarantee.epsilon)},
          {"delta", DeltaText(guarantee.delta)},
          {"deltaInWords", OneIn(guarantee.delta)},
          {"rho", TextAbove(plan.pcost / 2)},
          {"mu", guarantee.mu ? Json(TextAbove(*guarantee.mu)) : Json()},
          {"neighbours", NeighboursInWords(protection)},
          {"change", ChangeInWords(protection)}};
}

}  // namespace residua
