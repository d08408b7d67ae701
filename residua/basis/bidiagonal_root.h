#pragma once

#include <Eigen/Core>
#include <vector>

namespace residua {

// The square root of a positive definite matrix A that is known by its inverse:
//   A^-1 = L diag(`pivots`) L^T - `factor` u u^T,
// L unit lower bidiagonal with `below` under the diagonal (not positive), u = `update`, which is
// empty for none. Nothing dense is formed: with Zolotarev's rational function of the inverse root,
//   A^1/2 = sum_k weight_k (A^-1 + shift_k)^-1,
// about 30 terms reach the last digits for attributes of thousands of cells (Hale, Higham and
// Trefethen, "Computing A^alpha, log(A) and related matrix functions by contour integrals", 2008).
// The shifted matrices are factored by differential qd transforms (Dhillon and Parlett), which add
// positive numbers only: every entry of the root is right to nearly all digits, however widely the
// pivots spread.
class BidiagonalRoot {
 public:
  // `trace` is that of A, or more.
  BidiagonalRoot(Eigen::VectorXd pivots, Eigen::VectorXd below, Eigen::VectorXd update,
                 double factor, double trace);

  Eigen::VectorXd Diagonal() const;                         // of A^1/2
  Eigen::VectorXd Apply(const Eigen::VectorXd& x) const;    // A^1/2 x
  Eigen::VectorXd Inverse(const Eigen::VectorXd& x) const;  // A^-1 x
  Eigen::MatrixXd Dense() const;                            // A^1/2
  // No eigenvalue of A is above the one, nor of A^-1 above the other.
  double most() const { return 1 / least_inverse_; }
  double most_inverse() const { return most_inverse_; }

 private:
  struct Term {
    double shift;
    double weight;
  };
  // Of L diag(pivots) L^T + shift: from above, from below, and where both meet.
  struct Factors {
    Eigen::VectorXd pivots;
    Eigen::VectorXd below;
    Eigen::VectorXd above;     // of the factorisation from below
    Eigen::VectorXd diagonal;  // of the inverse
  };
  void Factor(double shift, Factors* factors) const;
  Eigen::VectorXd Solve(const Factors& factors, const Eigen::VectorXd& x) const;

  Eigen::VectorXd pivots_;
  Eigen::VectorXd below_;
  Eigen::VectorXd update_;
  double factor_;
  double least_inverse_;
  double most_inverse_ = 0;
  std::vector<Term> terms_;
};

}  // namespace residua
