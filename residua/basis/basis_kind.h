#pragma once

namespace residua {

// What a strategy is good for:
//   kMean: the average variance of the attribute's queries; kMax: the largest.
enum class StrategyGoal { kMean, kMax };

// kOblique: any residual basis. kOrthogonal: one whose rows sum to zero, as in ResidualPlanner+.
enum class BasisKind { kOblique, kOrthogonal };

}  // namespace residua
