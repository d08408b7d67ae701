#include "residua/reconstruct/axis_sweeps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace residua {
namespace {

std::vector<double> Quotients(const std::vector<double>& values, double divisor) {
  std::vector<double> quotients(values.size());
  DivideInto(values.data(), Divisor(divisor), static_cast<int64_t>(values.size()),
             quotients.data());
  return quotients;
}

// Values whose quotients are doubles, or as close as possible to a point where rounding changes
// direction, and any other.
TEST(Divisor, IsDivision) {
  std::mt19937_64 random(7);
  for (int bits = 1; bits <= 48; ++bits) {
    for (int run = 0; run < 40; ++run) {
      const double divisor = static_cast<double>(1 + random() % ((uint64_t{1} << bits) - 1));
      std::vector<double> values;
      for (int k = 0; k < 200; ++k) {
        const auto quotient = static_cast<double>(random() >> (11 + random() % 53));
        const double near_half = (quotient + 0.5) * divisor;
        for (const double value : {quotient * divisor, near_half, quotient}) {
          values.push_back(value);
          values.push_back(std::nextafter(value, 0));
          values.push_back(-std::nextafter(value, INFINITY));
        }
      }
      const std::vector<double> quotients = Quotients(values, divisor);
      for (size_t k = 0; k < values.size(); ++k) {
        ASSERT_EQ(quotients[k], values[k] / divisor) << values[k] << " / " << divisor;
      }
    }
  }
}

// The check above fails for the plain product with the inverse.
TEST(Divisor, IsMoreThanTheInverse) {
  int num_wrong = 0;
  for (int value = 1; value < 1000; ++value) {
    const double product = value * 49.0;
    num_wrong += product * (1 / 49.0) != value ? 1 : 0;
  }
  EXPECT_GT(num_wrong, 0);
}

}  // namespace
}  // namespace residua
