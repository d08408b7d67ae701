#include "residua/select/combined_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/model/closure.h"
#include "residua/select/dyadic_variance.h"

namespace residua {
namespace {

// Beyond this no scale is written to a file (MeasurementLayout).
constexpr int kMostCombinedScaleBits = 62;
// Combined values have steps of at most 2^-(half of this) of their standard deviation.
constexpr long kFineVarianceBits = 48;
// The numerators that rounding down takes from the part with the least noise are then far fewer
// than it has.
constexpr size_t kMostParts = size_t{1} << 20;
// At or below this variance of the noise that is drawn, its steps are 1/32 of its standard
// deviation or more, and intervals are made wider by them (HalfStep).
constexpr int kCoarseVariance = 1024;

const Plan& PlanOf(const MeasuredPlan& part) { return *part.plan; }

// Every measurement that is in the part, itself or within a combination.
void AddDigests(const MeasuredPlan& part, std::vector<std::string>* digests) {
  digests->push_back(part.digest);
  for (const MeasuredPlan& inner : PlanOf(part).parts) AddDigests(inner, digests);
}

void CheckDistinct(const std::vector<MeasuredPlan>& parts) {
  std::set<std::string> known;
  for (const MeasuredPlan& part : parts) {
    std::vector<std::string> digests;
    AddDigests(part, &digests);
    for (const std::string& digest : digests) {
      if (known.contains(digest)) {
        Fail(ErrorKind::kRefused,
             "a measurement comes twice, itself or within a combination ({}); its noise would "
             "count as if it had been drawn twice: name each once",
             digest);
      }
    }
    known.insert(digests.begin(), digests.end());
  }
}

// More sets or tables than a file is made of are not listed one by one.
constexpr int64_t kMostListed = int64_t{1} << 22;

void CheckCanBeListed(int64_t count) {
  if (count <= kMostListed) return;
  Fail(ErrorKind::kTooLarge,
       "the plans differ in more than {} sets or tables, which are too many to combine",
       kMostListed);
}

// At most one more than can be listed.
int64_t NumSets(const AttributeClasses& classes, const std::vector<int>& orbit) {
  const Integer size = OrbitSize(classes, orbit);
  return size <= ToInteger(kMostListed) ? size.get_si() : kMostListed + 1;
}

// The orbits of the common classes within an orbit of a part's.
void ForEachCommonOrbit(const AttributeClasses& common, const AttributeClasses& own,
                        std::span<const int> orbit,
                        const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<std::vector<int>> within(own.members.size());  // common classes of each own one
  for (int c = 0; c < common.size(); ++c) {
    const int member = common.members[static_cast<size_t>(c)].front();
    within[static_cast<size_t>(own.class_of[static_cast<size_t>(member)])].push_back(c);
  }
  std::vector<int> found;
  // Places orbit[k] and what follows it; within one own class, common classes do not decrease.
  const std::function<void(size_t)> place = [&](size_t k) {
    if (k == orbit.size()) {
      std::vector<int> sorted = found;
      std::sort(sorted.begin(), sorted.end());
      visit(sorted);
      return;
    }
    for (const int c : within[static_cast<size_t>(orbit[k])]) {
      if (k > 0 && orbit[k] == orbit[k - 1] && c < found.back()) continue;
      const auto used = std::count(found.begin(), found.end(), c);
      if (used == std::ssize(common.members[static_cast<size_t>(c)])) continue;
      found.push_back(c);
      place(k + 1);
      found.pop_back();
    }
  };
  place(0);
}

// The orbits of each part by the common classes, with their numbers in the part.
using PartOrbits = std::map<std::vector<int>, int64_t>;

PartOrbits OrbitsOfPart(const Plan& plan, const AttributeClasses& common) {
  PartOrbits orbits;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    ForEachCommonOrbit(common, plan.classes, plan.mechanisms[k],
                       [&](const std::vector<int>& orbit) {
                         orbits.emplace(orbit, k);
                         CheckCanBeListed(std::ssize(orbits));
                       });
  }
  return orbits;
}

const ResidualBasis& BasisOf(const Plan& plan, int attribute) {
  return plan.bases[static_cast<size_t>(plan.classes.class_of[static_cast<size_t>(attribute)])];
}

// The part whose bases and queries each common class has: the first that measures it.
std::vector<size_t> ReferenceParts(const AttributeClasses& common,
                                   const std::vector<PartOrbits>& orbits) {
  std::vector<size_t> reference(common.members.size(), 0);
  std::vector<bool> is_found(common.members.size(), false);
  for (size_t j = 0; j < orbits.size(); ++j) {
    std::vector<int> measured;
    for (const auto& [orbit, number] : orbits[j]) {
      measured.insert(measured.end(), orbit.begin(), orbit.end());
    }
    for (const int c : measured) {
      if (is_found[static_cast<size_t>(c)]) continue;
      is_found[static_cast<size_t>(c)] = true;
      reference[static_cast<size_t>(c)] = j;
    }
  }
  return reference;
}

// What one part knows of an orbit.
struct Known {
  size_t part = 0;
  Rational variance;
  int scale_bits = 0;
};

struct CombinedNoise {
  CombinedOrbit orbit;
  Rational variance;
  int scale_bits = 0;
  bool is_coarse = false;
};

CombinedNoise TakeOne(const Known& known) {
  return {{{{known.part, 1, 0}}, 0}, known.variance, known.scale_bits};
}

// The noise of `all` together; `factor` makes the variance of integers of a base mechanism's.
CombinedNoise CombineNoise(const std::vector<Known>& all, const Integer& factor) {
  const auto least = std::min_element(all.begin(), all.end(), [](const Known& a, const Known& b) {
    return a.variance < b.variance;
  });
  if (all.size() == 1) return TakeOne(*least);
  int scale_bits = 0;
  Rational precision = 0;
  for (const Known& known : all) {
    if (Shifted(known.variance * factor, 2 * long{known.scale_bits}) <= kCoarseVariance) {
      CombinedNoise alone = TakeOne(*least);
      alone.is_coarse = true;
      return alone;
    }
    scale_bits = std::max(scale_bits, known.scale_bits);
    precision += 1 / known.variance;
  }
  CombinedNoise combined;
  std::vector<CombinedOrbit::Term>& terms = combined.orbit.terms;
  int64_t rest = int64_t{1} << kWeightBits;
  for (const Known& known : all) {
    const Rational weight = Shifted(1 / known.variance / precision, kWeightBits);
    const Integer rounded = weight.get_num() / weight.get_den();
    terms.push_back({known.part, rounded.get_si(), scale_bits - known.scale_bits});
    rest -= terms.back().numerator;
  }
  // What rounding down left goes where it does least harm.
  terms[static_cast<size_t>(least - all.begin())].numerator += rest;
  for (size_t k = 0; k < all.size(); ++k) {
    const Rational weight = Shifted(ToInteger(terms[k].numerator), -kWeightBits);
    combined.variance += weight * weight * all[k].variance;
  }
  std::erase_if(terms, [](const CombinedOrbit::Term& term) { return term.numerator == 0; });
  if (combined.orbit.is_single()) return TakeOne(*least);
  const Rational fine = Shifted(1, kFineVarianceBits);
  const int most = std::min(scale_bits + kWeightBits, kMostCombinedScaleBits);
  while (combined.scale_bits < most &&
         Shifted(combined.variance * factor, 2 * long{combined.scale_bits}) < fine) {
    ++combined.scale_bits;
  }
  combined.orbit.rounding_bits = scale_bits + kWeightBits - combined.scale_bits;
  if (combined.orbit.rounding_bits > 0) {
    combined.variance += Shifted(Rational(1, 12) / factor, -2 * long{combined.scale_bits});
  }
  combined.variance = DyadicVarianceAbove(combined.variance);
  return combined;
}

int Nesting(const Plan& plan) {
  int nesting = 0;
  for (const MeasuredPlan& part : plan.parts) nesting = std::max(nesting, 1 + Nesting(*part.plan));
  return nesting;
}

Budget SumOfBudgets(const std::vector<MeasuredPlan>& parts, const Rational& pcost) {
  Budget sum = PlanOf(parts.front()).budget;
  sum.pcost = 0;
  bool is_alike = true;
  for (const MeasuredPlan& part : parts) {
    const Budget& budget = PlanOf(part).budget;
    is_alike &= budget.limits == sum.limits;
    if (budget.unit != sum.unit) sum.unit = BudgetUnit::kPcost;
    sum.pcost += budget.pcost;
    sum.delta = std::min(sum.delta, budget.delta);
  }
  if (is_alike) return sum;
  // zCDP bounds them all.
  return {BudgetUnit::kPcost, pcost, sum.delta, Accounting::kZcdp};
}

void AddCosts(const std::vector<MeasuredPlan>& parts, Plan* plan) {
  plan->pcost = 0;
  plan->mu2 = 0;
  for (const MeasuredPlan& part : parts) {
    const PrivacyCost cost = CostOf(PlanOf(part));
    plan->pcost += cost.pcost;
    if (plan->mu2 && cost.mu2) {
      *plan->mu2 += *cost.mu2;
    } else {
      plan->mu2.reset();
    }
  }
  plan->budget = SumOfBudgets(parts, plan->pcost);
}

// The tables of all parts that can be made; how many cannot.
class CombinedWorkload {
 public:
  explicit CombinedWorkload(const Plan& plan) : plan_(plan) {}

