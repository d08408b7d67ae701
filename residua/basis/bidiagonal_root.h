#pragma once

#include <Eigen/Core>
#include <vector>

#include "residua/basis/matrix_root.h"

namespace residua {

// The square root of a positive definite matrix A that is known by its inverse:
//   A^-1 = L diag(`pivots`) L^T - `factor` u u^T,
// L unit lower bidiagonal with `below` under the diagonal (not positive), u = `update`, which is
// empty for none. The shifted matrices are factored by differential qd transforms (Dhillon and
// Parlett), which add positive numbers only: every entry of the root is right to nearly all digits,
// however widely the pivots spread.
class BidiagonalRoot : public MatrixRoot {
 public:
  // `trace` is that of A, or more.
  BidiagonalRoot(Eigen::VectorXd pivots, Eigen::VectorXd below, Eigen::VectorXd update,
                 double factor, double trace);

  Eigen::Index size() const { return pivots_.size(); }
  Eigen::VectorXd Diagonal() const override;
  Eigen::VectorXd Apply(const Eigen::VectorXd& x) const override;
  Eigen::VectorXd Inverse(const Eigen::VectorXd& x) const override;
  // The terms of the root, each times its shift to the power (1 - power) / 2.
  Eigen::VectorXd Bent(const Eigen::VectorXd& x, double power) const override;
  Eigen::MatrixXd Dense() const;  // A^1/2
  double most() const override { return 1 / least_inverse_; }
  double most_inverse() const override { return most_inverse_; }
  // For no `update`. Each cell rounds a few times, and positive numbers do not amplify it.
  double relative_error() const override { return relative_error_; }

 private:
  // Of L diag(pivots) L^T + shift: from above, from below, and where both meet.
  struct Factors {
    Eigen::VectorXd pivots;
    Eigen::VectorXd below;
    Eigen::VectorXd above;     // of the factorisation from below
    Eigen::VectorXd diagonal;  // of the inverse
  };
  void Factor(double shift, Factors* factors) const;
  Eigen::VectorXd ApplyTerms(const std::vector<RootTerm>& terms, const Eigen::VectorXd& x) const;
  Eigen::VectorXd Solve(const Factors& factors, const Eigen::VectorXd& x) const;

  Eigen::VectorXd pivots_;
  Eigen::VectorXd below_;
  Eigen::VectorXd update_;
  double factor_;
  double least_inverse_;
  double most_inverse_ = 0;
  double relative_error_ = 0;
  std::vector<RootTerm> terms_;
};

// The root of diag(cells)^1/2 W^T diag(`weight`) W diag(cells)^1/2, W the sums of the first cells:
// prefix sums.
BidiagonalRoot RootOfSummedCells(const Eigen::VectorXd& weight, const Eigen::VectorXd& cells);
// The root of T diag(`cells`) T^T, T = diag(`weight`)^1/2 U with U the sums of all cells from each
// one on: of prefix sums, if cells and queries are taken from the last one on, so that the total is
// the first query.
BidiagonalRoot RootOfSums(const Eigen::VectorXd& weight, const Eigen::VectorXd& cells);

}  // namespace residua
