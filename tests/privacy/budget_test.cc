#include "residua/privacy/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "residua/base/error.h"
#include "tests/oracle/zcdp_bound.h"

namespace residua {
namespace {

Rational Number(const char* text) { return ParseRational(text, "number"); }

ErrorKind KindOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kBroken;
}

// Beyond a double, a cost became an infinity, and its square root an exception of the processor.
TEST(BudgetTest, CostsBeyondAnyNoiseAreBadInput) {
  for (const char* text : {"1e5000", "1e101", "1e-101", "1e-5000", "0", "-1"}) {
    const Rational value = Number(text);
    EXPECT_EQ(KindOf([&] { BudgetFromPcost(value); }), ErrorKind::kBadInput) << text;
    EXPECT_EQ(KindOf([&] { BudgetFromRho(value); }), ErrorKind::kBadInput) << text;
    EXPECT_EQ(KindOf([&] { BudgetFromMu(value); }), ErrorKind::kBadInput) << text;
    EXPECT_EQ(KindOf([&] { BudgetFromEpsilon(value, 1e-9); }), ErrorKind::kBadInput) << text;
  }
  for (const char* text : {"1e100", "1e-100"}) {
    const Rational pcost = BudgetFromPcost(Number(text)).pcost;
    const Guarantee guarantee = GuaranteeOf({pcost, pcost, 1}, 1e-9);
    EXPECT_TRUE(std::isfinite(*guarantee.mu) && *guarantee.mu > 0) << text;
    EXPECT_TRUE(std::isfinite(guarantee.epsilon)) << text;
  }
}

// Epsilon must hold at the decimal that is printed, not only at the nearest double.
TEST(BudgetTest, EpsilonHoldsAtTheDeltaThatIsPrinted) {
  for (const char* text : {"1e-9", "1e-5", "1e-3", "0.1", "0.7", "3e-7", "1e-100"}) {
    const double delta = std::strtod(text, nullptr);
    EXPECT_EQ(Number(DeltaText(delta).c_str()), Number(text));
    // At a double not above the decimal.
    const double below = ToDoubleDown(Number(text));
    for (const char* pcost : {"1e-6", "0.001", "0.3", "1", "50", "1e6"}) {
      EXPECT_GE(Rational(GuaranteeOf({Number(pcost)}, delta).epsilon),
                oracle::EpsilonFromZcdp(ToDoubleDown(Number(pcost) / 2), below))
          << text << " " << pcost;
    }
  }
  EXPECT_EQ(DeltaText(0.1234567), "0.123457");
}

TEST(BudgetTest, NoGuaranteeIsStatedForImpossibleCosts) {
  EXPECT_EQ(KindOf([] { GuaranteeOf({-1}, 1e-9); }), ErrorKind::kRefused);
  EXPECT_EQ(KindOf([] { GuaranteeOf({Number("1e5000")}, 1e-9); }), ErrorKind::kRefused);
  EXPECT_EQ(GuaranteeOf({0}, 1e-9).rho, 0);
}

}  // namespace
}  // namespace residua
