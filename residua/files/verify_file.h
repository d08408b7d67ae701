#pragma once

#include <filesystem>
#include <vector>

#include "residua/privacy/budget.h"
#include "residua/privacy/protection.h"

namespace residua {

// What a plan or measurement file costs, recomputed, and what follows from it.
struct VerifiedCost {
  PrivacyCost cost;
  Guarantee guarantee;
  Budget budget;
  Protection protection;
  std::vector<Guarantee> parts = {};  // of a combination, what each of them promises alone
};

// Recomputes the privacy costs of a plan or measurement file in exact rationals. Error{kRefused} if
// one is above the budget or not what the file says, or if the file was changed; every error names
// the file.
VerifiedCost VerifyFile(const std::filesystem::path& path);

}  // namespace residua
