#include "residua/select/plan_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "residua/base/error.h"
#include "residua/privacy/gaussian_curve.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

constexpr auto kReplaceOne = Protection::Neighbours::kReplaceOne;

Protection ReplaceOne() {
  Protection protection;
  protection.neighbours = kReplaceOne;
  return protection;
}

Protection Person() {
  Protection person;
  person.identifier = "person";
  person.max_rows = 3;
  return person;
}

Plan PlanFor(const std::string& domain, const std::string& marginals, const Protection& protection,
             const std::string& objective = "sum-variance") {
  SelectRequest request{ParseDomain(domain),
                        {ParseMarginalRules(marginals), {}},
                        ParseObjective(objective),
                        BudgetFromPcost(Rational(3, 7)),
                        protection};
  return Select(request);
}

// The most expensive of all pairs of cells, each looked at.
double MostExpensivePair(const Plan& plan) {
  const Eigen::MatrixXd cost = oracle::PrivacyCostMatrix(plan);
  double largest = 0;
  for (Eigen::Index u = 0; u < cost.rows(); ++u) {
    for (Eigen::Index v = 0; v < u; ++v) {
      largest = std::max(largest, cost(u, u) + cost(v, v) - 2 * cost(u, v));
    }
  }
  return largest;
}

TEST(PlanCost, OfReplacedRowsIsThatOfTheMostExpensivePair) {
  for (const char* domain : {"2", "3", "2,2", "2,2,2,2", "2,3,4", "3,3,3", "2,5,2,3", "4,4,2"}) {
    for (const char* marginals : {"1", "<=2", "2", "<=3", "3"}) {
      for (const char* objective : {"sum-variance", "max-variance"}) {
        if (marginals[0] == '3' && std::count(domain, domain + strlen(domain), ',') < 2) continue;
        if (marginals[0] == '2' && std::count(domain, domain + strlen(domain), ',') < 1) continue;
        const Plan plan = PlanFor(domain, marginals, ReplaceOne(), objective);
        EXPECT_NO_THROW(VerifyPlan(plan));
        const double largest = MostExpensivePair(plan);
        EXPECT_GE(plan.pcost.get_d(), largest * (1 - 1e-12)) << domain << " " << marginals;
        EXPECT_LE(plan.pcost.get_d(), largest * (1 + 1e-10)) << domain << " " << marginals;
        // All of the budget is used, and no more.
        EXPECT_LE(plan.pcost, plan.budget.pcost);
        EXPECT_GE(plan.pcost.get_d(), plan.budget.pcost.get_d() * (1 - 1e-5));
      }
    }
  }
}

// The noise varied at random: the price follows, whichever pair is the largest.
TEST(PlanCost, OfReplacedRowsFollowsTheNoise) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    Plan plan = PlanFor(trial % 2 == 0 ? "2,2,2,3" : "2,3,2,2,2", "<=3", ReplaceOne());
    for (Rational& variance : plan.variances) {
      variance *= Rational(static_cast<long>(1 + random() % 1000), 100);
    }
    const double cost = PlanPcost(MechanismsOf(plan), plan.variances).get_d();
    EXPECT_NEAR(cost / MostExpensivePair(plan), 1, 1e-10);
  }
}

TEST(PlanCost, OfReplacedRowsIsBoundedForOtherQueries) {
  for (const char* domain :
       {"4:prefix", "5:range", "4:prefix,2", "3:prefix,3,2", "6:prefix,3:range"}) {
    const Plan plan = PlanFor(domain, "<=2", ReplaceOne());
    EXPECT_NO_THROW(VerifyPlan(plan));
    const double largest = MostExpensivePair(plan);
    EXPECT_GE(plan.pcost.get_d(), largest * (1 - 1e-12)) << domain;
    EXPECT_LE(plan.pcost.get_d(), 2 * largest) << domain;
  }
}