  void Add(const Plan& part) {
    const WorkloadOrbits orbits = OrbitsUnder(part.domain, part.workload, part.classes);
    std::vector<std::pair<std::vector<int>, double>> kept;  // by the common classes
    int64_t num_lost = 0;
    for (int64_t k = 0; k < orbits.orbits.size(); ++k) {
      ForEachCommonOrbit(plan_.classes, part.classes, orbits.orbits[k],
                         [&](const std::vector<int>& orbit) {
                           if (CanBeMade(orbit)) {
                             kept.emplace_back(orbit, orbits.weight[static_cast<size_t>(k)]);
                           } else {
                             num_lost += NumSets(plan_.classes, orbit);
                           }
                         });
    }
    num_lost_ += num_lost;
    if (num_lost == 0) {
      for (const MarginalRule& rule : part.workload.rules) {
        if (std::find(workload_.rules.begin(), workload_.rules.end(), rule) ==
            workload_.rules.end()) {
          workload_.rules.push_back(rule);
        }
      }
      for (const WeightedMarginal& table : part.workload.marginals) List(table);
      return;
    }
    for (const auto& item : kept) {
      num_listed_ += NumSets(plan_.classes, item.first);
      CheckCanBeListed(num_listed_);
      ForEachMember(plan_.classes, item.first, [&](const AttributeSet& set) {
        List({set, item.second});
      });
    }
  }

