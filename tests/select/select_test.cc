#include "residua/select/select.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

using Kind = MarginalRule::Kind;
using ObjectiveKind = Objective::Kind;

SelectRequest Request(const Domain& domain, const Workload& workload,
                      const std::string& objective = "sum-variance", const Rational& pcost = 1) {
  return {domain, workload, ParseObjective(objective), BudgetFromPcost(pcost), {}};
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }

  // A domain of at most a hundred or so cells, with repeated sizes likely.
  Domain SmallDomain() {
    const int d = 2 + Below(3);
    std::string sizes;
    for (int i = 0; i < d; ++i)
      sizes += (i > 0 ? "," : "") + std::to_string(2 + Below(d > 3 ? 2 : 3));
    return ParseDomain(sizes);
  }

  Workload SmallWorkload(const Domain& domain) {
    Workload workload;
    if (Below(2) == 0)
      workload.rules.push_back(
          {Below(2) == 0 ? Kind::kExactly : Kind::kUpTo, Below(domain.size() + 1)});
    for (int k = Below(4); k > 0 || (workload.rules.empty() && workload.marginals.empty()); --k) {
      std::vector<int> set;
      for (int i = 0; i < domain.size(); ++i) {
        if (Below(2) == 0) set.push_back(i);
      }
      bool fresh = true;
      for (const WeightedMarginal& marginal : workload.marginals)
        fresh = fresh && marginal.attributes != set;
      if (fresh) workload.marginals.push_back({set, 0.5 + Below(3)});
    }
    return workload;
  }

 private:
  std::mt19937 engine_;
};

// The fast formulas against matrices over the whole domain, for every objective.
TEST(SelectTest, CostsAndCovariancesAgreeWithDenseMatrices) {
  Random random(11);
  const std::vector<std::string> objectives = {"sum-variance", "max-variance", "p-norm=3"};
  for (int trial = 0; trial < 60; ++trial) {
    const Domain domain = random.SmallDomain();
    const Workload workload = random.SmallWorkload(domain);
    const Rational pcost(1 + random.Below(5), 1 + random.Below(5));
    const Plan plan =
        Select(Request(domain, workload, objectives[static_cast<size_t>(trial) % 3], pcost));
    EXPECT_TRUE(plan.converged);
    EXPECT_NO_THROW(VerifyPlan(plan));

    const Eigen::MatrixXd cost = oracle::PrivacyCostMatrix(plan);
    EXPECT_NEAR(cost.diagonal().maxCoeff() / plan.pcost.get_d(), 1, 1e-9);

    const std::vector<TableErrors> errors = PredictErrors(plan);
    double total_variance = 0;
    double num_cells = 0;
    double max_variance = 0;
    for (const AttributeSet& set : oracle::AllMarginals(plan)) {
      const Eigen::MatrixXd covariance = oracle::MarginalCovariance(plan, set);
      total_variance += covariance.trace();
      num_cells += static_cast<double>(covariance.rows());
      max_variance = std::max(max_variance, covariance.diagonal().maxCoeff());
      // Two random cells of the table.
      std::vector<int64_t> a;
      std::vector<int64_t> b;
      int64_t row = 0;
      int64_t column = 0;
      for (const int i : set) {
        a.push_back(random.Below(static_cast<int>(domain[i].size)));
        b.push_back(random.Below(static_cast<int>(domain[i].size)));
        row = row * domain[i].size + a.back();
        column = column * domain[i].size + b.back();
      }
      const double scale = covariance.diagonal().maxCoeff();
      EXPECT_NEAR(AnswerCovariance(plan, set, a, b), covariance(row, column), 1e-9 * scale);
      EXPECT_NEAR(AnswerCovariance(plan, set, a, a), covariance(row, row), 1e-9 * scale);
    }
    const PlanSummary summary = Summarize(plan, errors);
    EXPECT_NEAR(summary.rmse, std::sqrt(total_variance / num_cells), 1e-9 * summary.rmse);
    EXPECT_NEAR(summary.max_variance, max_variance, 1e-9 * max_variance);
    EXPECT_EQ(summary.num_mechanisms, static_cast<double>(oracle::AllMechanisms(plan).size()));
    EXPECT_EQ(summary.num_answers, num_cells);
  }
}

