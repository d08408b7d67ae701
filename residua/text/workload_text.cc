#include "residua/text/workload_text.h"

#include <optional>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/text/pieces.h"

namespace residua {

std::vector<MarginalRule> ParseMarginalRules(std::string_view text) {
  std::vector<MarginalRule> rules;
  for (const std::string_view item : Split(text, ',')) {
    MarginalRule rule{MarginalRule::Kind::kExactly, 0};
    std::string_view bound_text = item;
    if (item.starts_with("<=")) {
      rule.kind = MarginalRule::Kind::kUpTo;
      bound_text = Trim(item.substr(2));
    } else if (item.starts_with("cells<=")) {
      rule.kind = MarginalRule::Kind::kMaxCells;
      bound_text = Trim(item.substr(7));
    }
    const std::optional<int64_t> bound = ParseInteger(bound_text);
    if (!bound) {
      Fail(ErrorKind::kBadInput,
           "{}: '{}' is not understood; write 2 (all 2-way), <=3 (up to 3-way) or cells<=5000",
           "marginals", item);
    }
    rule.bound = *bound;
    rules.push_back(rule);
  }
  return rules;
}

std::string ToString(const MarginalRule& rule) {
  switch (rule.kind) {
    case MarginalRule::Kind::kExactly:
      return fmt::format("{}", rule.bound);
    case MarginalRule::Kind::kUpTo:
      return fmt::format("<={}", rule.bound);
    case MarginalRule::Kind::kMaxCells:
      return fmt::format("cells<={}", rule.bound);
  }
  RESIDUA_CHECK(false);
}

}  // namespace residua
