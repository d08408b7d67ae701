#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "residua/model/workload.h"

namespace residua {

// "2", "<=3", "cells<=5000", or a comma list of them.
std::vector<MarginalRule> ParseMarginalRules(std::string_view text);
std::string ToString(const MarginalRule& rule);

}  // namespace residua