// Each table alone, planned by itself with its share.
TEST(SelectTest, TablesBetterOffAloneAreNamed) {
  for (const char* text : {"9,5,2", "20:prefix,4,3:range", "12:range*2,7"}) {
    const Domain domain = ParseDomain(text);
    for (const int64_t max_rows : {1, 3}) {
      SelectRequest request = Request(domain, {{{Kind::kUpTo, 3}}, {}}, "sum-variance", 2);
      request.objective.weighting = Weighting::kCells;
      if (max_rows > 1) request.protection.identifier = "person";
      request.protection.max_rows = max_rows;
      const Plan plan = Select(request);
      const std::vector<TableErrors> errors = PredictErrors(plan);
      std::vector<AttributeSet> expected;
      for (const ListedTable& table : ListTables(plan, errors)) {
        SelectRequest one = request;
        one.workload = {{}, {{table.attributes, 1.0}}};
        one.target = BudgetFromPcost(Rational(2, 8));
        const double alone = PredictErrors(Select(one)).front().mean_variance;
        // Planned alone it may choose its own bases, which are at most a little better.
        EXPECT_GE(table.errors->alone_variance, alone * (1 - 1e-3));
        EXPECT_LE(table.errors->alone_variance, alone * 1.15);
        if (table.errors->mean_variance > table.errors->alone_variance * 1.001) {
          expected.push_back(table.attributes);
        }
      }
      const BetterAlone better = FindBetterAlone(plan, errors);
      EXPECT_EQ(better.num_tables, static_cast<double>(expected.size()));
      ASSERT_EQ(better.named.size(), expected.size());
      for (size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(better.named[k].attributes, expected[k]);
      }
      EXPECT_GT(better.num_tables, 0);
      EXPECT_TRUE(expected.front().empty()) << "the total suffers most when cells are weighed";
    }
  }
  // With equal weights nobody suffers.
  const Plan fair = Select(Request(ParseDomain("9,5,2"), {{{Kind::kUpTo, 3}}, {}}));
  EXPECT_EQ(FindBetterAlone(fair, PredictErrors(fair)).num_tables, 0);
}

// Independent noise of variance 2 / share hides a replaced row, which moves two cells by one.
TEST(SelectTest, ReplacedRowsCostATableAloneTwice) {
  SelectRequest request = Request(ParseDomain("9,5,2"), {{{Kind::kUpTo, 1}}, {}});
  request.protection.neighbours = Protection::Neighbours::kReplaceOne;
  const Plan plan = Select(request);
  for (const TableErrors& table : PredictErrors(plan)) {
    if (table.orbit.empty()) {
      EXPECT_EQ(table.alone_variance, table.mean_variance);
    } else {
      EXPECT_NEAR(table.alone_variance * plan.pcost.get_d(), 6, 1e-9);
    }
  }
}

// loss(noise) of the objective on explicit tables, from the dense oracle's enumeration.
TEST(SelectTest, NoPerturbationOfTheNoiseDoesBetter) {
  Random random(5);
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=2", "p-norm=20"}) {
    for (const Weighting weighting :
         {Weighting::kCells, Weighting::kSqrtCells, Weighting::kEqual}) {
      const Domain domain = ParseDomain("2,3,3,4");
      SelectRequest request = Request(domain, {{{Kind::kUpTo, 2}}, {{{0, 1, 2}, 3.0}}}, objective);
      request.objective.weighting = weighting;
      request.solver.tolerance = 1e-8;
      const Plan plan = Select(request);
      ASSERT_TRUE(plan.converged);
      for (int trial = 0; trial < 200; ++trial) {
        Plan other = plan;
        for (Rational& variance : other.variances) {
          variance *= Rational(9000 + random.Below(2000), 10000);
        }
        const Rational cost = PlanPcost(MechanismsOf(plan), other.variances);
        for (Rational& variance : other.variances) variance *= cost / plan.pcost;
        EXPECT_GT(ObjectiveLoss(other), plan.loss * (1 - 2e-8)) << objective;
      }
    }
  }
}

TEST(SelectTest, SymmetryChangesNothingButTheSize) {
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=4"}) {
    const Domain domain = ParseDomain("4*3,3*2");
    // A list of all pairs, so that FindSymmetry collapses; one of them with weight 1.0000001 does
    // not change the answer, but keeps every attribute apart that occurs in it.
    Workload whole;
    for (int i = 0; i < 5; ++i) {
      for (int j = i + 1; j < 5; ++j) whole.marginals.push_back({{i, j}, 1.0});
    }
    Workload broken = whole;
    broken.marginals[0].weight = 1 + 1e-12;
    broken.marginals[4].weight = 1 + 2e-12;
    const Plan small = Select(Request(domain, whole, objective));
    const Plan large = Select(Request(domain, broken, objective));
    EXPECT_LT(small.mechanisms.size(), large.mechanisms.size());
    EXPECT_NEAR(small.loss, large.loss, 3e-6 * small.loss);
  }
}

