#pragma once

#include <string>

namespace residua {

// What a suspicion of probability `prior` that someone's rows are in the data can grow to, for a
// reader who knows all other rows and sees a release of (epsilon, delta)-differential privacy:
//   prior e^epsilon / (prior e^epsilon + 1 - prior),
// rounded up. It holds but for an event of probability delta: such a release can be made from one
// that reveals everything with probability delta, and from epsilon-randomised response otherwise
// (Kairouz, Oh, Viswanath 2015, Theorem 3.4). The same bounds a suspicion that they are not.
// Not-a-number, or a `prior` outside [0, 1], gives 1.
double GrownSuspicion(double prior, double epsilon);

// A probability in percent, rounded up to one decimal: "73.2 %". One that would be shown as 100 %
// and is below has as many nines as it takes: "99.996 %"; from 1 - 1e-9 on it is "100 %".
std::string PercentAbove(double probability);

// A probability of at least `delta`: "1 in 1,000,000,000".
std::string OneIn(double delta);

}  // namespace residua
