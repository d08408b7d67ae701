#include "residua/files/verify_file.h"

#include "residua/base/error.h"
#include "residua/files/measurement_file.h"

namespace residua {

namespace {

VerifiedCost VerifiedCostOf(const Plan& plan) {
  VerifiedCost verified{CostOf(plan), GuaranteeOf(plan), plan.budget, plan.protection};
  for (const MeasuredPlan& part : plan.parts) verified.parts.push_back(GuaranteeOf(*part.plan));
  return verified;
}

}  // namespace

VerifiedCost VerifyFile(const std::filesystem::path& path) {
  return AtPlace(path.string(), [&]() -> VerifiedCost {
    if (LooksLikeParquet(path)) {
      const MeasurementFile file(path);
      VerifyMeasurements(file);
      return VerifiedCostOf(file.plan());
    }
    const Plan plan = ReadPlan(path).plan;
    VerifyPlan(plan);
    return VerifiedCostOf(plan);
  });
}

}  // namespace residua
