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
    return basis.inverse->RowWeights(
        Eigen::Map<const Eigen::VectorXd>(weights->data(), basis.size));
  }
  if (basis.inverse->structured != nullptr) {
    const std::vector<double> weights = DenseWeights(factor, basis.size);
    return basis.inverse->RowWeights(Eigen::Map<const Eigen::VectorXd>(weights.data(), basis.size));
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

// (kron over the `axes`)^T values, in their unit, of values that come in pieces: rows along the last
// axis are contracted as they come, the other axes in the end.
class Contraction {
 public:
  Contraction(const std::vector<const std::vector<double>*>& axes, double unit)
      : axes_(axes), unit_(unit), row_(axes.empty() ? 1 : axes.back()->size()) {}

  void Add(ResidualValues piece) {
    std::visit(
        [&](const auto& values) {
          for (size_t first = 0; first < values.size();) {
            const size_t count = std::min(row_.size() - filled_, values.size() - first);
            ConvertValues(values.data() + first, static_cast<int64_t>(count), unit_,
                          row_.data() + filled_);
            first += count;
            filled_ += count;
            if (filled_ == row_.size()) ContractRow();
          }
        },
        piece);
  }

  double Finish() {
    RESIDUA_CHECK(filled_ == 0);
    auto size = static_cast<int64_t>(contracted_.size());
    for (size_t k = axes_.empty() ? 0 : axes_.size() - 1; k-- > 0;) {
      const auto length = static_cast<int64_t>(axes_[k]->size());
      size /= length;
      for (int64_t r = 0; r < size; ++r) {
        contracted_[static_cast<size_t>(r)] =
            DotProduct(contracted_.data() + r * length, axes_[k]->data(), length);
      }
    }
    RESIDUA_CHECK(size == 1);
    return contracted_.front();
  }

 private:
  void ContractRow() {
    contracted_.push_back(axes_.empty() ? row_.front()
                                        : DotProduct(row_.data(), axes_.back()->data(),
                                                     static_cast<int64_t>(row_.size())));
    filled_ = 0;
  }

  const std::vector<const std::vector<double>*>& axes_;
  double unit_;
  std::vector<double> row_;
  size_t filled_ = 0;
  std::vector<double> contracted_;
};

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

Estimate Answer(const ResidualIndex& index, const ProductQuery& query,
                const ReadPieces& read_elsewhere) {
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
    AttributeSet set;
    for (size_t k = 0; k < rows.size(); ++k) {
      if ((mask >> k & 1) != 0) {
        axes.push_back(&rows[k]);
        set.push_back(query.factors()[k].attribute);
      } else {
        factor *= constant[k];
      }
    }
    if (factor == 0) continue;
    const ResidualIndex::Entry& entry = *entries[mask];
    Contraction contraction(axes, entry.unit);
    if (entry.is_elsewhere && read_elsewhere) {
      read_elsewhere(set, [&](ResidualValues piece) { contraction.Add(piece); });
    } else {
      CheckHasValues(entry);
      contraction.Add(entry.values);
    }
    estimate.value += factor * contraction.Finish();
  }
  return estimate;
}

}  // namespace residua
