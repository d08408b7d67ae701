#include "residua/model/symmetry.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "residua/base/error.h"
#include "residua/model/closure.h"

namespace residua {
namespace {

// With more orbits than this, a plan would not fit into the memory of most machines.
constexpr int64_t kMaxOrbits = 20'000'000;

AttributeClasses MakeClasses(int num_attributes, std::vector<std::vector<int>> members) {
  std::sort(members.begin(), members.end());
  AttributeClasses classes{std::move(members),
                           std::vector<int>(static_cast<size_t>(num_attributes))};
  for (int c = 0; c < classes.size(); ++c) {
    for (const int i : classes.members[static_cast<size_t>(c)]) {
      classes.class_of[static_cast<size_t>(i)] = c;
    }
  }
  return classes;
}

template <typename Key>
AttributeClasses GroupBy(int num_attributes, const std::function<Key(int)>& key) {
  std::map<Key, std::vector<int>> groups;
  for (int i = 0; i < num_attributes; ++i) groups[key(i)].push_back(i);
  std::vector<std::vector<int>> members;
  members.reserve(groups.size());
  for (auto& [unused, group] : groups) members.push_back(std::move(group));
  return MakeClasses(num_attributes, std::move(members));
}

bool IsMeanClass(const Domain& domain, const AttributeClasses& classes, int c) {
  return MeanOf(domain[classes.members[static_cast<size_t>(c)].front()]) != nullptr;
}

bool RuleHolds(const Domain& domain, const AttributeClasses& classes, const MarginalRule& rule,
               std::span<const int> orbit) {
  const auto order = static_cast<int64_t>(orbit.size());
  if (std::ranges::count_if(orbit, [&](int c) { return IsMeanClass(domain, classes, c); }) > 1) {
    return false;
  }
  if (rule.kind == MarginalRule::Kind::kExactly) return order == rule.bound;
  if (rule.kind == MarginalRule::Kind::kUpTo) return order <= rule.bound;
  int64_t cells = 1;
  for (const int c : orbit) {
    const int64_t size = domain[classes.members[static_cast<size_t>(c)].front()].size;
    if (cells > rule.bound / size) return false;
    cells *= size;
  }
  return true;
}

// Enumerates the orbits that a rule asks for, smallest classes first, so that a bound on the cells
// prunes early.
class RuleOrbits {
 public:
  RuleOrbits(const Domain& domain, const AttributeClasses& classes, const MarginalRule& rule,
             MultisetTable* orbits)
      : classes_(classes), rule_(rule), orbits_(orbits) {
    by_size_.resize(static_cast<size_t>(classes.size()));
    for (int c = 0; c < classes.size(); ++c) {
      by_size_[static_cast<size_t>(c)] = {
          domain[classes.members[static_cast<size_t>(c)].front()].size, c};
    }
    for (int c = 0; c < classes.size(); ++c) is_mean_.push_back(IsMeanClass(domain, classes, c));
    std::sort(by_size_.begin(), by_size_.end());
    attributes_from_.assign(by_size_.size() + 1, 0);
    for (size_t k = by_size_.size(); k-- > 0;) {
      const auto& members = classes.members[static_cast<size_t>(by_size_[k].second)];
      attributes_from_[k] = attributes_from_[k + 1] + static_cast<int64_t>(members.size());
    }
    max_order_ = rule.kind == MarginalRule::Kind::kMaxCells ? domain.size() : rule.bound;
    Extend(0, 1);
  }

 private:
  void Extend(size_t next, int64_t cells) {
    const auto order = static_cast<int64_t>(chosen_.size());
    if (rule_.kind != MarginalRule::Kind::kExactly || order == rule_.bound) Emit();
    if (order >= max_order_) return;
    for (size_t k = next; k < by_size_.size(); ++k) {
      const auto [size, c] = by_size_[k];
      if (rule_.kind == MarginalRule::Kind::kMaxCells && cells > rule_.bound / size) break;
      const auto& members = classes_.members[static_cast<size_t>(c)];
      const auto used = std::count(chosen_.begin(), chosen_.end(), c);
      if (rule_.kind == MarginalRule::Kind::kExactly &&
          order + attributes_from_[k] - used < rule_.bound) {
        break;  // too few attributes are left to choose from
      }
      if (used == static_cast<long>(members.size())) continue;
      if (IsMean(c) && std::ranges::any_of(chosen_, [&](int other) { return IsMean(other); })) {
        continue;
      }
      chosen_.push_back(c);
      Extend(k, rule_.kind == MarginalRule::Kind::kMaxCells ? cells * size : 1);
      chosen_.pop_back();
    }
  }

  bool IsMean(int c) const { return is_mean_[static_cast<size_t>(c)]; }