TEST(SelectTest, PNormsReachFromTheSumToTheMaximum) {
  const Domain domain = ParseDomain("10,7,3,2");
  const Workload workload{{{Kind::kUpTo, 2}}, {}};
  SelectRequest request = Request(domain, workload, "p-norm=1");
  EXPECT_NEAR(Select(request).loss, Select(Request(domain, workload)).loss,
              1e-9 * Select(request).loss);
  request = Request(domain, workload, "p-norm=300");
  request.objective.weighting = Weighting::kEqual;
  const Plan nearly_max = Select(request);
  const Plan max = Select(Request(domain, workload, "max-variance"));
  // 11 tables: the p-norm is at most 11^(1/300) times the maximum.
  EXPECT_LE(nearly_max.loss, max.loss * std::pow(11.0, 1 / 300.0) * (1 + 1e-5));
  EXPECT_GE(nearly_max.loss, max.loss * (1 - 1e-5));
}

TEST(SelectTest, RoundingKeepsTheBudgetAndTheAccuracy) {
  for (const char* pcost : {"1", "1/3", "0.1", "1e-12", "1e12", "7/5", "123456789/1000"}) {
    for (const char* objective : {"sum-variance", "max-variance"}) {
      const Rational budget = ParseRational(pcost, "pcost");
      const Plan plan =
          Select(Request(ParseDomain("100,50,7,4,2"), {{{Kind::kUpTo, 3}}, {}}, objective, budget));
      EXPECT_LE(plan.pcost, budget);
      EXPECT_GT(plan.pcost, budget * Rational(99999999, 100000000));
      const Plan unit =
          Select(Request(ParseDomain("100,50,7,4,2"), {{{Kind::kUpTo, 3}}, {}}, objective));
      EXPECT_NEAR(plan.loss * budget.get_d() / unit.loss, 1, 1e-8);
    }
  }
}

TEST(SelectTest, LeastBudgetForATargetLoss) {
  const Domain domain = ParseDomain("10,7,3,2");
  const Workload workload{{{Kind::kUpTo, 2}}, {}};
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=2"}) {
    SelectRequest request = Request(domain, workload, objective);
    request.target = LossTarget{25.0, 1e-9};
    const Plan plan = Select(request);
    EXPECT_LE(plan.loss, 25.0);
    EXPECT_GT(plan.loss, 25.0 * (1 - 1e-8));
    EXPECT_NO_THROW(VerifyPlan(plan));
    const Plan same = Select(Request(domain, workload, objective, plan.pcost));
    EXPECT_NEAR(same.loss / plan.loss, 1, 1e-8);
  }
}

// Weights of a table below 1 would let it have more.
TEST(SelectTest, ATargetForTheLargestVarianceBoundsEveryAnswer) {
  const auto request_with = [](double weight) {
    return Request(ParseDomain("3,2"), {{}, {{{0}, weight}, {{1}, 1.0}}}, "max-variance");
  };
  for (const double weight : {0.5, 2.0}) {
    SelectRequest request = request_with(weight);
    const Plan plan = Select(request);
    EXPECT_NEAR(CostAtOnce(request, plan).get_d(), 1, 1e-6);
    request.target = LossTarget{25.0, 1e-9};
    if (weight < 1) {
      EXPECT_THROW(Select(request), Error);
      request.objective.kind = ObjectiveKind::kSumVariance;
      EXPECT_LE(Select(request).loss, 25);
    } else {
      for (const TableErrors& table : PredictErrors(Select(request))) {
        EXPECT_LE(table.max_variance, 25);
      }
    }
  }
}

