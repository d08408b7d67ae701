#include "fuzz/only_errors.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

// SIZE[:QUERIES][*COUNT] of each attribute, which ParseDomain reads as the same domain.
std::string TextOf(const Domain& domain) {
  std::string text;
  for (const Attribute& attribute : domain.attributes()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", attribute.size,
                        ToString(attribute.queries));
  }
  return text;
}

void CheckDomain(std::string_view text, std::string_view set_text) {
  const Domain domain = ParseDomain(text);
  if (domain.size() < 1000) RESIDUA_CHECK(ParseDomain(TextOf(domain)) == domain);
  const AttributeSet set = ParseAttributeSet(set_text, domain);
  std::string names;
  for (const int i : set) names += fmt::format("{}{}", names.empty() ? "" : ",", i);
  RESIDUA_CHECK(ParseAttributeSet(names, domain) == set);
}

void CheckRules(std::string_view text) {
  std::string again;
  const std::vector<MarginalRule> rules = ParseMarginalRules(text);
  for (const MarginalRule& rule : rules) again += (again.empty() ? "" : ",") + ToString(rule);
  RESIDUA_CHECK(ParseMarginalRules(again) == rules);
}

void CheckObjective(std::string_view text) {
  const Objective objective = ParseObjective(text);
  RESIDUA_CHECK(ParseObjective(ToString(objective)) == objective);
}

}  // namespace
}  // namespace residua

// Lines: --domain, --marginal, --marginals, --objective, --weights, --basis.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using residua::ExpectOnlyErrors;
  std::string_view rest = residua::TextOfInput(data, size);
  std::string_view lines[6];
  for (std::string_view& line : lines) {
    line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  ExpectOnlyErrors([&] { residua::CheckDomain(lines[0], lines[1]); });
  ExpectOnlyErrors([&] { residua::CheckRules(lines[2]); });
  ExpectOnlyErrors([&] { residua::CheckObjective(lines[3]); });
  ExpectOnlyErrors([&] { residua::ParseWeighting(lines[4]); });
  ExpectOnlyErrors([&] { residua::ParseBasisKind(lines[5]); });
  return 0;
}
