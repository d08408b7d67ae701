#include "residua/select/plan.h"

#include <algorithm>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/model/closure.h"
#include "residua/select/combined_plan.h"
#include "residua/select/convolution_sensitivity.h"
#include "residua/select/tree_sensitivity.h"

namespace residua {
namespace {

void VerifyClasses(const Plan& plan) {
  std::vector<int> seen(static_cast<size_t>(plan.domain.size()), 0);
  if (plan.classes.class_of.size() != seen.size()) {
    Fail(ErrorKind::kRefused, "the plan has classes of {} attributes, and {} attributes",
         plan.classes.class_of.size(), seen.size());
  }
  for (int c = 0; c < plan.classes.size(); ++c) {
    const auto& members = plan.classes.members[static_cast<size_t>(c)];
    if (members.empty()) Fail(ErrorKind::kRefused, "class {} of the plan has no attributes", c);
    for (const int i : members) {
      if (i < 0 || i >= plan.domain.size()) {
        Fail(ErrorKind::kRefused, "the plan's classes name attribute {}, which does not exist", i);
      }
      ++seen[static_cast<size_t>(i)];
      const Attribute& first = plan.domain[members.front()];
      const Attribute& other = plan.domain[i];
      if (!SameQueries(first, other)) {
        Fail(ErrorKind::kRefused, "the plan treats attributes '{}' and '{}' alike, but they differ",
             first.name, other.name);
      }
      if (plan.classes.class_of[static_cast<size_t>(i)] != c) {
        Fail(ErrorKind::kRefused, "the plan puts attribute '{}' in two classes", other.name);
      }
    }
  }
  for (int i = 0; i < plan.domain.size(); ++i) {
    if (seen[static_cast<size_t>(i)] != 1) {
      Fail(ErrorKind::kRefused, "the plan puts attribute '{}' in {} classes, not one",
           plan.domain[i].name, seen[static_cast<size_t>(i)]);
    }
  }
}

void VerifyBases(const Plan& plan) {
  if (static_cast<int>(plan.bases.size()) != plan.classes.size()) {
    Fail(ErrorKind::kRefused, "the plan has {} bases for {} classes of attributes",
         plan.bases.size(), plan.classes.size());
  }
  for (int c = 0; c < plan.classes.size(); ++c) {
    const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
    const Attribute& attribute = plan.domain[plan.classes.members[static_cast<size_t>(c)].front()];
    const Integer size = ToInteger(attribute.size);
    Integer sensitivity = size * (size - 1);
    Integer factor = size * size;
    if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) {
      if (matrix->num_columns != attribute.size ||
          static_cast<int64_t>(matrix->entries.size()) !=
              CheckedMultiply(matrix->num_rows, matrix->num_columns)) {
        Fail(ErrorKind::kRefused, "the basis of attribute '{}' does not have its {} columns",
             attribute.name, attribute.size);
      }
      sensitivity = SquaredSensitivity(*matrix);
      factor = 1;
    } else if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) {
      VerifyTree(attribute, *tree);
      sensitivity = RecomputedSensitivity(*tree);
      factor = 1;
    } else if (const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix)) {
      VerifyConvolution(attribute, *convolution);
      sensitivity = RecomputedSensitivity(*convolution);
      factor = 1;
    }
    if (basis.size != attribute.size || sensitivity <= 0 ||
        basis.is_identity() != (attribute.queries == QueryKind::kIdentity) ||
        basis.squared_sensitivity != sensitivity || basis.variance_factor != factor) {
      Fail(ErrorKind::kRefused, "the basis of attribute '{}' does not cost what the plan says",
           attribute.name);
    }
  }
}

