#include "residua/select/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/model/answer_weights.h"
#include "residua/select/bound/bound_search.h"
#include "residua/select/bound/dense_bound.h"
#include "residua/select/objective_rows.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// Beyond, the eigenvalues of one attribute take a minute, where they are needed.
constexpr int64_t kMostCells = 2048;
// Beyond, weights of answers other than equal ones take half a minute, but for prefix sums.
constexpr int64_t kMostWeighted = 256;
// Equal weights of the levels of every hierarchy without any; nothing if there is none. Every answer
// keeps the importance 1, so that the largest variance is the same, and the mean by shares is
// another one that it is never below. Where most answers are of one level, a far larger one.
std::optional<Domain> WithEqualLevels(const Domain& domain) {
  std::vector<Attribute> attributes = domain.attributes();
  bool any = false;
  for (Attribute& attribute : attributes) {
    if (attribute.queries != QueryKind::kHierarchy || !attribute.level_weights.empty()) continue;
    attribute.level_weights.assign(AnswersOfLevels(attribute).size(), 1);
    any = true;
  }
  if (!any) return {};
  return Domain(std::move(attributes));
}

// With the counts beside means among the queries, as the largest variance is over them too; nothing
// if there are none, or if tables would change: those with two means are not asked for.
std::optional<Domain> WithCounts(const Domain& domain, const Workload& workload,
                                 const Objective& objective) {
  // Where the number of answers is the importance, it would change as well.
  if (objective.kind != Objective::Kind::kMaxVariance || objective.weighting != Weighting::kEqual ||
      !HasMeans(domain) || !MeansKeptApart(domain, workload).empty()) {
    return {};
  }
  std::vector<Attribute> attributes = domain.attributes();
  for (Attribute& attribute : attributes) {
    if (MeanOf(attribute) == nullptr) continue;
    attribute.encoding = {};
    attribute.queries = QueryKind::kCustom;
    const int64_t n = attribute.size;
    attribute.custom = {n + 1, std::vector<double>(static_cast<size_t>((n + 1) * n), 0.0)};
    for (int64_t cell = 0; cell < n; ++cell) {
      attribute.custom.entries[static_cast<size_t>(cell * n + cell)] = 1;
    }
    for (int64_t cell = 0; cell < 2; ++cell) {
      attribute.custom.entries[static_cast<size_t>(n * n + cell)] = 1;
    }
  }
  return Domain(std::move(attributes));
}

double ProvenBound(const Domain& domain, const Workload& workload, const Objective& objective) {
  CheckWorkload(domain, workload);
  if (WeightOutOfRange(workload) != nullptr) return 0;
  bool any_weights = false;  // of answers, other than equal ones
  bool any_trees = false;    // of groups
  bool too_large = false;
  for (const Attribute& attribute : domain.attributes()) {
    if (attribute.queries == QueryKind::kIdentity) continue;
    const auto tree = TreeFor(attribute);
    const bool is_tree = tree && tree->kind == CellTree::Kind::kGroups;
    const bool is_fast = attribute.queries == QueryKind::kPrefix ||
                         attribute.queries == QueryKind::kRange || is_tree;
    const bool has_blocks = tree && tree->kind == CellTree::Kind::kBlocks;
    const int64_t size = has_blocks ? tree->num_children(tree->num_nodes() - 1) : attribute.size;
    if (size > kMostCells && !is_fast) return 0;
    any_weights = true;
    // Prefix sums take their weights from fewer cells, and trees of groups take linear time.
    any_trees = any_trees || is_tree;
    too_large =
        too_large || (size > kMostWeighted && !is_tree && attribute.queries != QueryKind::kPrefix);
  }
  double bound = SearchBound(domain, workload, objective, StrategyGoal::kMean);
  // Large trees of very uneven groups may have weights of answers, below, that doubles cannot tell
  // apart well enough.
  if (objective.kind == Objective::Kind::kMaxVariance && (too_large || any_trees)) {
    if (const auto levels = WithEqualLevels(domain)) {
      bound = std::max(bound, SearchBound(*levels, workload, objective, StrategyGoal::kMean));
    }
  }
  if (objective.kind == Objective::Kind::kMaxVariance && any_weights && !too_large) {
    // Equal weights of the answers bound the largest mean over a table. Those of the one-attribute
    // problem for the largest variance are nearly always better.
    bound = std::max(bound, SearchBound(domain, workload, objective, StrategyGoal::kMax));
    // There the weights of answers are a product, the same for all tables. Small domains, but for
    // their identity attributes, can do without.
    bound = std::max(bound, DenseMaxVarianceBound(domain, workload, objective));
  }
  return bound > 0 && std::isfinite(bound) ? bound : 0;
}

}  // namespace

double LeastLossBound(const Domain& domain, const Workload& workload, const Objective& objective) {
  try {
    const double bound = ProvenBound(domain, workload, objective);
    const auto counts = WithCounts(domain, workload, objective);
    return counts ? std::max(bound, ProvenBound(*counts, workload, objective)) : bound;
  } catch (const Error& error) {
    // Queries that doubles cannot tell apart.
    if (error.kind() != ErrorKind::kRefused) throw;
  }
  return 0;
}

std::optional<PlanCertificate> CertifyPlan(const Plan& plan) {
  if (plan.protection.neighbours == Protection::Neighbours::kReplaceOne) return {};
  // For a caller's own loss the objective is only a label.
  // Together with what was measured before it reaches more than any mechanism of its own cost.
  if (!plan.after.empty()) return {};
  if (std::fabs(ObjectiveLoss(plan) / plan.loss - 1) > 1e-9) return {};
  const auto rows = static_cast<double>(plan.protection.max_rows);
  PlanCertificate certificate;
  certificate.lower_bound = LeastLossBound(plan.domain, plan.workload, plan.objective) *
                            (rows * rows / ToDoubleUp(plan.pcost)) * (1 - 1e-15);
  if (!(certificate.lower_bound > 0)) return {};
  certificate.above_lower_bound = plan.loss / certificate.lower_bound - 1;
  return certificate;
}

}  // namespace residua
