#include "residua/select/plan_cost.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/int128.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"
#include "residua/privacy/gaussian_curve.h"
#include "residua/select/dyadic_variance.h"
#include "residua/select/most_expensive_pair.h"

namespace residua {
namespace {

using Neighbours = Protection::Neighbours;

// Pairs are priced in doubles, to a relative error below 1e-13 for a thousand attributes
// (docs/math.md). The cost is rounded up by 2^-36, and taken for one if it is between half and
// twice that above.
constexpr int kRoundingBits = 36;

// Of what the total would cost if a row were added: its noise is then some 1e-7 of what it would
// be.
constexpr double kFreeCost = 1e-14;

// How far two different columns' inner product is below zero at most. Any part of it is at most the
// largest squared column norm (Cauchy-Schwarz), so that 128 bits hold it where they hold that.
Integer LargestNegative(const ResidualBasis& basis) {
  if (basis.is_identity()) return ToInteger(basis.size);
  if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) {
    return LargestNegativeProduct(*tree);
  }
  if (const auto* convolution = std::get_if<ConvolutionMatrix>(&basis.matrix)) {
    return std::min(LargestNegativeProduct(*convolution), basis.squared_sensitivity);
  }
  if (mpz_sizeinbase(basis.squared_sensitivity.get_mpz_t(), 2) > 126) {
    Fail(ErrorKind::kTooLarge, "a basis of too large integers to price replaced rows with");
  }
  const auto& matrix = std::get<IntegerMatrix>(basis.matrix);
  Int128 least = 0;
  std::vector<Int128> products;  // of column a with each before it
  for (int64_t a = 0; a < matrix.num_columns; ++a) {
    products.assign(static_cast<size_t>(a), 0);
    for (int64_t row = 0; row < matrix.num_rows; ++row) {
      const int64_t* entries = matrix.entries.data() + row * matrix.num_columns;
      for (int64_t b = 0; b < a; ++b) {
        products[static_cast<size_t>(b)] += Int128{entries[a]} * entries[b];
      }
    }
    for (const Int128 product : products) least = std::min(least, product);
  }
  return WideToInteger(static_cast<UInt128>(-least));
}

// |R_A (e_u - e_v)|^2 in integers, at most: with s_i the largest squared column norm of attribute
// i's matrix and m_i as above, 2 (prod s_i + max_i m_i prod_{j != i} s_j), and 0 for the total.
std::vector<PricedMechanism> PriceReplacements(const MechanismOrbits& mechanisms,
                                               const std::vector<Rational>& variances) {
  std::vector<std::optional<Integer>> negative(mechanisms.basis_of_class.size());
  std::vector<PricedMechanism> priced = PriceMechanisms(mechanisms, variances);
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    Integer& sensitivity = priced[static_cast<size_t>(k)].squared_sensitivity;
    Integer more = mechanisms.orbits[k].empty() ? Integer(-sensitivity) : Integer(0);
    for (const int c : mechanisms.orbits[k]) {
      const ResidualBasis& basis = mechanisms.basis_of_class[static_cast<size_t>(c)];
      auto& m = negative[static_cast<size_t>(c)];
      if (!m) m = LargestNegative(basis);
      if (basis.squared_sensitivity > 0) {
        more = std::max(more, Integer(sensitivity / basis.squared_sensitivity * *m));
      }
    }
    sensitivity = 2 * (sensitivity + more);
  }
  return priced;
}

// Nothing unless it is for replaced rows of identity attributes, and few enough kinds of them.
std::optional<double> PriceByPairs(const MechanismOrbits& mechanisms,
                                   const std::vector<Rational>& variances) {
  if (mechanisms.protection.neighbours != Neighbours::kReplaceOne) return std::nullopt;
  std::vector<double> noise_variance;
  noise_variance.reserve(variances.size());
  for (const Rational& variance : variances) {
    CheckNoiseVariance(variance);
    noise_variance.push_back(variance.get_d());
  }
  const auto pair = FindMostExpensivePair(mechanisms, noise_variance);
  if (!pair) return std::nullopt;
  return pair->cost;
}

Rational RaisedBy(double cost, int bits) {
  return Rational(cost) * (1 + Rational(Integer(1), Integer(1) << bits));
}

Rational PriceExactly(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances) {
  if (mechanisms.protection.neighbours == Neighbours::kReplaceOne) {
    return ExactPcost(PriceReplacements(mechanisms, variances));
  }
  const Integer rows = ToInteger(mechanisms.protection.max_rows);
  return Rational(rows * rows) * ExactPcost(PriceMechanisms(mechanisms, variances));
}

// Of all pairs of cells of the attributes measured, how many there are for each that differs.
double PairsOverDifferent(const MechanismOrbits& mechanisms) {
  std::vector<bool> is_measured(mechanisms.basis_of_class.size(), false);
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    for (const int c : mechanisms.orbits[k]) is_measured[static_cast<size_t>(c)] = true;
  }
  double num_cells = 1;
  for (int c = 0; c < mechanisms.classes.size(); ++c) {
    if (!is_measured[static_cast<size_t>(c)]) continue;
    const auto size = static_cast<double>(mechanisms.basis_of_class[static_cast<size_t>(c)].size);
    num_cells *= std::pow(size, mechanisms.classes.members[static_cast<size_t>(c)].size());
  }
  return num_cells > 1 && num_cells < 1e15 ? num_cells / (num_cells - 1) : 1;
}

// kTau2 is at most this part of the noise: what the Gaussian curve costs beside zCDP.
constexpr long kTau2Parts = 1'000'000;

}  // namespace

int64_t NumResidualRows(const ResidualBasis& basis) { return NumRowsOf(basis.matrix, basis.size); }