  int64_t num_lost() const { return num_lost_; }
  const Workload& workload() const { return workload_; }

 private:
  bool CanBeMade(const std::vector<int>& table) const {
    bool can_be_made = true;
    ForEachSubOrbit(ClassRuns(table), [&](std::span<const int> subset, std::span<const int>) {
      can_be_made = can_be_made && plan_.mechanisms.Find(subset).has_value();
    });
    return can_be_made;
  }

  void List(const WeightedMarginal& table) {
    if (listed_.insert(table.attributes).second) workload_.marginals.push_back(table);
  }

  const Plan& plan_;
  Workload workload_;
  std::set<AttributeSet> listed_;
  int64_t num_lost_ = 0;
  int64_t num_listed_ = 0;
};

}  // namespace

AttributeClasses CommonClasses(std::span<const AttributeClasses* const> parts) {
  AttributeClasses classes;
  std::map<std::vector<int>, int> number;
  for (size_t i = 0; i < parts.front()->class_of.size(); ++i) {
    std::vector<int> in_parts;
    for (const AttributeClasses* part : parts) in_parts.push_back(part->class_of[i]);
    const auto [known, is_new] = number.try_emplace(in_parts, classes.size());
    if (is_new) classes.members.emplace_back();
    classes.members[static_cast<size_t>(known->second)].push_back(static_cast<int>(i));
    classes.class_of.push_back(known->second);
  }
  return classes;
}

