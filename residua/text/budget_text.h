#pragma once

#include <optional>
#include <string>
#include <variant>

#include "residua/select/select.h"

namespace residua {

// A budget or target from at most one of its units, as the flags and the spec's [privacy] give it.
struct PrivacyText {
  std::optional<std::string> pcost, rho, mu, epsilon, delta, max_std_dev, target_loss;
};
struct ParsedPrivacy {
  std::variant<Budget, LossTarget> target;
  // The target bounds the standard deviation of every answer, so it is for the largest variance.
  bool bounds_every_answer = false;
};
// std::nullopt when no unit is given. `known_delta` is used with epsilon where the text has no
// delta.
std::optional<ParsedPrivacy> ParsePrivacy(const PrivacyText& text,
                                          std::optional<double> known_delta = {});
// The objective that such a bound is for.
inline constexpr Objective kEveryAnswer{Objective::Kind::kMaxVariance, Weighting::kEqual};

}  // namespace residua
