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
// std::nullopt when no unit is given. A bound on the standard deviation makes the objective the
// maximum variance.
std::optional<std::variant<Budget, LossTarget>> ParsePrivacy(const PrivacyText& text,
                                                             Objective* objective);

}  // namespace residua
