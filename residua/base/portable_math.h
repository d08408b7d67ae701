#pragma once

namespace residua {

// Functions of doubles that are the same to the last bit on every processor, and in a page. Those
// of C libraries are not: with fused multiplication they round otherwise. A plan depends on them
// through many steps, and the plan of a spec should not depend on the machine.
//
// They use sums, products, quotients and square roots alone, and are right to a few units in the
// last place: of 1 near the roots of sine and cosine beyond the first, of |exponent log base| times
// the value for PortablePow. Infinities and what is no number are treated as by the functions of
// std that they stand for.
double PortableExp(double x);
double PortableExpm1(double x);
double PortableLog(double x);
double PortablePow(double base, double exponent);  // of a base that is not negative
double PortableSin(double x);                      // |x| <= 1e6
double PortableCos(double x);                      // likewise
double PortableAsin(double x);

}  // namespace residua
