#include "residua/basis/accelerator.h"

#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/triangular_factors.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Steps remembered; more bring nothing here, and fewer take longer.
constexpr size_t kMemory = 6;
// No logarithm moves further than this in one step.
constexpr double kLongestStep = 2;
// A merit that fell by no more than this, relatively, did not fall.
constexpr double kMeritRounding = 1e-12;

}  // namespace

VectorXd Accelerator::Next(const VectorXd& point, const VectorXd& step, double merit) {
  if (merit >= least_merit_ && step.allFinite()) {
    least_merit_ = merit * (1 - kMeritRounding);
    plain_ = point + step;
    return Accelerated(point, step);
  }
  if (plain_.size() == 0) Fail(ErrorKind::kRefused, "the first step is not finite");
  points_.clear();
  steps_.clear();
  least_merit_ = 0;
  return plain_;
}

VectorXd Accelerator::Accelerated(const VectorXd& point, const VectorXd& step) {
  points_.push_back(point);
  steps_.push_back(step);
  if (points_.size() > kMemory) points_.pop_front(), steps_.pop_front();
  const auto count = static_cast<Index>(points_.size()) - 1;
  VectorXd next = point + step;
  if (count == 0) return next;
  MatrixXd differences(point.size(), count);
  for (Index k = 0; k < count; ++k) {
    differences.col(k) = step - steps_[static_cast<size_t>(k)];
  }
  MatrixXd normal = TransposedProduct(differences, differences);
  normal.diagonal() *= 1 + 1e-10;
  const VectorXd mix = SolveSymmetric(normal, TransposedProduct(differences, step));
  if (!mix.allFinite()) return next;
  for (Index k = 0; k < count; ++k) {
    const auto j = static_cast<size_t>(k);
    next -= mix(k) * (point - points_[j] + step - steps_[j]);
  }
  return point + (next - point).cwiseMax(-kLongestStep).cwiseMin(kLongestStep);
}

}  // namespace residua