Plan WholePlan(const Plan& plan) {
  if (plan.after.empty()) return plan;
  std::vector<MeasuredPlan> parts = plan.after;
  parts.push_back({"", std::make_shared<const Plan>(plan)});
  Plan whole = CombinePlans(parts).plan;
  whole.workload = plan.workload;
  whole.objective = plan.objective;
  return whole;
}

void CheckStandsAlone(const Plan& plan) {
  if (plan.after.empty()) return;
  const MultisetTable closure =
      Closure(OrbitsUnder(plan.domain, plan.workload, plan.classes).orbits);
  for (int64_t k = 0; k < closure.size(); ++k) {
    if (plan.mechanisms.Find(closure[k])) continue;
    Fail(ErrorKind::kRefused,
         "this measurement adds to earlier ones, and does not determine its tables alone; combine "
         "it with those that it was planned after ({})",
         plan.after.front().digest);
  }
}

void CheckSameCells(const Plan& a, const Plan& b) {
  if (a.protection != b.protection) {
    Fail(ErrorKind::kRefused,
         "one release protects \"{}\" and another \"{}\"; costs for different neighbours do not "
         "add up",
         ChangeInWords(a.protection), ChangeInWords(b.protection));
  }
  if (a.domain.size() != b.domain.size()) {
    Fail(ErrorKind::kRefused,
         "one release has {} attributes and another {}; combine releases of the same attributes",
         a.domain.size(), b.domain.size());
  }
  for (int i = 0; i < a.domain.size(); ++i) {
    const Attribute& left = a.domain[i];
    const Attribute& right = b.domain[i];
    if (left.name == right.name && left.size == right.size && left.encoding == right.encoding &&
        ColumnOf(left) == ColumnOf(right)) {
      continue;
    }
    Fail(ErrorKind::kRefused,
         "attribute {} is '{}' in one release and '{}' in another, or has other cells; combine "
         "releases of the same attributes",
         i + 1, ShownText(left.name), ShownText(right.name));
  }
}