void VerifyMechanisms(const Plan& plan) {
  RESIDUA_CHECK(static_cast<int64_t>(plan.variances.size()) == plan.mechanisms.size());
  // All of them: for replaced rows the total has no price, and its noise is not looked at there.
  for (const Rational& variance : plan.variances) CheckNoiseVariance(variance);
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    const auto orbit = plan.mechanisms[k];
    // In another order the same sets could be listed, and measured, twice.
    if (!std::is_sorted(orbit.begin(), orbit.end())) {
      Fail(ErrorKind::kRefused, "base mechanism {} of the plan lists its classes out of order", k);
    }
    for (const ClassRun& run : ClassRuns(orbit)) {
      if (run.attribute_class < 0 || run.attribute_class >= plan.classes.size() ||
          run.count > static_cast<int>(
                          plan.classes.members[static_cast<size_t>(run.attribute_class)].size())) {
        Fail(ErrorKind::kRefused,
             "base mechanism {} of the plan names attributes that do not exist", k);
      }
    }
    const auto num_means = std::ranges::count_if(orbit, [&](int c) {
      return MeanOf(plan.domain[plan.classes.members[static_cast<size_t>(c)].front()]) != nullptr;
    });
    // Rows are split along one attribute of a table: along two they would cost something else.
    if (num_means > 1) {
      Fail(ErrorKind::kRefused,
           "base mechanism {} of the plan has two attributes whose mean is asked", k);
    }
  }
  for (const MeasuredPlan& earlier : plan.after) VerifyPlan(*earlier.plan);
  std::optional<Plan> with_earlier;
  if (!plan.after.empty()) with_earlier = WholePlan(plan);
  const Plan& whole = with_earlier ? *with_earlier : plan;
  const WorkloadOrbits workload = OrbitsUnder(whole.domain, whole.workload, whole.classes);
  const MultisetTable closure = Closure(workload.orbits);
  for (int64_t k = 0; k < closure.size(); ++k) {
    if (!whole.mechanisms.Find(closure[k])) {
      Fail(
          ErrorKind::kRefused,
          "the plan has no base mechanism for some subset of its marginals, so that they could not "
          "be reconstructed");
    }
  }
}

// Each part costs what it states, and the plan is what they make together.
void VerifyCombination(const Plan& plan) {
  for (const MeasuredPlan& part : plan.parts) VerifyPlan(*part.plan);
  Plan expected = CombinePlans(plan.parts).plan;
  if (plan.pcost != expected.pcost || plan.mu2 != expected.mu2 || plan.budget != expected.budget) {
    Fail(ErrorKind::kRefused, "the plan states the privacy cost {}, but its parts cost {}",
         ToDoubleUp(plan.pcost), ToDoubleUp(expected.pcost));
  }
  // What was chosen for is a label, and the loss follows from the rest.
  expected.loss = plan.loss;
  if (plan != expected) {
    Fail(ErrorKind::kRefused, "the combined plan is not what its parts make together");
  }
}

// The scales, and the cost on the Gaussian curve that follows from them.
void VerifyScales(const Plan& plan) {
  if (plan.scale_bits.empty()) {
    if (plan.mu2 || plan.budget.limits != Accounting::kZcdp) {
      Fail(ErrorKind::kRefused, "the plan states a cost on the Gaussian curve, but no scales");
    }
    return;
  }
  if (plan.scale_bits.size() != plan.variances.size() || !plan.mu2) {
    Fail(ErrorKind::kRefused, "the plan has {} scales for {} base mechanisms, or no mu2",
         plan.scale_bits.size(), plan.variances.size());
  }
  for (const int bits : plan.scale_bits) {
    if (bits < 0 || bits > kMaxScaleBits) {
      Fail(ErrorKind::kRefused, "the plan has a scale of 2^{}; it must lie between 1 and 2^{}",
           bits, kMaxScaleBits);
    }
  }
  CheckStatedPcost(*plan.mu2);
  const auto variances = VariancesOnCurve(MechanismsOf(plan), plan.variances, plan.scale_bits);
  if (!variances) {
    Fail(ErrorKind::kRefused,
         "the plan states a cost on the Gaussian curve, but some of its noise is too small for it");
  }
  if (!IsPlanPcost(MechanismsOf(plan), *variances, *plan.mu2)) {
    Fail(ErrorKind::kRefused, "the plan states the cost mu^2 = {}, but its noise costs {}",
         ToDoubleUp(*plan.mu2), ToDoubleUp(PlanPcost(MechanismsOf(plan), *variances)));
  }
}

}  // namespace