  void Emit() {
    sorted_ = chosen_;
    std::sort(sorted_.begin(), sorted_.end());
    orbits_->Insert(sorted_);
    if (orbits_->size() > kMaxOrbits) {
      Fail(ErrorKind::kTooLarge,
           "the workload has more than {} distinct kinds of marginals; ask for fewer", kMaxOrbits);
    }
  }

  const AttributeClasses& classes_;
  const MarginalRule& rule_;
  MultisetTable* orbits_;
  std::vector<std::pair<int64_t, int>> by_size_;
  std::vector<int64_t> attributes_from_;  // how many attributes the classes from k on have
  int64_t max_order_ = 0;
  std::vector<bool> is_mean_;  // of each class
  std::vector<int> chosen_;
  std::vector<int> sorted_;
};

// The listed marginals of one orbit: how many distinct sets, and whether they share one weight.
struct ListedOrbit {
  int64_t num_sets = 0;
  double weight = 1.0;
  bool one_weight = true;
};

std::map<std::vector<int>, ListedOrbit> GroupListed(const AttributeClasses& classes,
                                                    const std::map<AttributeSet, double>& listed) {
  std::map<std::vector<int>, ListedOrbit> groups;
  for (const auto& [set, weight] : listed) {
    ListedOrbit& group = groups[OrbitOf(classes, set)];
    if (group.num_sets++ == 0) group.weight = weight;
    if (group.weight != weight) group.one_weight = false;
  }
  return groups;
}

// An orbit is whole when all its sets have one weight: the rules' weight 1 everywhere, or every
// set listed with the same weight.
bool IsWhole(const Domain& domain, const Workload& workload, const AttributeClasses& classes,
             const std::vector<int>& orbit, const ListedOrbit& group) {
  if (!group.one_weight) return false;
  if (OrbitSize(classes, orbit) == ToInteger(group.num_sets)) return true;
  if (group.weight != 1.0) return false;
  return std::any_of(workload.rules.begin(), workload.rules.end(), [&](const MarginalRule& rule) {
    return RuleHolds(domain, classes, rule, orbit);
  });
}

// Splits classes by what the listed sets say about each member: the orbits and weights it occurs
// in.
AttributeClasses SplitByOccurrence(const Domain& domain, const AttributeClasses& classes,
                                   const std::map<AttributeSet, double>& listed) {
  using Occurrences = std::map<std::pair<std::vector<int>, double>, int>;
  std::vector<Occurrences> occurrences(static_cast<size_t>(domain.size()));
  for (const auto& [set, weight] : listed) {
    const std::vector<int> orbit = OrbitOf(classes, set);
    for (const int i : set) ++occurrences[static_cast<size_t>(i)][{orbit, weight}];
  }
  using Key = std::pair<int, Occurrences>;
  return GroupBy<Key>(domain.size(), [&](int i) {
    return Key{classes.class_of[static_cast<size_t>(i)], occurrences[static_cast<size_t>(i)]};
  });
}

// Splits the classes that `orbit` takes some but not all members of into single attributes.
AttributeClasses SplitClass(const Domain& domain, const AttributeClasses& classes,
                            std::span<const int> orbit) {
  std::vector<bool> shatter(static_cast<size_t>(classes.size()), false);
  for (const auto [c, count] : ClassRuns(orbit)) {
    const auto k = static_cast<size_t>(c);
    shatter[k] = count < static_cast<int64_t>(classes.members[k].size());
  }
  std::vector<std::vector<int>> members;
  for (int c = 0; c < classes.size(); ++c) {
    const auto& group = classes.members[static_cast<size_t>(c)];
    if (!shatter[static_cast<size_t>(c)]) {
      members.push_back(group);
      continue;
    }
    for (const int i : group) members.push_back({i});
  }
  return MakeClasses(domain.size(), std::move(members));
}

// Splits `classes` until every orbit with a listed set is whole. This ends, because each pass adds
// classes, and single attributes make every orbit whole.
AttributeClasses Refine(const Domain& domain, const Workload& workload, AttributeClasses classes,
                        const std::map<AttributeSet, double>& listed) {
  for (;;) {
    const auto groups = GroupListed(classes, listed);
    const auto broken = std::find_if(groups.begin(), groups.end(), [&](const auto& entry) {
      return !IsWhole(domain, workload, classes, entry.first, entry.second);
    });
    if (broken == groups.end()) return classes;
    AttributeClasses finer = SplitByOccurrence(domain, classes, listed);
    if (finer == classes) finer = SplitClass(domain, classes, broken->first);
    RESIDUA_CHECK(finer.size() > classes.size());
    classes = std::move(finer);
  }
}

WorkloadOrbits Enumerate(const Domain& domain, const Workload& workload, AttributeClasses classes,
                         const std::map<AttributeSet, double>& listed) {
  WorkloadOrbits result;
  result.classes = std::move(classes);
  for (const MarginalRule& rule : workload.rules) {
    RuleOrbits(domain, result.classes, rule, &result.orbits);
  }
  result.weight.assign(static_cast<size_t>(result.orbits.size()), 1.0);
  for (const auto& [orbit, group] : GroupListed(result.classes, listed)) {
    const int64_t index = result.orbits.Insert(orbit);
    result.weight.resize(static_cast<size_t>(result.orbits.size()), 1.0);
    result.weight[static_cast<size_t>(index)] = group.weight;
  }
  return result;
}

std::map<AttributeSet, double> ListedMarginals(const Workload& workload) {
  std::map<AttributeSet, double> listed;
  for (const WeightedMarginal& marginal : workload.marginals) {
    listed.emplace(marginal.attributes, marginal.weight);
  }
  return listed;
}

}  // namespace

AttributeClasses TrivialClasses(const Domain& domain) {
  return GroupBy<int>(domain.size(), [](int i) { return i; });
}

WorkloadOrbits FindSymmetry(const Domain& domain, const Workload& workload) {
  CheckWorkload(domain, workload);
  std::vector<int> type_of;
  std::vector<int> first_of_type;
  for (int i = 0; i < domain.size(); ++i) {
    size_t type = 0;
    while (type < first_of_type.size() && !SameQueries(domain[first_of_type[type]], domain[i])) {
      ++type;
    }
    if (type == first_of_type.size()) first_of_type.push_back(i);
    type_of.push_back(static_cast<int>(type));
  }
  AttributeClasses classes =
      GroupBy<int>(domain.size(), [&](int i) { return type_of[static_cast<size_t>(i)]; });
  const auto listed = ListedMarginals(workload);
  classes = Refine(domain, workload, std::move(classes), listed);
  return Enumerate(domain, workload, std::move(classes), listed);
}

WorkloadOrbits OrbitsUnder(const Domain& domain, const Workload& workload,
                           AttributeClasses classes) {
  CheckWorkload(domain, workload);
  const auto listed = ListedMarginals(workload);
  for (const auto& [orbit, group] : GroupListed(classes, listed)) {
    if (!IsWhole(domain, workload, classes, orbit, group)) {
      Fail(ErrorKind::kRefused,
           "attributes that the workload tells apart are treated as interchangeable");
    }
  }
  return Enumerate(domain, workload, std::move(classes), listed);
}

WorkloadOrbits WithoutSymmetry(const Domain& domain, const Workload& workload) {
  CheckWorkload(domain, workload);
  return Enumerate(domain, workload, TrivialClasses(domain), ListedMarginals(workload));
}

Integer OrbitSize(const AttributeClasses& classes, std::span<const int> orbit) {
  Integer size = 1;
  for (const auto [c, count] : ClassRuns(orbit)) {
    size *= Binomial(classes.members[static_cast<size_t>(c)].size(), static_cast<uint64_t>(count));
  }
  return size;
}

std::vector<int> OrbitOf(const AttributeClasses& classes, const AttributeSet& set) {
  std::vector<int> orbit;
  orbit.reserve(set.size());
  for (const int i : set) orbit.push_back(classes.class_of[static_cast<size_t>(i)]);
  std::sort(orbit.begin(), orbit.end());
  return orbit;
}

void ForEachMember(const AttributeClasses& classes, std::span<const int> orbit,
                   const std::function<void(const AttributeSet&)>& visit) {
  // positions[k] is the place of the k-th attribute among its class's members.
  std::vector<size_t> positions(orbit.size());
  const auto first_place = [&](size_t k) {
    return k > 0 && orbit[k] == orbit[k - 1] ? positions[k - 1] + 1 : 0;
  };
  size_t k = 0;
  if (!orbit.empty()) positions[0] = first_place(0);
  for (;;) {
    if (k == orbit.size()) {
      AttributeSet set;
      set.reserve(orbit.size());
      for (size_t j = 0; j < orbit.size(); ++j) {
        set.push_back(classes.members[static_cast<size_t>(orbit[j])][positions[j]]);
      }
      std::sort(set.begin(), set.end());
      visit(set);
      if (orbit.empty()) return;
      ++positions[--k];
    } else if (positions[k] < classes.members[static_cast<size_t>(orbit[k])].size()) {
      if (++k < orbit.size()) positions[k] = first_place(k);
    } else {
      if (k == 0) return;
      ++positions[--k];
    }
  }
}

}  // namespace residua
