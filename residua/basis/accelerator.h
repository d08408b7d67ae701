#pragma once

#include <Eigen/Core>
#include <deque>

namespace residua {

// Type-II Anderson acceleration of x <- x + step(x): the combination of remembered steps that is
// least in the sense of least squares says where to go next. The x are logarithms.
class Accelerator {
 public:
  // From `point`, where the plain step is `step` and the aim `merit`, which is positive, and larger
  // where better. If the merit fell, or a step is not finite, the accelerated step before went too
  // far: everything is forgotten, and the plain step from the point before is taken instead.
  // Error{kRefused} if the first step is not finite.
  Eigen::VectorXd Next(const Eigen::VectorXd& point, const Eigen::VectorXd& step, double merit);

 private:
  Eigen::VectorXd Accelerated(const Eigen::VectorXd& point, const Eigen::VectorXd& step);

  std::deque<Eigen::VectorXd> points_;
  std::deque<Eigen::VectorXd> steps_;
  Eigen::VectorXd plain_;   // where the plain step leads from the last point that was kept
  double least_merit_ = 0;  // that the next point must have
};

}  // namespace residua
