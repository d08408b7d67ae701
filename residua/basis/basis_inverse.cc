#include "residua/basis/basis_inverse.h"

#include <utility>

#include "residua/base/error.h"
#include "residua/basis/convolution/convolution_inverse.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/tree/tree_inverse.h"

namespace residua {
namespace {

Eigen::MatrixXd CumulativeRows(const Eigen::MatrixXd& matrix) {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(matrix.rows() + 1, matrix.cols());
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    for (Eigen::Index k = 0; k < matrix.rows(); ++k) sums(k + 1, j) = sums(k, j) + matrix(k, j);
  }
  return sums;
}

}  // namespace

BasisInverse::BasisInverse(Eigen::VectorXd z, Eigen::MatrixXd p)
    : constant(std::move(z)), residual(std::move(p)), cumulative(CumulativeRows(residual)) {}

BasisInverse::BasisInverse(std::shared_ptr<const StructuredInverse> inverse)
    : constant(inverse->Constant()), structured(std::move(inverse)) {}

Eigen::VectorXd BasisInverse::RowWeights(const Eigen::VectorXd& query) const {
  if (structured != nullptr) return structured->RowWeights(query);
  return TransposedProduct(residual, query);
}

ResidualBasis BasisFromTree(const Attribute& attribute, TreeMatrix matrix) {
  CheckTreeMatrix(attribute, matrix);
  const QueryMatrix queries(attribute);
  auto tree = std::make_shared<const TreeInverse>(attribute, matrix);
  ResidualBasis basis;
  basis.size = attribute.size;
  basis.squared_sensitivity = SquaredSensitivity(matrix);
  basis.variance_factor = 1;
  basis.privacy_cost = basis.squared_sensitivity.get_d();
  SetVariances(attribute, tree->Variances(queries), &basis);
  basis.inverse = std::make_shared<BasisInverse>(std::move(tree));
  basis.matrix = std::move(matrix);
  return basis;
}

ResidualBasis BasisFromConvolution(const Attribute& attribute, ConvolutionMatrix matrix) {
  if (!CanUseConvolution(attribute)) {
    Fail(ErrorKind::kRefused,
         "the basis of attribute '{}' is one for prefix sums and ranges, which it does not have",
         attribute.name);
  }
  CheckConvolution(attribute, matrix);
  const QueryMatrix queries(attribute);
  auto inverse = std::make_shared<const ConvolutionInverse>(attribute, matrix);
  ResidualBasis basis;
  basis.size = attribute.size;
  basis.num_answers = queries.num_answers();
  basis.squared_sensitivity = SquaredSensitivity(matrix);
  basis.variance_factor = 1;
  basis.privacy_cost = basis.squared_sensitivity.get_d();
  if (attribute.queries == QueryKind::kRange) {
    inverse->SummariseRanges(&basis.mean, &basis.peaks);
    basis.weighted_mean = basis.mean;
    basis.weighted_peaks = basis.peaks;
  } else {
    SetVariances(attribute, inverse->Variances(queries), &basis);
  }
  basis.inverse = std::make_shared<BasisInverse>(std::move(inverse));
  basis.matrix = std::move(matrix);
  return basis;
}

ResidualBasis BasisFrom(const Attribute& attribute, const ResidualMatrix& matrix) {
  if (const auto* convolution = std::get_if<ConvolutionMatrix>(&matrix)) {
    return BasisFromConvolution(attribute, *convolution);
  }
  if (const auto* tree = std::get_if<TreeMatrix>(&matrix)) return BasisFromTree(attribute, *tree);
  return BasisFromMatrix(attribute, std::get<IntegerMatrix>(matrix));
}

QueryCovariance CovarianceOf(const ResidualBasis& basis, const Eigen::VectorXd& query_a,
                             const Eigen::VectorXd& query_b) {
  RESIDUA_CHECK(query_a.size() == basis.size && query_b.size() == basis.size);
  if (basis.is_identity()) {
    const auto n = static_cast<double>(basis.size);
    const double sums = query_a.sum() * query_b.sum();
    return {query_a.dot(query_b) - sums / n, sums / (n * n)};
  }
  const BasisInverse& inverse = *basis.inverse;
  return {inverse.RowWeights(query_a).dot(inverse.RowWeights(query_b)),
          query_a.dot(inverse.constant) * query_b.dot(inverse.constant)};
}

}  // namespace residua
