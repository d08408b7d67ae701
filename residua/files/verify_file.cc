#include "residua/files/verify_file.h"

#include "residua/base/error.h"
#include "residua/files/measurement_file.h"

namespace residua {

VerifiedCost VerifyFile(const std::filesystem::path& path) {
  return AtPlace(path.string(), [&]() -> VerifiedCost {
    if (LooksLikeParquet(path)) {
      const MeasurementFile file(path);
      return {VerifyMeasurements(file), file.plan().budget, file.plan().protection};
    }
    const Plan plan = ReadPlan(path).plan;
    VerifyPlan(plan);
    return {plan.pcost, plan.budget, plan.protection};
  });
}

}  // namespace residua
