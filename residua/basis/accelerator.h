#pragma once

#include <Eigen/Core>
#include <deque>

namespace residua {

// Type-II Anderson acceleration of x <- x + step(x): the combination of remembered steps that is
// least in the sense of least squares says where to go next. The x are logarithms.
class Accelerator {
 public:
  void Forget() { points_.clear(), steps_.clear(); }

  Eigen::VectorXd Next(const Eigen::VectorXd& point, const Eigen::VectorXd& step);

 private:
  std::deque<Eigen::VectorXd> points_;
  std::deque<Eigen::VectorXd> steps_;
};

}  // namespace residua
