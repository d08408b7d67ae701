#pragma once

#include "residua/select/plan.h"
#include "residua/text/json_text.h"

namespace residua {

// What pages say of a plan's privacy, from which they make sentences: web/src/facts.ts has its
// type.
Json PrivacyFacts(const Plan& plan);

}  // namespace residua
