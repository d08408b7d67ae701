#include "residua/noise/variance_limits.h"

#include "residua/base/error.h"

namespace residua {

const Rational& MinDiscreteGaussianVariance() {
  static const Rational least(1, 100);
  return least;
}

const Rational& MaxDiscreteGaussianVariance() {
  static const Rational most(Integer(1) << kLog2MaxVariance);
  return most;
}

const Rational& MaxNarrowDiscreteGaussianVariance() {
  static const Rational most(Integer(1) << kLog2MaxNarrowVariance);
  return most;
}

void CheckDiscreteGaussianVariance(const Rational& variance) {
  if (variance < MinDiscreteGaussianVariance()) {
    Fail(ErrorKind::kBadInput, "variance: {:.6g} is below {:.6g}, the smallest discrete Gaussian",
         variance.get_d(), MinDiscreteGaussianVariance().get_d());
  }
  if (variance > MaxDiscreteGaussianVariance()) {
    Fail(ErrorKind::kTooLarge, "variance: {:.6g} is above 2^{}, the largest discrete Gaussian",
         variance.get_d(), kLog2MaxVariance);
  }
}

}  // namespace residua
