#pragma once

#include <filesystem>

#include "residua/privacy/budget.h"
#include "residua/privacy/protection.h"

namespace residua {

// What a plan or measurement file costs, recomputed.
struct VerifiedCost {
  Rational pcost;
  Budget budget;
  Protection protection;
};

// Recomputes the privacy cost of a plan or measurement file in exact rationals. Error{kRefused} if
// it is above the budget or not what the file says, or if the file was changed; every error names
// the file.
VerifiedCost VerifyFile(const std::filesystem::path& path);

}  // namespace residua
