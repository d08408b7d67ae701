#pragma once

#include <span>
#include <string>
#include <vector>

#include "residua/basis/query_matrix.h"
#include "residua/reconstruct/answer_kind.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

// The answers along one axis of a table: the rows of a query matrix W, what they are called, and
// what each contributes to a variance. A single entry of `variances` stands for all answers where
// they are alike, as the cells of an identity attribute are.
struct AxisAnswers {
  QueryMatrix queries;
  std::vector<std::string> labels;
  std::vector<QueryVariance> variances;

  int64_t size() const { return queries.num_answers(); }
};

// The attribute's own queries, measured through `basis`. The attribute may differ from the one that
// the basis was chosen for in its queries alone, e.g. ask for cells where prefixes were planned;
// Error{kBadInput} if the basis does not determine their answers.
AxisAnswers MakeAxisAnswers(const Attribute& attribute, const ResidualBasis& basis);

// One for each attribute of the plan; the MeanAxis of those whose mean is asked.
std::vector<AxisAnswers> AxesOf(const Plan& plan, AnswerKind answers);

// The answers (kron of W) counts of a table, row-major, from its counts: one sweep per axis.
std::vector<double> AnswerTable(std::span<const double> counts,
                                std::span<const AxisAnswers* const> axes);

// The variance of each of these answers:
//   sum over A' subset A of variance_{A'} prod_{i in A'} residual_i prod_{j in A\A'} constant_j.
// A single number if all answers of every axis are alike.
std::vector<double> AnswerVariances(const ResidualIndex& index, const AttributeSet& table,
                                    std::span<const AxisAnswers* const> axes);

// The largest half step of the answers, as in Estimate: 0 unless the noise is coarse.
double TableHalfStep(const ResidualIndex& index, const AttributeSet& table,
                     std::span<const AxisAnswers* const> axes, std::span<const double> variances);

// The variance of every cell of the table, in the order of its counts.
std::vector<double> CellVariances(const ResidualIndex& index, const AttributeSet& table);

// Error{kBadInput} unless the basis determines the answer to `query`, a vector over the attribute's
// cells: a custom query matrix may not tell all cells apart.
void CheckDetermined(const Attribute& attribute, const ResidualBasis& basis,
                     const Eigen::VectorXd& query);

}  // namespace residua