bool MeasuredPlan::operator==(const MeasuredPlan& other) const {
  return digest == other.digest && *plan == *other.plan;
}

std::vector<ResidualBasis> BasisOfAttributes(const Plan& plan) {
  std::vector<ResidualBasis> bases;
  bases.reserve(plan.classes.class_of.size());
  for (const int c : plan.classes.class_of) bases.push_back(plan.bases[static_cast<size_t>(c)]);
  return bases;
}

std::vector<ResidualMatrix> MatrixOfAttributes(const Plan& plan) {
  std::vector<ResidualMatrix> matrices;
  matrices.reserve(plan.classes.class_of.size());
  for (const int c : plan.classes.class_of) {
    matrices.push_back(plan.bases[static_cast<size_t>(c)].matrix);
  }
  return matrices;
}

MechanismOrbits MechanismsOf(const Plan& plan) {
  return {plan.protection, plan.bases, plan.classes, plan.mechanisms};
}

int ScaleBits(const Plan& plan, const AttributeSet& set) {
  const auto index = plan.mechanisms.Find(OrbitOf(plan.classes, set));
  if (!index) {
    Fail(ErrorKind::kBadInput, "the plan does not measure the table {}", SetName(plan.domain, set));
  }
  return plan.scale_bits.empty() ? 0 : plan.scale_bits[static_cast<size_t>(*index)];
}

PrivacyCost CostOf(const Plan& plan) {
  if (!plan.parts.empty()) {
    PrivacyCost cost{plan.pcost, plan.mu2};
    for (const MeasuredPlan& part : plan.parts) {
      cost.num_integers += CostOf(*part.plan).num_integers;
    }
    return cost;
  }
  const MechanismOrbits mechanisms = MechanismsOf(plan);
  PrivacyCost cost{plan.pcost, plan.mu2, NumMeasuredIntegers(mechanisms)};
  if (!plan.scale_bits.empty()) return cost;
  const std::vector<int> unscaled(plan.variances.size(), 0);
  if (const auto variances = VariancesOnCurve(mechanisms, plan.variances, unscaled)) {
    cost.mu2 = PlanPcost(mechanisms, *variances);
  }
  return cost;
}

Guarantee GuaranteeOf(const Plan& plan) { return GuaranteeOf(CostOf(plan), plan.budget.delta); }

void VerifyPlan(const Plan& plan) {
  if (!plan.parts.empty()) {
    VerifyCombination(plan);
    return;
  }
  CheckWorkload(plan.domain, plan.workload);
  CheckProtection(plan.protection, plan.domain);
  CheckDelta(plan.budget.delta);
  CheckStatedPcost(plan.pcost);
  CheckStatedPcost(plan.budget.pcost);
  VerifyClasses(plan);
  VerifyBases(plan);
  VerifyMechanisms(plan);
  if (!IsPlanPcost(MechanismsOf(plan), plan.variances, plan.pcost)) {
    Fail(ErrorKind::kRefused, "the plan states the privacy cost {}, but its noise costs {}",
         ToDoubleUp(plan.pcost), ToDoubleUp(PlanPcost(MechanismsOf(plan), plan.variances)));
  }
  VerifyScales(plan);
  const Rational limited = LimitedCost(plan.budget, {plan.pcost, plan.mu2});
  if (limited > plan.budget.pcost) {
    Fail(ErrorKind::kRefused, "the plan overspends: its privacy cost is {} and its budget {}",
         ToDoubleUp(limited), ToDoubleDown(plan.budget.pcost));
  }
}

}  // namespace residua