// With one attribute there is one kind of pair, and the noise chosen is the best for it.
TEST(PlanCost, OfReplacedRowsOfOneAttributeIsOptimal) {
  const Plan plan = PlanFor("5", "1", ReplaceOne());
  // Every cell has 4/5 of the residual's variance, of which the pair costs twice the inverse,
  // 2 / variance = 3/7, and 1/25 of the total's, which it could do without.
  const std::vector<TableErrors> errors = PredictErrors(plan);
  EXPECT_NEAR(errors.back().mean_variance, 0.8 * 14 / 3 + 0.125 / 25, 1e-4);
  EXPECT_NEAR(plan.relative_gap, 0.125 / 25 / (0.8 * 14 / 3), 1e-5);
}

TEST(PlanCost, FewKindsOfPairsAreEnoughForManyAlikeAttributes) {
  const Plan plan = PlanFor("10*100", "<=3", ReplaceOne());
  EXPECT_NO_THROW(VerifyPlan(plan));
  EXPECT_LT(plan.relative_gap, 1e-4);
}

// No noise near the one chosen does better at the same cost.
TEST(PlanCost, OfReplacedRowsIsSpentWell) {
  std::mt19937 random(6);
  for (const char* objective : {"sum-variance", "max-variance"}) {
    for (const char* domain : {"2,12", "2,2,2", "2,3,4,2"}) {
      const Plan plan = PlanFor(domain, "<=2", ReplaceOne(), objective);
      EXPECT_LT(plan.relative_gap, 0.01) << domain << " " << objective;
      for (int trial = 0; trial < 300; ++trial) {
        Plan other = plan;
        for (Rational& variance : other.variances) {
          variance *= Rational(static_cast<long>(800 + random() % 400), 1000);
        }
        const Rational cost = PlanPcost(MechanismsOf(plan), other.variances);
        for (Rational& variance : other.variances) variance *= cost / plan.pcost;
        EXPECT_GT(ObjectiveLoss(other) * (1 + plan.relative_gap), ObjectiveLoss(plan) * (1 - 1e-4))
            << domain << " " << objective;
      }
    }
  }
}

// Forty attributes of forty sizes have 2^40 kinds of pairs: the bound serves.
TEST(PlanCost, TooManyKindsOfPairsAreBounded) {
  std::string domain;
  for (int size = 2; size < 42; ++size) domain += (size > 2 ? "," : "") + std::to_string(size);
  const Plan plan = PlanFor(domain, "<=2", ReplaceOne());
  EXPECT_NO_THROW(VerifyPlan(plan));
  EXPECT_LE(plan.pcost, plan.budget.pcost);
}

TEST(PlanCost, OfAnIdentifierIsThatOfAllItsRowsInOneCell) {
  const Plan plan = PlanFor("2,3", "<=2", Person());
  const double row = oracle::PrivacyCostMatrix(plan).diagonal().maxCoeff();
  EXPECT_NEAR(plan.pcost.get_d(), 9 * row, 1e-9);
  EXPECT_NO_THROW(VerifyPlan(plan));
  Plan ignored = plan;
  ignored.protection.max_rows = 4;
  EXPECT_THROW(VerifyPlan(ignored), Error);
}

TEST(PlanCost, AWrongOneIsNotVerified) {
  const Plan plan = PlanFor("2,3,4", "<=2", ReplaceOne());
  for (const double factor : {0.5, 0.999, 1 - 1e-9, 1 + 1e-9, 2.0}) {
    Plan wrong = plan;
    wrong.pcost *= Rational(factor);
    EXPECT_THROW(VerifyPlan(wrong), Error) << factor;
  }
  Plan other = plan;
  other.protection = {};
  EXPECT_THROW(VerifyPlan(other), Error);
}

