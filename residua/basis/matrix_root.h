#pragma once

#include <Eigen/Core>
#include <vector>

namespace residua {

// The square root of a positive definite matrix A that is known by products with
// (A^-1 + shift)^-1 alone. Nothing dense is formed: with Zolotarev's rational function of the
// inverse root,
//   A^1/2 = sum_k weight_k (A^-1 + shift_k)^-1,
// about 30 terms reach the last digits for attributes of thousands of cells (Hale, Higham and
// Trefethen, "Computing A^alpha, log(A) and related matrix functions by contour integrals", 2008).
class MatrixRoot {
 public:
  virtual ~MatrixRoot() = default;

  virtual Eigen::VectorXd Diagonal() const = 0;                         // of A^1/2
  virtual Eigen::VectorXd Apply(const Eigen::VectorXd& x) const = 0;    // A^1/2 x
  virtual Eigen::VectorXd Inverse(const Eigen::VectorXd& x) const = 0;  // A^-1 x
  // A direction near A^(power / 2) x, 0 < power < 2, or A x where that is all there is.
  virtual Eigen::VectorXd Bent(const Eigen::VectorXd& x, double power) const;
  // No eigenvalue of A is above the one, nor of A^-1 above the other.
  virtual double most() const = 0;
  virtual double most_inverse() const = 0;
  // No entry of A^1/2 is negative. What is computed of A^1/2 x is wrong by at most this part of
  // A^1/2 |x|, in norm, and its trace by at most this part of it (docs/lower_bound.md).
  virtual double relative_error() const = 0;
};

// How far sum_k weight_k / (x + shift_k) may be from x^-1/2, relatively: 1e-14 because there are
// finitely many terms, the rest for the rounding of each.
inline constexpr double kRootTolerance = 1e-12;

struct RootTerm {
  double shift;
  double weight;
};
// For every A^-1 with eigenvalues from `least` to `most`, both positive.
std::vector<RootTerm> RootTerms(double least, double most);

}  // namespace residua
