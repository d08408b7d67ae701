#pragma once

#include <span>

#include "residua/noise/bit_source.h"

namespace residua {

// Fills `out` with N(0, variance) in doubles, for research on errors only. NOT differentially
// private when added to data, whatever the bits: the low digits of the sum tell which doubles the
// noise could have been (Mironov, 2012). Releases use SampleDiscreteGaussian.
void InsecureContinuousGaussian(double variance, BitSource& bits, std::span<double> out);

}  // namespace residua
