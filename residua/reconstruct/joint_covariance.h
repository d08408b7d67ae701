#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "residua/reconstruct/residual_index.h"

namespace residua {

class StructuredInverse;  // basis/structured_inverse.h

// The covariance of all cells of several reconstructed tables together, as if the total had no
// noise:
//   K = sum over A != {} of variance_A G_A G_A^T,
//   G_A = for each table T, one below the other, kron_{i in A} P_i kron_{j in T\A} z_j if A is a
//         subset of T, else 0.
// Its range holds the changes of the tables that keep their total and their agreement on what they
// share. It is applied to vectors and never formed: with B_i = P_i P_i^T (I - 1 1^T / n for
// identity attributes), K u is for every A the sum over T of u_T, weighted with z along T\A; B_i
// along the axes of that; and the result spread with z over each T again. A vector holds the
// tables' cells one after the other, each table row-major.
class JointCovariance {
 public:
  // No table is part of another or empty, and all are covered by `index`. Error{kBadInput} if an
  // attribute's basis does not tell its cells apart.
  JointCovariance(const ResidualIndex& index, std::span<const AttributeSet> tables);

  size_t num_tables() const { return tables_.size(); }
  int64_t num_cells() const { return begin_.back(); }
  // The cells of table t are begin(t) to begin(t + 1).
  int64_t begin(size_t t) const { return begin_[t]; }

  // result = K vector, by the threads of the caller's task arena; the same with any number.
  void Apply(std::span<const double> vector, std::span<double> result);

  // Numbers d_T with K <= diag(d_T) where all are identity attributes, and roughly otherwise. As
  // components of different sets A are orthogonal then, and a a^T <= diag(a_T sum a) for a >= 0,
  //   d_T = max over A subset T of variance_A a_T sum over T' of a_T',   a_T = ||G_A's part of T||.
  std::vector<double> Scales() const;

  // The memory of an operator on these tables, in bytes, before it is made.
  static int64_t NumBytes(const ResidualIndex& index, std::span<const AttributeSet> tables);

 private:
  struct Axis {
    bool is_identity = true;
    int64_t size = 0;
    Eigen::VectorXd z;        // empty for identity attributes, where it is 1 / n
    Eigen::MatrixXd product;  // B, likewise; empty if `structured` stands for it
    std::shared_ptr<const StructuredInverse> structured = nullptr;
    double squared_norm_z = 0;
    double norm_product = 1;
  };
  // A proper subset of a table, or of several.
  struct SharedSet {
    AttributeSet attributes;
    double variance = 0;
    std::vector<std::pair<size_t, int64_t>> parts;  // the tables, and where in their `margins`
    std::vector<double> values;
  };
  struct Table {
    AttributeSet attributes;
    double variance = 0;
    std::vector<size_t> shared;         // by mask of its axes, 1 to 2^k - 2
    std::vector<int64_t> margin_begin;  // likewise
    std::vector<double> margins;
  };

  const Axis& axis(int attribute) const { return axes_[static_cast<size_t>(attribute)]; }
  void Contract(Table& table, const double* cells) const;
  void Spread(Table& table, double* cells) const;
  void ApplyProducts(const AttributeSet& set, double variance, double* values) const;

  std::vector<Axis> axes_;
  std::vector<SharedSet> shared_;
  std::vector<Table> tables_;
  std::vector<int64_t> begin_ = {0};
};

}  // namespace residua