TEST(SelectTest, ACallersOwnLoss) {
  const Domain domain = ParseDomain("10,7,3,2");
  const Workload workload{{{Kind::kExactly, 2}}, {}};
  // The sum of cells as a caller would write it reproduces the closed form.
  const std::vector<double> cells = [&] {
    std::vector<double> c;
    const WorkloadOrbits orbits = WithoutSymmetry(domain, workload);
    for (int64_t j = 0; j < orbits.orbits.size(); ++j) {
      double n = 1;
      for (const int i : orbits.orbits[j]) n *= static_cast<double>(domain[i].size);
      c.push_back(n);
    }
    return c;
  }();
  const ConvexLoss sum = [&](std::span<const double> v, std::span<double> g) {
    double total = 0;
    for (size_t j = 0; j < v.size(); ++j) {
      total += cells[j] * v[j];
      g[j] = cells[j];
    }
    return total;
  };
  SelectRequest every_cell = Request(domain, workload);
  every_cell.objective.weighting = Weighting::kCells;
  const Plan closed = Select(every_cell);
  EXPECT_NEAR(SelectForLoss(Request(domain, workload), sum).loss, closed.loss, 2e-6 * closed.loss);

  // A loss that is not homogeneous: sum of v + exp(v / 20), for a budget and for a target.
  const ConvexLoss curved = [](std::span<const double> v, std::span<double> g) {
    double total = 0;
    for (size_t j = 0; j < v.size(); ++j) {
      total += v[j] + std::exp(v[j] / 20);
      g[j] = 1 + std::exp(v[j] / 20) / 20;
    }
    return total;
  };
  const Plan at_budget = SelectForLoss(Request(domain, workload, "sum-variance", 2), curved);
  EXPECT_TRUE(at_budget.converged);
  SelectRequest request = Request(domain, workload);
  request.target = LossTarget{at_budget.loss, 1e-9};
  EXPECT_NEAR(SelectForLoss(request, curved).pcost.get_d(), 2, 1e-4);

  const ConvexLoss bad = [](std::span<const double>, std::span<double> g) {
    for (double& x : g) x = std::numeric_limits<double>::quiet_NaN();
    return 1.0;
  };
  EXPECT_THROW(SelectForLoss(Request(domain, workload), bad), Error);
  const ConvexLoss decreasing = [](std::span<const double>, std::span<double> g) {
    for (double& x : g) x = -1;
    return 1.0;
  };
  EXPECT_THROW(SelectForLoss(Request(domain, workload), decreasing), Error);
}

// Many rows near the maximum at once: without longer steps the progress is slow, and rounding of
// the dual hides the direction of ascent.
TEST(SelectTest, TheMaximumConvergesWhereManyRowsAttainIt) {
  std::string sizes = "2";
  for (int size = 3; size <= 40; ++size) sizes += "," + std::to_string(size);
  for (const std::string& domain :
       {std::string("100:prefix,50:prefix,7,4,2"), std::string("10:range*100"), sizes}) {
    const Plan plan = Select({ParseDomain(domain),
                              {ParseMarginalRules("<=3"), {}},
                              ParseObjective("max-variance"),
                              BudgetFromPcost(1)});
    EXPECT_TRUE(plan.converged) << domain;
    EXPECT_LE(plan.relative_gap, SolverOptions().tolerance) << domain;
  }
}

TEST(SelectTest, HugeTablesArePlannedWithoutBeingBuilt) {
  // 10^30 cells: far beyond 64 bits, and still planned.
  const Plan plan =
      Select(Request(ParseDomain("1000000*5"), {{{Kind::kExactly, 5}}, {}}, "max-variance"));
  EXPECT_NEAR(plan.loss, 1, 1e-6);
  EXPECT_THROW(NumCellsInMemory(plan.domain, {0, 1, 2, 3, 4}), Error);
  // A thousand attributes, all pairs.
  const Plan wide = Select(Request(ParseDomain("2*500,3*500"), {{{Kind::kUpTo, 2}}, {}}));
  EXPECT_EQ(Summarize(wide, PredictErrors(wide)).num_mechanisms, 1 + 1000 + 499500);
}

TEST(VerifyTest, CatchesEveryChange) {
  const Plan plan = Select(Request(ParseDomain("4,4,3"), {{{Kind::kUpTo, 2}}, {}}));
  EXPECT_NO_THROW(VerifyPlan(plan));
  const auto refused = [](const Plan& changed) {
    try {
      VerifyPlan(changed);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kRefused;
    }
    return false;
  };
  Plan changed = plan;
  changed.variances[1] *= Rational(99, 100);
  EXPECT_TRUE(refused(changed));
  changed = plan;
  changed.variances[1] *= Rational(101, 100);
  EXPECT_TRUE(refused(changed)) << "a cost that is not the stated one";
  changed = plan;
  changed.budget.pcost = plan.pcost / 2;
  EXPECT_TRUE(refused(changed));
  changed = plan;
  changed.variances[0] = -1;
  EXPECT_TRUE(refused(changed));
  changed = plan;
  changed.workload.rules = {{Kind::kUpTo, 3}};
  EXPECT_TRUE(refused(changed)) << "a marginal that the mechanisms do not cover";
  changed = plan;
  changed.classes = {{{0, 1, 2}}, {0, 0, 0}};
  EXPECT_TRUE(refused(changed)) << "attributes of different sizes in one class";
}

}  // namespace
}  // namespace residua
