#include "residua/select/combined_plan.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "residua/base/error.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select_after.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

SelectRequest RequestFor(const std::string& domain, const std::string& marginals, const char* pcost,
                         const std::string& objective = "sum-variance") {
  return {ParseDomain(domain),
          {ParseMarginalRules(marginals), {}},
          ParseObjective(objective),
          BudgetFromPcost(ParseRational(pcost, "pcost"))};
}

MeasuredPlan MeasuredOf(const SelectRequest& request, const std::string& digest) {
  return {digest, std::make_shared<const Plan>(Select(request))};
}

// With the bases of another plan.
MeasuredPlan MeasuredLike(SelectRequest request, const Plan& other, const std::string& digest) {
  request.matrices = MatrixOfAttributes(other);
  return MeasuredOf(request, digest);
}

Eigen::MatrixXd DenseIntegers(const ResidualMatrix& matrix, int64_t size) {
  const auto* integers = std::get_if<IntegerMatrix>(&matrix);
  if (integers == nullptr) {
    return static_cast<double>(size) * Eigen::MatrixXd::Identity(size, size) -
           Eigen::MatrixXd::Ones(size, size);
  }
  Eigen::MatrixXd dense(integers->num_rows, size);
  for (int64_t k = 0; k < dense.size(); ++k) {
    dense(k / size, k % size) = static_cast<double>(integers->entries[static_cast<size_t>(k)]);
  }
  return dense;
}

// The covariance of a table by generalised least squares of all that the parts measure, as they are.
Eigen::MatrixXd DenseCovariance(const std::vector<MeasuredPlan>& parts, const AttributeSet& table) {
  Eigen::MatrixXd information;
  for (const MeasuredPlan& part : parts) {
    const Plan& plan = *part.plan;
    std::vector<Eigen::MatrixXd> integers;
    for (const ResidualMatrix& matrix : MatrixOfAttributes(plan)) {
      const auto& attribute = plan.domain[static_cast<int>(integers.size())];
      integers.push_back(DenseIntegers(matrix, attribute.size));
    }
    for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
      ForEachMember(plan.classes, plan.mechanisms[k], [&](const AttributeSet& set) {
        const Eigen::MatrixXd rows = oracle::KroneckerOver(plan.domain, set, integers);
        const Eigen::MatrixXd own =
            rows.transpose() * rows / IntegerNoiseVariance(plan, set).get_d();
        information = information.size() == 0 ? own : Eigen::MatrixXd(information + own);
      });
    }
  }
  const Domain& domain = parts.front().plan->domain;
  std::vector<Eigen::MatrixXd> queries;
  for (const Attribute& attribute : domain.attributes()) {
    queries.push_back(oracle::DenseQueries(attribute));
  }
  const Eigen::MatrixXd q = oracle::KroneckerOver(domain, table, queries);
  const Eigen::MatrixXd inverse = information.completeOrthogonalDecomposition().pseudoInverse();
  return q * inverse * q.transpose();
}

TEST(CombinedPlan, HasTheVariancesOfDenseLeastSquares) {
  struct Case {
    const char* domain;
    const char* first;
    const char* second;
  };
  for (const Case& c :
       {Case{"3,2,4", "<=2", "<=1"}, Case{"3,2,2", "2", "<=3"}, Case{"4:prefix,3", "<=2", "<=2"},
        Case{"5:range,2", "<=1", "2"}, Case{"2*4", "<=2", "3"}}) {
    const MeasuredPlan first = MeasuredOf(RequestFor(c.domain, c.first, "0.7"), "a");
    const MeasuredPlan second =
        MeasuredLike(RequestFor(c.domain, c.second, "1.9"), *first.plan, "b");
    const CombinedPlan combined = CombinePlans({first, second});
    EXPECT_NO_THROW(VerifyPlan(combined.plan));
    EXPECT_EQ(combined.plan.pcost, first.plan->pcost + second.plan->pcost);
    EXPECT_EQ(*combined.plan.mu2, *first.plan->mu2 + *second.plan->mu2);
    EXPECT_EQ(combined.report.num_other_bases, 0);
    EXPECT_GT(combined.report.num_combined, 0);
    const std::vector<TableErrors> errors = PredictErrors(combined.plan);
    for (const ListedTable& table : ListTables(combined.plan, errors)) {
      const Eigen::MatrixXd dense = DenseCovariance({first, second}, table.attributes);
      EXPECT_NEAR(table.errors->mean_variance / dense.diagonal().mean(), 1, 1e-9)
          << c.domain << " " << SetName(combined.plan.domain, table.attributes);
    }
  }
}

