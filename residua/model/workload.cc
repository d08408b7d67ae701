#include "residua/model/workload.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "residua/base/counted.h"
#include "residua/base/error.h"

namespace residua {
namespace {

// Of a table that a rule asks for.
int64_t MostAttributes(const Domain& domain) {
  int64_t num_means = 0;
  for (const Attribute& attribute : domain.attributes()) {
    if (MeanOf(attribute) != nullptr) ++num_means;
  }
  return domain.size() - std::max<int64_t>(num_means - 1, 0);
}

void CheckRule(const Domain& domain, const MarginalRule& rule) {
  switch (rule.kind) {
    case MarginalRule::Kind::kExactly:
      if (rule.bound < 0 || rule.bound > domain.size()) {
        Fail(ErrorKind::kBadInput, "there are no {}-way marginals of {}; ask for 0 to {}",
             rule.bound, Counted(domain.size(), "attribute"), domain.size());
      }
      if (const int64_t most = MostAttributes(domain); rule.bound > most) {
        Fail(
            ErrorKind::kBadInput,
            "there are no {}-way marginals with at most one attribute whose mean is asked; ask for "
            "0 to {}",
            rule.bound, most);
      }
      return;
    case MarginalRule::Kind::kUpTo:
      if (rule.bound < 0) {
        Fail(ErrorKind::kBadInput, "marginals '<={}': the bound must not be negative", rule.bound);
      }
      return;
    case MarginalRule::Kind::kMaxCells:
      if (rule.bound < 1) {
        Fail(ErrorKind::kBadInput, "marginals 'cells<={}': the bound must be at least 1",
             rule.bound);
      }
      return;
  }
  RESIDUA_CHECK(false);
}

}  // namespace

void CheckWorkload(const Domain& domain, const Workload& workload) {
  if (workload.rules.empty() && workload.marginals.empty()) {
    Fail(ErrorKind::kBadInput,
         "the workload is empty; ask for marginals such as '<=2', or name a table");
  }
  for (const MarginalRule& rule : workload.rules) CheckRule(domain, rule);
  std::map<AttributeSet, double> seen;
  for (const WeightedMarginal& marginal : workload.marginals) {
    RESIDUA_CHECK(domain.MakeSet(marginal.attributes) == marginal.attributes);
    MeanAttribute(domain, marginal.attributes);
    if (!(marginal.weight > 0) || !std::isfinite(marginal.weight)) {
      Fail(ErrorKind::kBadInput, "the weight {} of marginal {} must be positive and finite",
           marginal.weight, SetName(domain, marginal.attributes));
    }
    const auto [place, added] = seen.emplace(marginal.attributes, marginal.weight);
    if (!added && place->second != marginal.weight) {
      Fail(ErrorKind::kBadInput, "marginal {} is listed with two weights, {} and {}; keep one",
           SetName(domain, marginal.attributes), place->second, marginal.weight);
    }
  }
}

std::vector<int> MeansKeptApart(const Domain& domain, const Workload& workload) {
  std::vector<int> means;
  std::vector<int64_t> sizes;
  for (int i = 0; i < domain.size(); ++i) {
    if (MeanOf(domain[i]) == nullptr) continue;
    means.push_back(i);
    sizes.push_back(domain[i].size);
  }
  if (means.size() < 2) return {};
  std::sort(sizes.begin(), sizes.end());
  const bool are_apart =
      std::any_of(workload.rules.begin(), workload.rules.end(), [&](const MarginalRule& rule) {
        const bool counts_cells = rule.kind == MarginalRule::Kind::kMaxCells;
        return rule.bound >= (counts_cells ? sizes[0] * sizes[1] : 2);
      });
  return are_apart ? means : std::vector<int>();
}

}  // namespace residua
