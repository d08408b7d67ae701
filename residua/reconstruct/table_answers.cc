#include "residua/reconstruct/table_answers.h"

#include <algorithm>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/structured_inverse.h"
#include "residua/reconstruct/mean_estimate.h"

namespace residua {
namespace {

// Relative error of [z | P] [1^T; matrix] on what it determines: rounding stays far below.
constexpr double kReproduced = 1e-6;

}  // namespace

void CheckDetermined(const Attribute& attribute, const ResidualBasis& basis,
                     const Eigen::VectorXd& query) {
  if (basis.tells_cells_apart()) return;
  const auto& matrix = std::get<IntegerMatrix>(basis.matrix);
  const Eigen::VectorXd weights = basis.inverse->RowWeights(query);
  Eigen::VectorXd again =
      Eigen::VectorXd::Constant(query.size(), query.dot(basis.inverse->constant));
  for (int64_t row = 0; row < matrix.num_rows; ++row) {
    for (int64_t k = 0; k < matrix.num_columns; ++k) {
      again(k) +=
          weights(row) *
          static_cast<double>(matrix.entries[static_cast<size_t>(row * matrix.num_columns + k)]);
    }
  }
  // Not-a-number fails this comparison too.
  if (!((again - query).cwiseAbs().maxCoeff() <= kReproduced * query.cwiseAbs().maxCoeff())) {
    Fail(ErrorKind::kBadInput,
         "the custom queries of '{}' do not determine this answer; ask for combinations of them",
         attribute.name);
  }
}

AxisAnswers MakeAxisAnswers(const Attribute& attribute, const ResidualBasis& basis) {
  AxisAnswers axis{QueryMatrix(attribute), {}, {}};
  axis.labels.reserve(static_cast<size_t>(axis.size()));
  for (int64_t k = 0; k < axis.size(); ++k) axis.labels.push_back(AnswerLabel(attribute, k));
  if (basis.is_identity()) {
    RESIDUA_CHECK(attribute.queries == QueryKind::kIdentity);
    axis.variances = {basis.mean};
    return axis;
  }
  if (!basis.tells_cells_apart()) {
    for (int64_t k = 0; k < axis.size(); ++k) {
      CheckDetermined(attribute, basis, axis.queries.Row(k));
    }
  }
  if (basis.inverse->structured != nullptr) {
    axis.variances = basis.inverse->structured->Variances(axis.queries);
    return axis;
  }
  const Eigen::VectorXd residual =
      axis.queries.QuadraticForms(basis.inverse->residual * basis.inverse->residual.transpose());
  const Eigen::VectorXd constant = axis.queries.Apply(basis.inverse->constant).cwiseAbs2();
  for (Eigen::Index k = 0; k < residual.size(); ++k) {
    axis.variances.push_back({std::max(0.0, residual(k)), constant(k)});
  }
  return axis;
}

std::vector<AxisAnswers> AxesOf(const Plan& plan, AnswerKind answers) {
  std::vector<AxisAnswers> axes;
  const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
  for (int i = 0; i < plan.domain.size(); ++i) {
    Attribute attribute = plan.domain[i];
    if (answers == AnswerKind::kPrefixes && attribute.queries == QueryKind::kRange) {
      attribute.queries = QueryKind::kPrefix;
    }
    if (answers == AnswerKind::kCells) attribute.queries = QueryKind::kIdentity;
    const ResidualBasis& basis = bases[static_cast<size_t>(i)];
    axes.push_back(MeanOf(attribute) != nullptr ? MeanAxis(attribute, basis)
                                                : MakeAxisAnswers(attribute, basis));
  }
  return axes;
}

std::vector<double> AnswerTable(std::span<const double> counts,
                                std::span<const AxisAnswers* const> axes) {
  std::vector<double> answers(counts.begin(), counts.end());
  int64_t outer = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t inner = 1;
    for (size_t later = k + 1; later < axes.size(); ++later) {
      inner = CheckedMultiply(inner, axes[later]->queries.num_cells());
    }
    // One entry stands for identity attributes, whose query matrix is the identity.
    if (axes[k]->variances.size() > 1) {
      answers = axes[k]->queries.ApplyAlongAxis(answers, outer, inner);
    }
    outer = CheckedMultiply(outer, axes[k]->size());
  }
  return answers;
}

namespace {

// By axes, the last first: what remains after axis k is fixed is a vector over the subsets of the
// axes before it, so an answer costs two multiplications in the innermost loop.
std::vector<double> AnswerTerms(const ResidualIndex& index, const AttributeSet& table,
                                std::span<const AxisAnswers* const> axes,
                                double ResidualIndex::Entry::*term) {
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(table, &entries);
  // terms[mask * count + answer]: bit k of mask stands for table[k], `answer` runs over the axes
  // done.
  std::vector<double> terms;
  for (const ResidualIndex::Entry* entry : entries) terms.push_back(entry->*term);
  const bool all_alike = std::all_of(axes.begin(), axes.end(), [](const AxisAnswers* axis) {
    return axis->variances.size() == 1;
  });
  int64_t count = 1;
  for (size_t k = table.size(); k-- > 0;) {
    const auto& variances = axes[k]->variances;
    const int64_t size = all_alike ? 1 : axes[k]->size();
    const auto num_masks = static_cast<int64_t>(uint64_t{1} << k);
    const int64_t next_count = CheckedMultiply(size, count);
    std::vector<double> next(static_cast<size_t>(CheckedMultiply(num_masks, next_count)));
    for (int64_t mask = 0; mask < num_masks; ++mask) {
      const double* without = terms.data() + mask * count;
      const double* with = terms.data() + (mask + num_masks) * count;
      double* out = next.data() + mask * next_count;
      for (int64_t q = 0; q < size; ++q) {
        const QueryVariance& query = variances[variances.size() == 1 ? 0 : static_cast<size_t>(q)];
        for (int64_t c = 0; c < count; ++c) {
          *out++ = query.constant * without[c] + query.residual * with[c];
        }
      }
    }
    terms = std::move(next);
    count = next_count;
  }
  return terms;
}

}  // namespace

std::vector<double> AnswerVariances(const ResidualIndex& index, const AttributeSet& table,
                                    std::span<const AxisAnswers* const> axes) {
  return AnswerTerms(index, table, axes, &ResidualIndex::Entry::variance);
}

double TableHalfStep(const ResidualIndex& index, const AttributeSet& table,
                     std::span<const AxisAnswers* const> axes, std::span<const double> variances) {
  if (!index.has_coarse_noise()) return 0;
  const std::vector<double> squared_steps =
      AnswerTerms(index, table, axes, &ResidualIndex::Entry::squared_step);
  double largest = 0;
  for (size_t k = 0; k < squared_steps.size(); ++k) {
    largest = std::max(largest, HalfStep(squared_steps[k], variances[k]));
  }
  return largest;
}

std::vector<double> CellVariances(const ResidualIndex& index, const AttributeSet& table) {
  const auto num_cells = static_cast<size_t>(index.NumCells(table));
  std::vector<AxisAnswers> axes;
  for (const int i : table) {
    Attribute attribute = index.domain()[i];
    attribute.queries = QueryKind::kIdentity;
    axes.push_back(MakeAxisAnswers(attribute, index.basis(i)));
  }
  std::vector<const AxisAnswers*> views;
  for (const AxisAnswers& axis : axes) views.push_back(&axis);
  std::vector<double> variances = AnswerVariances(index, table, views);
  if (variances.size() == 1) variances.assign(num_cells, variances.front());
  return variances;
}

}  // namespace residua
