#pragma once

#include "residua/basis/strategy_solver.h"
#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/select/objective.h"

namespace residua {

// The bound of LeastLossBound, with the best weights and directions that a search finds: equal
// weights of the answers for kMean, and for kMax those of the one-attribute problem for the largest
// variance as a start. Error{kRefused} for queries that doubles cannot tell apart.
double SearchBound(const Domain& domain, const Workload& workload, const Objective& objective,
                   StrategyGoal goal);

}  // namespace residua
