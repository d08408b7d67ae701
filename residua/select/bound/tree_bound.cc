#include "residua/select/bound/tree_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/basis/tree/tree_solver.h"
#include "residua/select/bound/attribute_split.h"

namespace residua {
namespace {

// Steps of the multipliers for all sets together, shared among them; a step goes on if it gains
// this much of the bound's root.
constexpr int kStepsOfAllSets = 60;
constexpr double kWorthAStep = 2e-5;

}  // namespace

TreeBound::TreeBound(const Attribute& attribute) {
  auto tree = attribute.queries == QueryKind::kHierarchy ? GroupTree(attribute) : std::nullopt;
  if (!tree || tree->num_nodes() == 0) return;
  proof_.tree = std::make_shared<const CellTree>(std::move(*tree));
  const TreeSolver solver(attribute, proof_.tree, StrategyGoal::kMean);
  proof_.weight = solver.weights();
  height_ = solver.height();
}

double TreeBound::Sum(const std::vector<TreeDemand>& demands, const Eigen::VectorXd& lambda) const {
  TreeProof proof = proof_;
  double without_tree = 0;
  for (const TreeDemand& demand : demands) {
    if (!(demand.with_tree > 0)) {
      without_tree += demand.factor * std::sqrt(demand.without_tree);
      continue;
    }
    const double more = std::max(0.0, demand.without_tree / demand.with_tree - 1);
    proof.terms.push_back({demand.factor * std::sqrt(height_ * demand.with_tree), more / height_});
  }
  if (proof.terms.empty()) return without_tree;
  const ClimbLimits limits{std::numeric_limits<double>::infinity(), kWorthAStep,
                           kStepsOfAllSets / static_cast<int>(proof.terms.size())};
  const TreeMultipliers best = ClimbMultipliers(proof, ScaledToOne(lambda), limits);
  // Multipliers sum to 1 but for their rounding, and the root falls by half of that.
  const double rounding =
      static_cast<double>(lambda.size()) * std::numeric_limits<double>::epsilon();
  return without_tree + best.proven * (1 - best.relative_error - rounding);
}

}  // namespace residua