// An (epsilon, delta) budget buys the curve's mu^2 within 0.2 % and never more, whatever is
// protected; the cost is that of the dense privacy cost matrix at variances less kTau2.
TEST(PlanCost, OnTheGaussianCurve) {
  const Budget budget = BudgetFromEpsilon(1, 1e-9);
  EXPECT_NEAR(budget.pcost.get_d(), 0.0331148304902, 1e-12);
  for (const Protection& protection : {Protection{}, Person(), ReplaceOne()}) {
    for (const char* domain : {"2,3", "2*4", "5:prefix,3", "4:range,2"}) {
      const Plan plan = Select({ParseDomain(domain),
                                {ParseMarginalRules("<=2"), {}},
                                ParseObjective("sum-variance"),
                                budget,
                                protection});
      ASSERT_NO_THROW(VerifyPlan(plan)) << domain;
      EXPECT_LE(*plan.mu2, budget.pcost) << domain;
      EXPECT_GT(plan.mu2->get_d(), budget.pcost.get_d() * (1 - 2e-3)) << domain;
      EXPECT_GT(*plan.mu2, plan.pcost) << domain;
      EXPECT_LT(plan.mu2->get_d(), plan.pcost.get_d() * (1 + 1.1e-6)) << domain;
      const Guarantee guarantee = GuaranteeOf(plan);
      EXPECT_LE(guarantee.epsilon, 1) << domain;
      EXPECT_GT(guarantee.epsilon, 0.999) << domain;
      EXPECT_GE(Rational(*guarantee.mu) * Rational(*guarantee.mu), *plan.mu2);
      // Independently: every variance less what kTau2 is of it.
      Plan reduced = plan;
      for (size_t k = 0; k < plan.variances.size(); ++k) {
        const auto orbit = plan.mechanisms[static_cast<int64_t>(k)];
        Rational factor = Integer(1) << (2U * plan.scale_bits[k]);
        for (const int c : orbit) factor *= plan.bases[static_cast<size_t>(c)].variance_factor;
        EXPECT_GE(plan.variances[k] * factor, Rational(4000000)) << "kTau2 costs a millionth";
        EXPECT_TRUE(plan.scale_bits[k] == 0 || plan.variances[k] * factor < 16000000) << "no finer";
        reduced.variances[k] -= kTau2 / factor;
      }
      if (protection.neighbours == kReplaceOne &&
          std::string_view(domain).find(':') != std::string_view::npos) {
        continue;  // bounded, not attained
      }
      const double rows = static_cast<double>(protection.max_rows);
      const double attained =
          protection.neighbours == kReplaceOne
              ? MostExpensivePair(reduced)
              : rows * rows * oracle::PrivacyCostMatrix(reduced).diagonal().maxCoeff();
      EXPECT_NEAR(plan.mu2->get_d() / attained, 1, 1e-10) << domain;
    }
  }
}

// Of many different sets the cost stays short, so that it is exact and quick to add up.
TEST(PlanCost, OnTheCurveIsAShortNumber) {
  std::string domain = "2";
  for (int size = 3; size < 32; ++size) domain += "," + std::to_string(size);
  const Plan plan = Select(
      {ParseDomain(domain), {ParseMarginalRules("<=2"), {}}, {}, BudgetFromMu(Rational(1, 3))});
  EXPECT_LT(ToString(*plan.mu2).size(), 120u);
  EXPECT_LE(*plan.mu2, Rational(1, 9));
  EXPECT_NO_THROW(VerifyPlan(plan));
}