TEST(CombinedPlan, AddsPrecisionsAndNeverStatesTooSmallAVariance) {
  const MeasuredPlan first = MeasuredOf(RequestFor("3,4", "<=2", "0.3"), "a");
  const MeasuredPlan second = MeasuredOf(RequestFor("3,4", "<=2", "2"), "b");
  const MeasuredPlan third = MeasuredOf(RequestFor("3,4", "<=1", "1"), "c");
  const CombinedPlan combined = CombinePlans({first, second, third});
  const Plan& plan = combined.plan;
  for (const AttributeSet& set : {AttributeSet{}, {0}, {1}, {0, 1}}) {
    Rational precision = 0;
    for (const MeasuredPlan& part : plan.parts) {
      if (part.plan->mechanisms.Find(OrbitOf(part.plan->classes, set))) {
        precision += 1 / NoiseVariance(*part.plan, set);
      }
    }
    const Rational ratio = NoiseVariance(plan, set) * precision;
    EXPECT_GE(ratio, 1);
    EXPECT_LT(ratio, 1 + Rational(1, 1'000'000'000'000)) << SetName(plan.domain, set);
  }
  for (const CombinedOrbit& orbit : combined.orbits) {
    int64_t sum = 0;
    for (const CombinedOrbit::Term& term : orbit.terms) sum += term.numerator;
    EXPECT_EQ(sum, int64_t{1} << kWeightBits);
  }
}

TEST(CombinedPlan, OfCombinationsIsAsGoodAsOfAllAtOnce) {
  std::vector<MeasuredPlan> singles;
  for (int k = 0; k < 12; ++k) {
    singles.push_back(MeasuredOf(RequestFor("3,2", "<=2", "1"), fmt::format("{}", k)));
  }
  const Plan at_once = CombinePlans(singles).plan;
  MeasuredPlan chain = singles.front();
  for (size_t k = 1; k < singles.size(); ++k) {
    chain = {fmt::format("chain {}", k),
             std::make_shared<const Plan>(CombinePlans({chain, singles[k]}).plan)};
  }
  EXPECT_NO_THROW(VerifyPlan(*chain.plan));
  EXPECT_EQ(chain.plan->pcost, at_once.pcost);
  EXPECT_EQ(CostOf(*chain.plan).num_integers, CostOf(at_once).num_integers);
  for (const AttributeSet& set : {AttributeSet{}, {0}, {1}, {0, 1}}) {
    EXPECT_NEAR(Rational(NoiseVariance(*chain.plan, set) / NoiseVariance(at_once, set)).get_d(), 1,
                1e-10);
    EXPECT_LE(ScaleBits(*chain.plan, set), 40);
  }
}

TEST(CombinedPlan, LeavesOutWhatHasOtherBases) {
  const MeasuredPlan first = MeasuredOf(RequestFor("6:prefix,3", "<=2", "1"), "a");
  SelectRequest request = RequestFor("6:prefix,3", "<=2", "1");
  request.basis = BasisKind::kOrthogonal;
  const MeasuredPlan second = MeasuredOf(request, "b");
  const CombinedPlan combined = CombinePlans({first, second});
  EXPECT_NO_THROW(VerifyPlan(combined.plan));
  // The total and the second attribute share their bases.
  EXPECT_EQ(combined.report.num_combined, 2);
  EXPECT_EQ(combined.report.num_single, 2);
  EXPECT_EQ(combined.report.num_other_bases, 2);
  EXPECT_EQ(combined.report.attributes_of_other_bases, std::vector<int>{0});
  EXPECT_EQ(combined.report.num_lost_tables, 0);
  EXPECT_EQ(NoiseVariance(combined.plan, {0}), NoiseVariance(*first.plan, {0}));
  EXPECT_LT(NoiseVariance(combined.plan, {1}), NoiseVariance(*first.plan, {1}));
  // Both were paid for.
  EXPECT_EQ(combined.plan.pcost, first.plan->pcost + second.plan->pcost);
}

