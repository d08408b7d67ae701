#include "residua/text/exploring_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/text/number_text.h"

namespace residua {
namespace {

// More attributes than any table has; the bound keeps a slip such as 10*1000000000 from eating
// memory.
constexpr int64_t kMaxAttributes = 100'000;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(Trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Splits "left SEPARATOR right"; right is empty when there is no separator.
std::pair<std::string_view, std::optional<std::string_view>> Cut(std::string_view text,
                                                                 char separator) {
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {Trim(text.substr(0, at)), Trim(text.substr(at + 1))};
}

// Of a name, when looking for the one that was meant: comparing takes time by the square of it.
constexpr size_t kMaxCompared = 64;

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

QueryKind ParseQueryKind(std::string_view text) {
  for (const QueryKind kind : {QueryKind::kIdentity, QueryKind::kPrefix, QueryKind::kRange,
                               QueryKind::kHierarchy, QueryKind::kCustom}) {
    if (text == ToString(kind)) return kind;
  }
  Fail(ErrorKind::kBadInput,
       "queries '{}' are not known; choose identity, prefix, range, hierarchy or custom", text);
}

std::string_view ToString(QueryKind queries) {
  switch (queries) {
    case QueryKind::kIdentity:
      return "identity";
    case QueryKind::kPrefix:
      return "prefix";
    case QueryKind::kRange:
      return "range";
    case QueryKind::kHierarchy:
      return "hierarchy";
    case QueryKind::kCustom:
      return "custom";
  }
  RESIDUA_CHECK(false);
}

Domain ParseDomain(std::string_view text) {
  if (Trim(text).empty()) {
    Fail(ErrorKind::kBadInput, "--domain is empty; give sizes such as 100,50,7*3");
  }
  std::vector<Attribute> attributes;
  for (const std::string_view item : Split(text, ',')) {
    const auto [head, count_text] = Cut(item, '*');
    const auto [size_text, queries_text] = Cut(head, ':');
    const std::optional<int64_t> size = ParseInteger(size_text);
    const std::optional<int64_t> count = count_text ? ParseInteger(*count_text) : 1;
    if (!size || !count || *count < 1) {
      Fail(ErrorKind::kBadInput,
           "--domain: '{}' is not SIZE[:QUERIES][*COUNT]; write it like 100, 7*3 or 100:identity*2",
           item);
    }
    if (*count > kMaxAttributes - static_cast<int64_t>(attributes.size())) {
      Fail(ErrorKind::kTooLarge, "--domain: '{}' makes more than {} attributes", item,
           kMaxAttributes);
    }
    for (int64_t k = 0; k < *count; ++k) {
      Attribute attribute;
      attribute.name = std::to_string(attributes.size());
      attribute.size = *size;
      attribute.queries = queries_text ? ParseQueryKind(*queries_text) : QueryKind::kIdentity;
      if (attribute.queries == QueryKind::kHierarchy || attribute.queries == QueryKind::kCustom) {
        Fail(ErrorKind::kBadInput,
             "--domain: '{}' needs its groups or its matrix; describe the attribute in a spec file",
             item);
      }
      attributes.push_back(std::move(attribute));
    }
  }
  return Domain(std::move(attributes));
}

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
           "marginals: '{}' is not understood; write 2 (all 2-way), <=3 (up to 3-way) or "
           "cells<=5000",
           item);
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

int FindAttribute(const Domain& domain, std::string_view name) {
  if (const auto index = domain.Find(name)) return *index;
  if (domain[0].name == "0") {
    Fail(ErrorKind::kBadInput, "there is no attribute '{}'; attributes are numbered 0 to {}",
         ShownText(name), domain.size() - 1);
  }
  int closest = 0;
  int least = INT32_MAX;
  for (int i = 0; i < domain.size(); ++i) {
    const int distance = EditDistance(name.substr(0, kMaxCompared),
                                      std::string_view(domain[i].name).substr(0, kMaxCompared));
    if (distance < least) {
      least = distance;
      closest = i;
    }
  }
  Fail(ErrorKind::kBadInput, "there is no attribute '{}'; did you mean '{}'?", ShownText(name),
       ShownText(domain[closest].name));
}

AttributeSet ParseAttributeSet(std::string_view text, const Domain& domain) {
  std::vector<int> indices;
  if (Trim(text).empty() || (text == "total" && !domain.Find("total"))) return indices;
  for (const std::string_view item : Split(text, ',')) {
    if (const auto index = domain.Find(item)) {
      indices.push_back(*index);
    } else if (const auto number = ParseInteger(item);
               number && *number >= 0 && *number < domain.size()) {
      indices.push_back(static_cast<int>(*number));
    } else {
      indices.push_back(FindAttribute(domain, item));
    }
  }
  return domain.MakeSet(std::move(indices));
}

BasisKind ParseBasisKind(std::string_view text) {
  if (text == "oblique") return BasisKind::kOblique;
  if (text == "orthogonal") return BasisKind::kOrthogonal;
  Fail(ErrorKind::kBadInput, "basis '{}' is not known; choose oblique or orthogonal", text);
}

Objective ParseObjective(std::string_view text) {
  Objective objective;
  if (text == "sum-variance") {
    objective.kind = Objective::Kind::kSumVariance;
  } else if (text == "max-variance") {
    objective.kind = Objective::Kind::kMaxVariance;
  } else if (text.starts_with("p-norm=")) {
    objective.kind = Objective::Kind::kPNorm;
    objective.p = NearestDouble(ParseRational(text.substr(7), "objective p-norm"));
    if (!(objective.p >= 1) || !std::isfinite(objective.p)) {
      Fail(ErrorKind::kBadInput, "objective '{}': p must be at least 1", text);
    }
  } else {
    Fail(ErrorKind::kBadInput,
         "objective '{}' is not known; choose sum-variance, max-variance or p-norm=P", text);
  }
  objective.weighting = DefaultWeighting(objective.kind);
  return objective;
}

std::string ToString(const Objective& objective) {
  switch (objective.kind) {
    case Objective::Kind::kSumVariance:
      return "sum-variance";
    case Objective::Kind::kMaxVariance:
      return "max-variance";
    case Objective::Kind::kPNorm:
      return fmt::format("p-norm={}", objective.p);
  }
  RESIDUA_CHECK(false);
}

Weighting ParseWeighting(std::string_view text) {
  for (const Weighting weighting : {Weighting::kCells, Weighting::kSqrtCells, Weighting::kEqual}) {
    if (text == ToString(weighting)) return weighting;
  }
  Fail(ErrorKind::kBadInput, "weights '{}' are not known; choose cells, sqrt-cells or equal", text);
}

std::string_view ToString(Weighting weighting) {
  switch (weighting) {
    case Weighting::kCells:
      return "cells";
    case Weighting::kSqrtCells:
      return "sqrt-cells";
    case Weighting::kEqual:
      return "equal";
  }
  RESIDUA_CHECK(false);
}

AnswerKind ParseAnswerKind(std::string_view text) {
  if (text == "planned") return AnswerKind::kPlanned;
  if (text == "prefixes") return AnswerKind::kPrefixes;
  if (text == "cells") return AnswerKind::kCells;
  Fail(ErrorKind::kBadInput, "answers '{}' is not known; choose planned, prefixes or cells", text);
}

Weighting DefaultWeighting(Objective::Kind kind) {
  return kind == Objective::Kind::kMaxVariance ? Weighting::kEqual : Weighting::kCells;
}

}  // namespace residua
