#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/model/attribute.h"
#include "residua/reconstruct/answer_kind.h"
#include "residua/reconstruct/simultaneous.h"
#include "residua/select/objective.h"

namespace residua {

// Choices that the command line and the spec make by a word.

// "mean" is not among the kinds: AskForMean says it with the encoding.
QueryKind ParseQueryKind(std::string_view text);
std::string_view ToString(QueryKind queries);

// The word for counts, sums and means of numbers.
inline constexpr std::string_view kMeanQueries = "mean";
// Makes integers the numbers of a mean. Error{kBadInput} for what is neither integers nor numbers.
void AskForMean(Encoding* encoding);
// What the attribute's queries are called.
std::string_view QueriesText(const Attribute& attribute);

// "oblique" or "orthogonal".
BasisKind ParseBasisKind(std::string_view text);

// "sum-variance", "max-variance" or "p-norm=P", with equal weights.
Objective ParseObjective(std::string_view text);
std::string ToString(const Objective& objective);

Weighting ParseWeighting(std::string_view text);
std::string_view ToString(Weighting weighting);

// "equal": every level counts alike; "answers": every answer does, so that there are no weights. The
// groups of the attribute must be known.
std::vector<double> ParseLevelWeights(std::string_view text, const Attribute& attribute);

// "planned", "prefixes" or "cells".
AnswerKind ParseAnswerKind(std::string_view text);

// "table" or "release": what intervals hold at once.
Coverage ParseCoverage(std::string_view text);

}  // namespace residua