TEST(CombinedPlan, RefusesOneMeasurementTwiceAndOtherCells) {
  const auto refusal = [](const std::vector<MeasuredPlan>& parts) -> std::string {
    try {
      CombinePlans(parts);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const MeasuredPlan a = MeasuredOf(RequestFor("3,2", "<=2", "1"), "a");
  const MeasuredPlan b = MeasuredOf(RequestFor("3,2", "<=1", "1"), "b");
  const MeasuredPlan both{"both", std::make_shared<const Plan>(CombinePlans({a, b}).plan)};
  EXPECT_TRUE(says(refusal({a, b, a}), "comes twice"));
  EXPECT_TRUE(says(refusal({both, a}), "within a combination"));
  EXPECT_TRUE(says(refusal({b, both}), "within a combination"));
  EXPECT_TRUE(says(refusal({a}), "at least two"));
  EXPECT_TRUE(says(refusal({a, MeasuredOf(RequestFor("3,4", "<=2", "1"), "c")}), "other cells"));
  EXPECT_TRUE(says(refusal({a, MeasuredOf(RequestFor("3", "<=1", "1"), "c")}), "attributes"));
  SelectRequest replaced = RequestFor("3,2", "<=2", "1");
  replaced.protection.neighbours = Protection::Neighbours::kReplaceOne;
  EXPECT_TRUE(says(refusal({a, MeasuredOf(replaced, "c")}), "neighbours"));
}

TEST(CombinedPlan, IsRefusedWhereAnythingOfItWasChanged) {
  const MeasuredPlan a = MeasuredOf(RequestFor("3,2", "<=2", "1"), "a");
  const MeasuredPlan b = MeasuredOf(RequestFor("3,2", "<=1", "1"), "b");
  const Plan plan = CombinePlans({a, b}).plan;
  const auto is_refused = [](const Plan& changed) {
    try {
      VerifyPlan(changed);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kRefused;
    }
    return false;
  };
  EXPECT_FALSE(is_refused(plan));
  Plan cheaper = plan;
  cheaper.pcost = a.plan->pcost;
  EXPECT_TRUE(is_refused(cheaper));
  Plan surer = plan;
  surer.variances[0] *= Rational(99, 100);
  EXPECT_TRUE(is_refused(surer));
  Plan missing = plan;
  missing.parts = {a};
  EXPECT_ANY_THROW(VerifyPlan(missing));
  Plan part = *a.plan;
  part.variances[0] *= 2;
  Plan changed = plan;
  changed.parts[0].plan = std::make_shared<const Plan>(part);
  EXPECT_TRUE(is_refused(changed)) << "the part does not cost what it states";
}

TEST(SelectAfter, IsTheOptimumOfAFineGrid) {
  // One attribute: two sets, and one number to choose, how much of the budget the total gets.
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=3"}) {
    for (const char* earlier_marginals : {"0", "1", "<=1"}) {
      const SelectRequest before = RequestFor("5", earlier_marginals, "0.8");
      const MeasuredPlan earlier = MeasuredOf(before, "a");
      const SelectRequest request = RequestFor("5", "<=1", "0.5", objective);
      const PlanAfter after = SelectAfter(request, {earlier});
      EXPECT_NO_THROW(VerifyPlan(after.plan)) << objective << " " << earlier_marginals;
      EXPECT_LT(after.plan.relative_gap, 1e-5);
      EXPECT_LE(after.plan.pcost, Rational(1, 2));
      Plan trial = after.fresh;
      trial.objective = request.objective;
      const std::vector<double> cost = CostOfOrbits(MechanismsOf(trial));
      double least = std::numeric_limits<double>::infinity();
      constexpr int kSteps = 20000;
      for (int step = 0; step <= kSteps; ++step) {
        for (int64_t k = 0; k < trial.mechanisms.size(); ++k) {
          const bool is_total = trial.mechanisms[k].empty();
          const double share = (is_total ? step : kSteps - step) / double{kSteps};
          double precision = 0.5 * share / cost[static_cast<size_t>(k)];
          const AttributeSet set = is_total ? AttributeSet{} : AttributeSet{0};
          if (earlier.plan->mechanisms.Find(OrbitOf(earlier.plan->classes, set))) {
            precision += 1 / NoiseVariance(*earlier.plan, set).get_d();
          }
          trial.variances[static_cast<size_t>(k)] =
              precision > 0 ? Rational(1 / precision) : Rational(1e30);
        }
        least = std::min(least, ObjectiveLoss(trial));
      }
      EXPECT_LT(after.plan.loss, least * (1 + 1e-6)) << objective << " " << earlier_marginals;
      EXPECT_GT(after.plan.loss, least * (1 - 1e-4)) << objective << " " << earlier_marginals;
    }
  }
}

TEST(SelectAfter, PredictsTheErrorsOfDenseLeastSquares) {
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=2"}) {
    for (const char* domain : {"3,2,4", "5:prefix,3", "2*4"}) {
      const MeasuredPlan earlier = MeasuredOf(RequestFor(domain, "<=1", "2"), "a");
      const PlanAfter after = SelectAfter(RequestFor(domain, "<=2", "0.4", objective), {earlier});
      const Plan& plan = after.plan;
      EXPECT_NO_THROW(VerifyPlan(plan));
      EXPECT_LT(plan.relative_gap, 1e-4) << objective << " " << domain;
      EXPECT_LE(plan.loss, after.fresh.loss);
      const MeasuredPlan second{"b", std::make_shared<const Plan>(plan)};
      const std::vector<TableErrors> errors = PredictErrors(plan);
      for (const ListedTable& table : ListTables(plan, errors)) {
        const Eigen::MatrixXd dense = DenseCovariance({earlier, second}, table.attributes);
        EXPECT_NEAR(table.errors->mean_variance / dense.diagonal().mean(), 1, 1e-9)
            << domain << " " << SetName(plan.domain, table.attributes);
      }
    }
  }
}