// What VerifyPlan says of it; nothing if it accepts it.
std::optional<ErrorKind> Refusal(const Plan& plan) {
  try {
    VerifyPlan(plan);
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

// States what its noise costs, and has as large a budget, as a forger would.
void StateCost(double cost, Plan* plan) {
  plan->pcost = Rational(cost) * (1 + Rational(Integer(1), Integer(1) << 36));
  plan->budget.pcost = plan->pcost;
}

// A negative variance paid for the noise of other sets, and a total without noise cost nothing
// where rows are replaced.
TEST(PlanCost, EveryVarianceMustBePositive) {
  for (const Protection& protection : {Protection{}, Person(), ReplaceOne()}) {
    const Plan plan = PlanFor("2,3,4", "<=2", protection);
    ASSERT_EQ(Refusal(plan), std::nullopt);
    for (size_t k = 0; k < plan.variances.size(); ++k) {
      Plan forged = plan;
      forged.variances[k] = 0;
      EXPECT_EQ(Refusal(forged), ErrorKind::kRefused) << k;
      forged.variances[k] = -5 * plan.variances[k];
      if (protection.neighbours == kReplaceOne) {
        const double cost = MostExpensivePair(forged);
        EXPECT_LE(cost, MostExpensivePair(plan) * (1 + 1e-12));
        StateCost(cost, &forged);
      }
      EXPECT_EQ(Refusal(forged), ErrorKind::kRefused) << k;
      EXPECT_THROW(PlanPcost(MechanismsOf(forged), forged.variances), Error) << k;
    }
  }
}

// As doubles these variances are 0 or infinite, or what they cost is: noise of variance 1e400 was
// taken to cost nothing.
TEST(PlanCost, VariancesThatDoublesDoNotHoldAreNotPriced) {
  for (const char* text : {"1e400", "1e305", "1e-305", "1e-400", "1e5000", "1e-5000"}) {
    Plan forged = PlanFor("2,3,4", "<=2", ReplaceOne());
    for (Rational& variance : forged.variances) variance = ParseRational(text, "variance");
    StateCost(0, &forged);
    EXPECT_EQ(Refusal(forged), ErrorKind::kTooLarge) << text;
    EXPECT_THROW(PlanPcost(MechanismsOf(forged), forged.variances), Error) << text;
  }
}

// A plan that a program put together: everything that its cost depends on is computed again.
TEST(PlanCost, WhatAPlanSaysOfItselfIsNotTrusted) {
  const Plan plan = PlanFor("2,2,3", "<=2", ReplaceOne());
  const auto refusal_of = [&](const std::function<void(Plan*)>& forge) {
    Plan forged = plan;
    forge(&forged);
    forged.pcost = PlanPcost(MechanismsOf(forged), forged.variances);
    forged.budget.pcost = forged.pcost;
    return Refusal(forged);
  };
  EXPECT_EQ(refusal_of([](Plan*) {}), std::nullopt);
  // Two cells far from opposite: a pair then seems to cost half.
  EXPECT_EQ(refusal_of([](Plan* forged) { forged->bases[0].size = 1000000; }), ErrorKind::kRefused);
  EXPECT_EQ(refusal_of([](Plan* forged) { forged->bases[0].squared_sensitivity = 1; }),
            ErrorKind::kRefused);
  EXPECT_EQ(refusal_of([](Plan* forged) { forged->bases[0].variance_factor = 16; }),
            ErrorKind::kRefused);
  // The same sets twice, of which one was priced.
  EXPECT_EQ(refusal_of([](Plan* forged) {
              forged->mechanisms.Insert(std::vector<int>{1, 0});
              forged->variances.emplace_back(1000000);
            }),
            ErrorKind::kRefused);
  EXPECT_EQ(refusal_of([](Plan* forged) { forged->budget.delta = 0; }), ErrorKind::kBadInput);
}

TEST(PlanCost, OfADesiredLossIsTheLeast) {
  SelectRequest request{ParseDomain("3,4,2"),
                        {ParseMarginalRules("<=2"), {}},
                        ParseObjective("max-variance"),
                        LossTarget{50.0, 1e-9},
                        ReplaceOne()};
  const Plan plan = Select(request);
  EXPECT_LE(plan.loss, 50);
  EXPECT_GT(plan.loss, 49.9);
  EXPECT_NO_THROW(VerifyPlan(plan));
}

TEST(Protection, ContradictionsAreNamed) {
  const auto message = [](Protection protection, OutsidePolicy outside) {
    Attribute attribute;
    attribute.name = "age";
    attribute.size = 3;
    attribute.encoding.outside = outside;
    try {
      CheckProtection(protection, Domain({attribute}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Protection protection;
  EXPECT_EQ(message(protection, OutsidePolicy::kDrop), "");
  protection.max_rows = 2;
  EXPECT_NE(message(protection, OutsidePolicy::kError).find("without an identifier"),
            std::string::npos);
  protection.identifier = "person";
  EXPECT_EQ(message(protection, OutsidePolicy::kError), "");
  for (const int64_t rows : {int64_t{0}, int64_t{-1}, kMaxRowsOfIdentifier + 1}) {
    protection.max_rows = rows;
    EXPECT_NE(message(protection, OutsidePolicy::kError).find("max_rows is"), std::string::npos);
  }
  protection.max_rows = 1;
  protection.neighbours = kReplaceOne;
  EXPECT_NE(message(protection, OutsidePolicy::kError).find("is not offered"), std::string::npos);
  EXPECT_NE(message(ReplaceOne(), OutsidePolicy::kDrop).find("drops rows"), std::string::npos);
}

}  // namespace
}  // namespace residua
