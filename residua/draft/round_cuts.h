#pragma once

#include <vector>

namespace residua {

// Cuts that divide `sample` into shares of about a tenth, strictly increasing, at numbers that are
// easy to read: 1, 2, 2.5 or 5 times a power of ten, or multiples of one of these where the sample
// is too narrow for five of them. Five to ten cuts, fewer where there are fewer different values.
// With `whole`, whole numbers. The sample holds finite numbers, at least one.
std::vector<double> RoundCuts(std::vector<double> sample, bool whole);

}  // namespace residua
