#include <cmath>

#include "fuzz/only_errors.h"
#include "residua/base/number_text.h"
#include "residua/files/spec.h"

namespace residua {
namespace {

void CheckRational(std::string_view text) {
  const Rational value = ParseRational(text, "number");
  RESIDUA_CHECK(ParseRational(ToString(value), "number") == value);
  const double above = ToDoubleUp(value);
  const double below = ToDoubleDown(value);
  RESIDUA_CHECK(std::isinf(above) || Rational(above) >= value);
  RESIDUA_CHECK(std::isinf(below) || Rational(below) <= value);
  RESIDUA_CHECK(std::isinf(above) || std::isinf(below) || std::nextafter(below, above) == above);
  if (value >= 0 && std::isfinite(above)) {
    RESIDUA_CHECK(ParseRational(TextAbove(value), "number") >= value);
  }
}

void CheckNumber(std::string_view text) {
  const auto whole = ParseInteger(text);
  const auto real = ParseNumber(TrimmedNumber(text));
  if (whole) RESIDUA_CHECK(real && *real == static_cast<double>(*whole));
}

// A budget is positive, and its guarantee states no less than it.
void CheckBudget(const PrivacyText& text) {
  const auto privacy = ParsePrivacy(text);
  if (!privacy || !std::holds_alternative<Budget>(privacy->target)) return;
  const Budget& budget = std::get<Budget>(privacy->target);
  RESIDUA_CHECK(budget.pcost > 0);
  const Guarantee guarantee = GuaranteeOf({budget.pcost, budget.pcost, 1}, budget.delta);
  RESIDUA_CHECK(std::isinf(guarantee.pcost) || Rational(guarantee.pcost) >= budget.pcost);
  RESIDUA_CHECK(guarantee.epsilon >= 0);
}

}  // namespace
}  // namespace residua

// One line, or two: a budget, and the delta at which it is stated.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using residua::ExpectOnlyErrors;
  const std::string_view text = residua::TextOfInput(data, size);
  const size_t end = text.find('\n');
  const std::string first(text.substr(0, end));
  std::optional<std::string> second;
  if (end != text.npos) second = text.substr(end + 1);
  ExpectOnlyErrors([&] { residua::CheckRational(first); });
  residua::CheckNumber(first);
  for (auto unit : {&residua::PrivacyText::pcost, &residua::PrivacyText::rho,
                    &residua::PrivacyText::mu, &residua::PrivacyText::epsilon,
                    &residua::PrivacyText::max_std_dev, &residua::PrivacyText::target_loss}) {
    residua::PrivacyText privacy;
    privacy.*unit = first;
    privacy.delta = second;
    ExpectOnlyErrors([&] { residua::CheckBudget(privacy); });
  }
  return 0;
}
