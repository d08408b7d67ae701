#pragma once

#include <string_view>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/reconstruct/answer_kind.h"
#include "residua/select/objective.h"

namespace residua {

// The small languages of the command line and the spec.

// "100,50,7*3": a comma list of SIZE[:QUERIES][*COUNT]. Attributes are named by their index.
Domain ParseDomain(std::string_view text);

// "2", "<=3", "cells<=5000", or a comma list of them.
std::vector<MarginalRule> ParseMarginalRules(std::string_view text);
std::string ToString(const MarginalRule& rule);

// "age,sex": names of the domain, or indices where a name does not fit; "" or "total" is the empty
// set.
AttributeSet ParseAttributeSet(std::string_view text, const Domain& domain);

// The attribute of that name; the message of the error suggests the closest one.
int FindAttribute(const Domain& domain, std::string_view name);

QueryKind ParseQueryKind(std::string_view text);
std::string_view ToString(QueryKind queries);

// "oblique" or "orthogonal".
BasisKind ParseBasisKind(std::string_view text);

// "sum-variance", "max-variance" or "p-norm=P".
Objective ParseObjective(std::string_view text);
std::string ToString(const Objective& objective);

Weighting ParseWeighting(std::string_view text);
std::string_view ToString(Weighting weighting);

// "planned", "prefixes" or "cells".
AnswerKind ParseAnswerKind(std::string_view text);

// What the objective weighs by when nobody says: every cell alike.
Weighting DefaultWeighting(Objective::Kind kind);

}  // namespace residua
