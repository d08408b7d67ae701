#include "residua/text/budget_text.h"

#include <cmath>
#include <vector>

#include "residua/base/error.h"

namespace residua {
namespace {

double ParsePositive(const std::string& text, std::string_view name) {
  const Rational value = ParseRational(text, name);
  const double result = ToDoubleDown(value);
  if (value <= 0 || !(result > 0)) {
    Fail(ErrorKind::kBadInput, "{} is {}; it must be positive", name, text);
  }
  return result;
}

}  // namespace

std::optional<ParsedPrivacy> ParsePrivacy(const PrivacyText& text,
                                          std::optional<double> known_delta) {
  std::vector<std::string_view> given;
  if (text.pcost) given.emplace_back("pcost");
  if (text.rho) given.emplace_back("rho");
  if (text.mu) given.emplace_back("mu");
  if (text.epsilon) given.emplace_back("epsilon");
  if (text.max_std_dev) given.emplace_back("max_std_dev");
  if (text.target_loss) given.emplace_back("target_loss");
  if (given.size() > 1) {
    Fail(ErrorKind::kBadInput, "both {} and {} are given; keep one", given[0], given[1]);
  }
  double delta = known_delta.value_or(kDefaultDelta);
  if (text.delta) {
    delta = ToDoubleDown(ParseRational(*text.delta, "delta"));
    CheckDelta(delta);
  }
  if (given.empty()) return std::nullopt;
  if (text.pcost) return ParsedPrivacy{BudgetFromPcost(ParseRational(*text.pcost, "pcost"), delta)};
  if (text.rho) return ParsedPrivacy{BudgetFromRho(ParseRational(*text.rho, "rho"), delta)};
  if (text.mu) return ParsedPrivacy{BudgetFromMu(ParseRational(*text.mu, "mu"), delta)};
  if (text.epsilon) {
    if (!text.delta && !known_delta) {
      Fail(ErrorKind::kBadInput, "epsilon is given without delta; add one, such as delta 1e-9");
    }
    return ParsedPrivacy{BudgetFromEpsilon(ParseRational(*text.epsilon, "epsilon"), delta)};
  }
  if (text.target_loss) {
    return ParsedPrivacy{LossTarget{ParsePositive(*text.target_loss, "target_loss"), delta}};
  }
  const double max_std_dev = ParsePositive(*text.max_std_dev, "max_std_dev");
  return ParsedPrivacy{LossTarget{max_std_dev * max_std_dev, delta}, true};
}

}  // namespace residua