CombinedPlan CombinePlans(const std::vector<MeasuredPlan>& parts) {
  if (parts.size() < 2) {
    Fail(ErrorKind::kBadInput, "there is nothing to combine; name at least two measurements");
  }
  if (parts.size() > kMostParts) {
    Fail(ErrorKind::kBadInput, "{} measurements; at most {} are combined", parts.size(),
         kMostParts);
  }
  const Plan& first = PlanOf(parts.front());
  for (const MeasuredPlan& part : parts) CheckSameCells(first, PlanOf(part));
  CheckDistinct(parts);

  CombinedPlan combined;
  Plan& plan = combined.plan;
  CombinationReport& report = combined.report;
  plan.parts = parts;
  if (Nesting(plan) > kMostNested) {
    Fail(ErrorKind::kTooLarge,
         "combinations of combinations, more than {} within each other; combine the single "
         "measurements at once",
         kMostNested);
  }
  plan.objective = first.objective;
  plan.protection = first.protection;
  std::vector<const AttributeClasses*> classes;
  for (const MeasuredPlan& part : parts) classes.push_back(&PlanOf(part).classes);
  plan.classes = CommonClasses(classes);
  std::vector<PartOrbits> orbits;
  for (const MeasuredPlan& part : parts) {
    orbits.push_back(OrbitsOfPart(PlanOf(part), plan.classes));
  }
  const std::vector<size_t> reference = ReferenceParts(plan.classes, orbits);
  std::vector<Attribute> attributes;
  for (int i = 0; i < first.domain.size(); ++i) {
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    attributes.push_back(PlanOf(parts[reference[static_cast<size_t>(c)]]).domain[i]);
  }
  plan.domain = Domain(std::move(attributes));
  // Of each part and class, whether it has the class's basis.
  std::vector<std::vector<bool>> has_basis(parts.size());
  for (int c = 0; c < plan.classes.size(); ++c) {
    const int i = plan.classes.members[static_cast<size_t>(c)].front();
    const ResidualBasis& basis = BasisOf(PlanOf(parts[reference[static_cast<size_t>(c)]]), i);
    // Anew: plans of format 1 invert theirs in another way.
    const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix);
    plan.bases.push_back(matrix == nullptr ? basis : BasisFromMatrix(plan.domain[i], *matrix));
    for (size_t j = 0; j < parts.size(); ++j) {
      has_basis[j].push_back(BasisOf(PlanOf(parts[j]), i).matrix == basis.matrix);
    }
  }

  std::map<std::vector<int>, std::vector<Known>> known;
  std::set<int> other_bases;
  for (size_t j = 0; j < parts.size(); ++j) {
    const Plan& part = PlanOf(parts[j]);
    for (const auto& [orbit, number] : orbits[j]) {
      std::vector<int> others;
      for (const int c : orbit) {
        if (!has_basis[j][static_cast<size_t>(c)]) others.push_back(c);
      }
      if (!others.empty()) {
        report.num_other_bases += NumSets(plan.classes, orbit);
        for (const int c : others) {
          const auto& members = plan.classes.members[static_cast<size_t>(c)];
          other_bases.insert(members.begin(), members.end());
        }
        continue;
      }
      const int bits = part.scale_bits.empty() ? 0 : part.scale_bits[static_cast<size_t>(number)];
      known[orbit].push_back({j, part.variances[static_cast<size_t>(number)], bits});
    }
  }
  report.attributes_of_other_bases.assign(other_bases.begin(), other_bases.end());
  std::vector<const std::pair<const std::vector<int>, std::vector<Known>>*> listed;
  for (const auto& entry : known) listed.push_back(&entry);
  std::sort(listed.begin(), listed.end(),
            [](const auto* a, const auto* b) { return ListedBefore(a->first, b->first); });
  for (const auto* entry : listed) {
    Integer factor = 1;
    for (const int c : entry->first) factor *= plan.bases[static_cast<size_t>(c)].variance_factor;
    CombinedNoise noise = CombineNoise(entry->second, factor);
    const int64_t num_sets = NumSets(plan.classes, entry->first);
    (entry->second.size() == 1 ? report.num_single
     : noise.is_coarse         ? report.num_coarse
                               : report.num_combined) += num_sets;
    plan.mechanisms.Insert(entry->first);
    plan.variances.push_back(std::move(noise.variance));
    plan.scale_bits.push_back(noise.scale_bits);
    combined.orbits.push_back(std::move(noise.orbit));
  }
  CombinedWorkload workload(plan);
  for (const MeasuredPlan& part : parts) workload.Add(PlanOf(part));
  report.num_lost_tables = workload.num_lost();
  plan.workload = workload.workload();
  if (plan.workload.rules.empty() && plan.workload.marginals.empty()) {
    Fail(ErrorKind::kRefused,
         "no table can be made of these measurements; name all those that they build on too");
  }
  AddCosts(parts, &plan);
  // Nothing is proven of it: the parts were planned for themselves.
  plan.relative_gap = std::numeric_limits<double>::infinity();
  return combined;
}

}  // namespace residua