Integer NumMeasuredIntegers(const MechanismOrbits& mechanisms) {
  Integer sum = 0;
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    Integer product = OrbitSize(mechanisms.classes, mechanisms.orbits[k]);
    for (const int c : mechanisms.orbits[k]) {
      product *= ToInteger(NumResidualRows(mechanisms.basis_of_class[static_cast<size_t>(c)]));
    }
    sum += product;
  }
  return sum;
}

std::vector<int> ChooseScaleBits(const MechanismOrbits& mechanisms,
                                 const std::vector<Rational>& variances) {
  const Rational enough = Rational(kTau2) * kTau2Parts;
  std::vector<int> scale_bits;
  scale_bits.reserve(variances.size());
  for (const PricedMechanism& mechanism : PriceMechanisms(mechanisms, variances)) {
    CheckNoiseVariance(mechanism.variance);
    int bits = 0;
    for (Rational drawn = mechanism.variance; drawn < enough && bits < kMaxScaleBits; ++bits) {
      drawn *= 4;
    }
    scale_bits.push_back(bits);
  }
  return scale_bits;
}

std::optional<std::vector<Rational>> VariancesOnCurve(const MechanismOrbits& mechanisms,
                                                      const std::vector<Rational>& variances,
                                                      const std::vector<int>& scale_bits) {
  const std::vector<PricedMechanism> priced = PriceMechanisms(mechanisms, variances);
  std::vector<Rational> reduced;
  reduced.reserve(variances.size());
  for (size_t k = 0; k < variances.size(); ++k) {
    const Rational tau2 = Shifted(kTau2, -2 * long{scale_bits[k]});
    if (priced[k].variance <= tau2) return std::nullopt;
    // sigma2 less tau2 over what makes the integers' noise of it.
    reduced.push_back(DyadicVarianceBelow(variances[k] * (1 - tau2 / priced[k].variance)));
  }
  return reduced;
}

PrivacyCost PlanPrivacyCost(const MechanismOrbits& mechanisms,
                            const std::vector<Rational>& variances,
                            const std::vector<int>& scale_bits) {
  PrivacyCost cost{PlanPcost(mechanisms, variances), std::nullopt, NumMeasuredIntegers(mechanisms)};
  if (const auto reduced = VariancesOnCurve(mechanisms, variances, scale_bits)) {
    cost.mu2 = PlanPcost(mechanisms, *reduced);
  }
  return cost;
}

std::vector<PricedMechanism> PriceMechanisms(const MechanismOrbits& mechanisms,
                                             const std::vector<Rational>& variances) {
  std::vector<PricedMechanism> priced;
  priced.reserve(variances.size());
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    PricedMechanism mechanism{OrbitSize(mechanisms.classes, mechanisms.orbits[k]), 1,
                              variances[static_cast<size_t>(k)]};
    Integer factor = 1;
    for (const int c : mechanisms.orbits[k]) {
      const ResidualBasis& basis = mechanisms.basis_of_class[static_cast<size_t>(c)];
      mechanism.squared_sensitivity *= basis.squared_sensitivity;
      factor *= basis.variance_factor;
    }
    mechanism.variance *= factor;
    priced.push_back(std::move(mechanism));
  }
  return priced;
}

Rational PlanPcost(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances) {
  const auto cost = PriceByPairs(mechanisms, variances);
  return cost ? RaisedBy(*cost, kRoundingBits) : PriceExactly(mechanisms, variances);
}

bool IsPlanPcost(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances,
                 const Rational& stated) {
  const auto cost = PriceByPairs(mechanisms, variances);
  if (!cost) return stated == PriceExactly(mechanisms, variances);
  return stated >= RaisedBy(*cost, kRoundingBits + 1) &&
         stated <= RaisedBy(*cost, kRoundingBits - 1);
}

std::vector<double> CostOfOrbits(const MechanismOrbits& mechanisms) {
  const bool replaces = mechanisms.protection.neighbours == Neighbours::kReplaceOne;
  const bool by_pairs = replaces && HaveIdentityQueries(mechanisms);
  const double factor = by_pairs   ? 2 * PairsOverDifferent(mechanisms)
                        : replaces ? 2
                                   : std::pow(mechanisms.protection.max_rows, 2);
  std::vector<double> negative;  // of each class, relative to its squared column norm
  if (replaces && !by_pairs) {
    for (const ResidualBasis& basis : mechanisms.basis_of_class) {
      negative.push_back(Rational(LargestNegative(basis), basis.squared_sensitivity).get_d());
    }
  }
  std::vector<double> costs;
  costs.reserve(static_cast<size_t>(mechanisms.orbits.size()));
  for (int64_t k = 0; k < mechanisms.orbits.size(); ++k) {
    const auto orbit = mechanisms.orbits[k];
    double cost = OrbitSize(mechanisms.classes, orbit).get_d() * factor;
    double most_negative = 0;
    for (const int c : orbit) {
      cost *= mechanisms.basis_of_class[static_cast<size_t>(c)].privacy_cost;
      if (!negative.empty()) {
        most_negative = std::max(most_negative, negative[static_cast<size_t>(c)]);
      }
    }
    costs.push_back(cost * (1 + most_negative));
  }
  for (size_t k = 0; k < costs.size(); ++k) {
    if (replaces && mechanisms.orbits[static_cast<int64_t>(k)].empty()) costs[k] *= kFreeCost;
    if (!std::isfinite(costs[k]) || !(costs[k] > 0)) {
      Fail(ErrorKind::kTooLarge, "the workload has too many marginals of one kind to plan for");
    }
  }
  return costs;
}

}  // namespace residua
