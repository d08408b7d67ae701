#include "residua/reconstruct/query_answer.h"

#include <algorithm>
#include <utility>

#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/table_answers.h"

namespace residua {
namespace {

double ConstantPart(const ResidualBasis& basis, const AttributeWeights& factor) {
  if (basis.is_identity()) return SumOfWeights(factor) / static_cast<double>(basis.size);
  const auto* ranges = std::get_if<std::vector<CellRange>>(&factor.weights);
  if (ranges == nullptr) {
    const auto& weights = std::get<std::vector<double>>(factor.weights);
    return Eigen::Map<const Eigen::VectorXd>(weights.data(), basis.size)
        .dot(basis.inverse->constant);
  }
  double sum = 0;
  for (const CellRange& range : *ranges) {
    sum += basis.inverse->constant.segment(range.first, range.last - range.first + 1).sum();
  }
  return sum;
}

// P^T q, for a basis with a matrix.
Eigen::VectorXd ResidualPart(const ResidualIndex& index, const AttributeWeights& factor) {
  const ResidualBasis& basis = index.basis(factor.attribute);
  if (const auto* weights = std::get_if<std::vector<double>>(&factor.weights)) {
    return basis.inverse->residual.transpose() *
           Eigen::Map<const Eigen::VectorXd>(weights->data(), basis.size);
  }
  const Eigen::MatrixXd& cumulative = basis.inverse->cumulative;
  Eigen::VectorXd part = Eigen::VectorXd::Zero(basis.inverse->residual.cols());
  for (const CellRange& range : std::get<std::vector<CellRange>>(factor.weights)) {
    part += (cumulative.row(range.last + 1) - cumulative.row(range.first)).transpose();
  }
  return part;
}

double ResidualCovariance(const ResidualIndex& index, const AttributeWeights& factor_a,
                          const AttributeWeights& factor_b) {
  const ResidualBasis& basis = index.basis(factor_a.attribute);
  if (basis.is_identity()) {
    return Overlap(factor_a, factor_b) -
           SumOfWeights(factor_a) * SumOfWeights(factor_b) / static_cast<double>(basis.size);
  }
  return ResidualPart(index, factor_a).dot(ResidualPart(index, factor_b));
}

// What the query makes of an attribute's measured rows: P^T q, or (q - mean q) / n for H.
std::vector<double> RowWeights(const ResidualIndex& index, const AttributeWeights& factor) {
  const ResidualBasis& basis = index.basis(factor.attribute);
  if (!basis.is_identity()) {
    const Eigen::VectorXd part = ResidualPart(index, factor);
    return std::vector<double>(part.begin(), part.end());
  }
  std::vector<double> weights = DenseWeights(factor, basis.size);
  const auto n = static_cast<double>(basis.size);
  const double mean = SumOfWeights(factor) / n;
  for (double& weight : weights) weight = (weight - mean) / n;
  return weights;
}

// (kron over the axes of `weights`)^T values, in their unit.
double Contract(const ResidualIndex::Entry& entry,
                const std::vector<const std::vector<double>*>& axes) {
  return std::visit(
      [&](const auto& measured) {
        if (axes.empty()) return static_cast<double>(measured.front()) * entry.unit;
        const auto row = static_cast<int64_t>(axes.back()->size());
        const int64_t num_rows = static_cast<int64_t>(measured.size()) / row;
        std::vector<double> cells(static_cast<size_t>(row));
        std::vector<double> contracted(static_cast<size_t>(num_rows));
        for (int64_t r = 0; r < num_rows; ++r) {
          ConvertValues(measured.data() + r * row, row, entry.unit, cells.data());
          contracted[static_cast<size_t>(r)] = DotProduct(cells.data(), axes.back()->data(), row);
        }
        int64_t size = num_rows;
        for (size_t k = axes.size() - 1; k-- > 0;) {
          const auto length = static_cast<int64_t>(axes[k]->size());
          size /= length;
          for (int64_t r = 0; r < size; ++r) {
            contracted[static_cast<size_t>(r)] =
                DotProduct(contracted.data() + r * length, axes[k]->data(), length);
          }
        }
        return contracted.front();
      },
      entry.values);
}

}  // namespace

double FoldVariances(std::span<const double> residual, std::span<const double> constant,
                     std::span<double> variances) {
  size_t half = variances.size();
  for (size_t k = residual.size(); k-- > 0;) {
    half /= 2;
    for (size_t mask = 0; mask < half; ++mask) {
      variances[mask] = variances[mask] * constant[k] + variances[mask + half] * residual[k];
    }
  }
  return variances[0];
}

namespace {

// The covariance of queries whose answers are determined; or the same sum for another `term` of the
// entries.
double CovarianceOfDetermined(
    const ResidualIndex& index, const ProductQuery& query_a, const ProductQuery& query_b,
    double ResidualIndex::Entry::*term = &ResidualIndex::Entry::variance) {
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(query_a.attributes(), &entries);
  if (query_a.attributes() != query_b.attributes()) {
    index.FindSubsets(query_b.attributes(), &entries);
  }
  double outside = 1;  // of what only one of the queries asks
  AttributeSet common;
  std::vector<double> residual;
  std::vector<double> constant;
  size_t a = 0;
  size_t b = 0;
  const auto& factors_a = query_a.factors();
  const auto& factors_b = query_b.factors();
  while (a < factors_a.size() || b < factors_b.size()) {
    const bool is_a = b == factors_b.size() ||
                      (a < factors_a.size() && factors_a[a].attribute <= factors_b[b].attribute);
    const bool is_b = a == factors_a.size() ||
                      (b < factors_b.size() && factors_b[b].attribute <= factors_a[a].attribute);
    const int attribute = is_a ? factors_a[a].attribute : factors_b[b].attribute;
    double product = 1;
    if (is_a) product *= ConstantPart(index.basis(attribute), factors_a[a]);
    if (is_b) product *= ConstantPart(index.basis(attribute), factors_b[b]);
    if (is_a && is_b) {
      common.push_back(attribute);
      constant.push_back(product);
      residual.push_back(ResidualCovariance(index, factors_a[a], factors_b[b]));
    } else {
      outside *= product;
    }
    a += is_a ? 1 : 0;
    b += is_b ? 1 : 0;
  }
  index.FindSubsets(common, &entries);
  std::vector<double> variances;
  variances.reserve(entries.size());
  for (const auto* entry : entries) variances.push_back(entry->*term);
  return outside * FoldVariances(residual, constant, variances);
}

// Nearly all bases determine every answer, which costs one comparison per attribute.
void CheckAllDetermined(const ResidualIndex& index, const ProductQuery& query) {
  for (const AttributeWeights& factor : query.factors()) {
    const ResidualBasis& basis = index.basis(factor.attribute);
    if (basis.tells_cells_apart()) continue;
    const std::vector<double> weights = DenseWeights(factor, basis.size);
    CheckDetermined(index.domain()[factor.attribute], basis,
                    Eigen::Map<const Eigen::VectorXd>(weights.data(), basis.size));
  }
}

}  // namespace

double Covariance(const ResidualIndex& index, const ProductQuery& query_a,
                  const ProductQuery& query_b) {
  CheckAllDetermined(index, query_a);
  CheckAllDetermined(index, query_b);
  return CovarianceOfDetermined(index, query_a, query_b);
}

double Variance(const ResidualIndex& index, const ProductQuery& query) {
  CheckAllDetermined(index, query);
  return CovarianceOfDetermined(index, query, query);
}

double QueryHalfStep(const ResidualIndex& index, const ProductQuery& query, double variance) {
  if (!index.has_coarse_noise()) return 0;
  return HalfStep(CovarianceOfDetermined(index, query, query, &ResidualIndex::Entry::squared_step),
                  variance);
}

Estimate Answer(const ResidualIndex& index, const ProductQuery& query) {
  Estimate estimate;
  estimate.variance = Variance(index, query);
  estimate.half_step = QueryHalfStep(index, query, estimate.variance);
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(query.attributes(), &entries);
  std::vector<double> constant;
  std::vector<std::vector<double>> rows;
  for (const AttributeWeights& factor : query.factors()) {
    constant.push_back(ConstantPart(index.basis(factor.attribute), factor));
    rows.push_back(RowWeights(index, factor));
  }
  std::vector<const std::vector<double>*> axes;
  for (size_t mask = 0; mask < entries.size(); ++mask) {
    double factor = 1;
    axes.clear();
    for (size_t k = 0; k < rows.size(); ++k) {
      if ((mask >> k & 1) != 0) {
        axes.push_back(&rows[k]);
      } else {
        factor *= constant[k];
      }
    }
    if (factor != 0) estimate.value += factor * Contract(*entries[mask], axes);
  }
  return estimate;
}

}  // namespace residua