TEST(SelectAfter, DoesNotMeasureWhatIsKnownWell) {
  // A precise total was released before: nothing is spent on it again.
  const MeasuredPlan earlier = MeasuredOf(RequestFor("4,3", "0", "100"), "a");
  const PlanAfter after = SelectAfter(RequestFor("4,3", "<=2", "1"), {earlier});
  EXPECT_FALSE(after.plan.mechanisms.Find({}).has_value());
  EXPECT_NO_THROW(VerifyPlan(after.plan));
  EXPECT_ANY_THROW(CheckStandsAlone(after.plan));
  EXPECT_LT(after.plan.loss, after.fresh.loss);
  // Without the earlier one the tables could not be made.
  Plan alone = after.plan;
  alone.after.clear();
  EXPECT_ANY_THROW(VerifyPlan(alone));
  const CombinedPlan both =
      CombinePlans({earlier, {"b", std::make_shared<const Plan>(after.plan)}});
  EXPECT_EQ(both.report.num_lost_tables, 0);
  EXPECT_NEAR(both.plan.pcost.get_d(), 101, 1e-4);
  // A second release that plans from nothing would have to cost more for the same errors.
  EXPECT_GT(CostAtOnce(RequestFor("4,3", "<=2", "1"), after.plan), after.plan.pcost);
}

TEST(SelectAfter, ReachesATargetAndRefusesOneThatIsReached) {
  const MeasuredPlan earlier = MeasuredOf(RequestFor("4,3", "<=1", "1"), "a");
  SelectRequest request = RequestFor("4,3", "<=2", "1");
  const double loss = SelectAfter(request, {earlier}).plan.loss;
  request.target = LossTarget{loss};
  const Plan plan = SelectAfter(request, {earlier}).plan;
  EXPECT_LE(plan.loss, loss * (1 + 1e-9));
  EXPECT_NEAR(plan.pcost.get_d(), 1, 1e-4);
  SelectRequest easy = RequestFor("4,3", "<=1", "1");
  easy.target = LossTarget{2 * earlier.plan->loss};
  EXPECT_THROW(SelectAfter(easy, {earlier}), Error);
  easy.target = LossTarget{std::nan("")};
  EXPECT_THROW(SelectAfter(easy, {earlier}), Error);
}

TEST(SelectAfter, RefusesOtherQueries) {
  const MeasuredPlan earlier = MeasuredOf(RequestFor("6,3", "<=1", "1"), "a");
  EXPECT_THROW(SelectAfter(RequestFor("6:prefix,3", "<=1", "1"), {earlier}), Error);
}

}  // namespace
}  // namespace residua
