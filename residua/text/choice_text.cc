#include "residua/text/choice_text.h"

#include <cmath>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/rational.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

constexpr EnumTexts<QueryKind, 5> kQueryKinds = {{{QueryKind::kIdentity, "identity"},
                                                  {QueryKind::kPrefix, "prefix"},
                                                  {QueryKind::kRange, "range"},
                                                  {QueryKind::kHierarchy, "hierarchy"},
                                                  {QueryKind::kCustom, "custom"}}};
constexpr EnumTexts<BasisKind, 2> kBasisKinds = {
    {{BasisKind::kOblique, "oblique"}, {BasisKind::kOrthogonal, "orthogonal"}}};
constexpr EnumTexts<Weighting, 3> kWeightings = {{{Weighting::kCells, "cells"},
                                                  {Weighting::kSqrtCells, "sqrt-cells"},
                                                  {Weighting::kEqual, "equal"}}};
constexpr EnumTexts<AnswerKind, 3> kAnswerKinds = {{{AnswerKind::kPlanned, "planned"},
                                                    {AnswerKind::kPrefixes, "prefixes"},
                                                    {AnswerKind::kCells, "cells"}}};
constexpr EnumTexts<Coverage, 2> kCoverages = {
    {{Coverage::kTable, "table"}, {Coverage::kRelease, "release"}}};

}  // namespace

QueryKind ParseQueryKind(std::string_view text) {
  if (const auto kind = ValueOf(kQueryKinds, text)) return *kind;
  std::string choices;
  for (const auto& [kind, name] : kQueryKinds) choices += fmt::format("{}, ", name);
  choices.resize(choices.size() - 2);
  Fail(ErrorKind::kBadInput, "queries '{}' are not known; choose {} or {}", text, choices,
       kMeanQueries);
}

void AskForMean(Encoding* encoding) {
  if (const auto* integers = std::get_if<IntegerEncoding>(&encoding->cells)) {
    encoding->cells =
        MeanEncoding{.low = integers->first, .high = integers->last, .is_integers = true};
  }
  if (!std::holds_alternative<MeanEncoding>(encoding->cells)) {
    Fail(ErrorKind::kBadInput,
         "\"{}\" only makes sense with integers = [LOW, HIGH] or numbers = [LOW, HIGH]",
         kMeanQueries);
  }
}

std::string_view QueriesText(const Attribute& attribute) {
  return MeanOf(attribute) != nullptr ? kMeanQueries : ToString(attribute.queries);
}

std::string_view ToString(QueryKind queries) { return TextOf(kQueryKinds, queries); }

BasisKind ParseBasisKind(std::string_view text) {
  if (const auto kind = ValueOf(kBasisKinds, text)) return *kind;
  Fail(ErrorKind::kBadInput, "basis '{}' is not known; choose {}", text, Choices(kBasisKinds));
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
  if (const auto weighting = ValueOf(kWeightings, text)) return *weighting;
  Fail(ErrorKind::kBadInput, "weights '{}' are not known; choose {}", text, Choices(kWeightings));
}

std::string_view ToString(Weighting weighting) { return TextOf(kWeightings, weighting); }

std::vector<double> ParseLevelWeights(std::string_view text, const Attribute& attribute) {
  if (text == "answers") return {};
  if (text == "equal") return std::vector<double>(AnswersOfLevels(attribute).size(), 1.0);
  Fail(ErrorKind::kBadInput,
       "'{}' is not known; choose equal or answers, or list one weight for each level", text);
}

AnswerKind ParseAnswerKind(std::string_view text) {
  if (const auto kind = ValueOf(kAnswerKinds, text)) return *kind;
  Fail(ErrorKind::kBadInput, "answers '{}' is not known; choose {}", text, Choices(kAnswerKinds));
}

Coverage ParseCoverage(std::string_view text) {
  if (const auto coverage = ValueOf(kCoverages, text)) return *coverage;
  Fail(ErrorKind::kBadInput, "simultaneous intervals of '{}' are not known; choose {}", text,
       Choices(kCoverages));
}

}  // namespace residua
