#include "residua/noise/insecure_gaussian.h"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "residua/base/error.h"

namespace residua {
namespace {

// Uniform on the odd multiples of 2^-54 in (0, 1): never 0, whose logarithm is infinite.
double OpenUniform(BitReader& reader) {
  return (static_cast<double>(reader.Next() >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

void InsecureContinuousGaussian(double variance, BitSource& bits, std::span<double> out) {
  if (!(variance > 0.0) || std::isinf(variance)) {
    Fail(ErrorKind::kBadInput, "variance: {} is not a positive finite number", variance);
  }
  BitReader reader(bits);
  const double standard_deviation = std::sqrt(variance);
  // Box and Muller: two uniforms make two normals.
  for (size_t i = 0; i < out.size(); i += 2) {
    const double radius = standard_deviation * std::sqrt(-2.0 * std::log(OpenUniform(reader)));
    const double angle = 2.0 * std::numbers::pi * OpenUniform(reader);
    out[i] = radius * std::cos(angle);
    if (i + 1 < out.size()) out[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace residua
