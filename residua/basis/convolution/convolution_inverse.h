#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "residua/basis/convolution/real_product.h"
#include "residua/basis/residual_matrix.h"
#include "residua/basis/structured_inverse.h"

namespace residua {

// How answers come from what a ConvolutionMatrix measures of n cells. With C the lower triangular
// matrix of the kernel, whose inverse B is that of another sequence b,
//   Sub = [diag(r) C diag(d) | 0] - diag(r) g 1^T,   z = [y; 1 - 1^T y],   y = diag(d)^-1 B g,
//   P = [F; -1^T F],   F = diag(d)^-1 B diag(r)^-1:
// the last cell is the total less the others. Products with B take O(n log n).
class ConvolutionInverse : public StructuredInverse {
 public:
  // Error{kRefused} if doubles cannot undo the kernel.
  ConvolutionInverse(const Attribute& attribute, const ConvolutionMatrix& matrix);

  int64_t num_rows() const override { return static_cast<int64_t>(inverse_.size()); }
  int64_t num_cells() const override { return num_rows() + 1; }

  Eigen::VectorXd Constant() const override { return constant_; }
  Eigen::VectorXd RowWeights(const Eigen::VectorXd& query) const override;
  // Of cells, prefix sums or ranges.
  std::vector<QueryVariance> Variances(const QueryMatrix& queries) const override;
  void Apply(int64_t outer, int64_t inner, const double* rows, const double* constant,
             double* result) const override;
  void ApplyProduct(int64_t outer, int64_t inner, double* values) const override;

  // |row k of L F|^2 for the sum of the first k + 1 cells, 0 <= k < n - 1: O(n^2), once.
  const std::vector<double>& prefix_variances() const { return prefix_variances_; }
  // Mean and peaks of all ranges, without a place for each.
  void SummariseRanges(QueryVariance* mean, std::vector<QueryVariance>* peaks) const;

 private:
  std::vector<double> CellVariances() const;
  // The sums of the first k cells of z, 0 <= k <= n.
  std::vector<double> PrefixConstants() const;
  // Calls visit(last - first, variances), with |w^T F|^2 of every range w of that length among the
  // first n - 1 cells, by first cell.
  template <typename Visit>
  void ForEachLength(const Visit& visit) const;

  std::vector<double> inverse_;        // b
  RealProduct product_;                // with b
  std::vector<double> row_share_;      // 1 / r
  std::vector<double> column_share_;   // 1 / d
  std::vector<double> total_weights_;  // g, or nothing
  Eigen::VectorXd constant_;           // z
  std::vector<double> prefix_variances_;
};

}  // namespace residua
