#include "residua/noise/direct_proposal.h"

#include <bit>

#include "residua/base/error.h"

namespace residua {
namespace {

Int128 Signed(UInt128 magnitude, bool negative) {
  // -m = ~m + 1, without a branch on a coin.
  const auto sign = static_cast<UInt128>(negative);
  return static_cast<Int128>((magnitude ^ (0 - sign)) + sign);
}

struct Attempt {
  UInt128 magnitude;
  uint64_t v;  // the first 64 bits of the coin
  int i;
  bool i_ended;  // false where i is at least 63 and more coins must be thrown
  bool valid;
  bool negative;
};

Attempt Propose(const DirectProposal& proposal, BitReader& reader) {
  const uint64_t word = reader.Next();
  const UInt128 product = static_cast<UInt128>(reader.Next()) * proposal.step;
  const uint64_t v = reader.Next();
  const uint64_t negative = word & 1;
  const uint64_t coins = word >> 1;
  const auto i = static_cast<uint64_t>(std::countr_zero(coins | uint64_t{1} << 63));
  const auto j = static_cast<uint64_t>(product >> 64);
  return {.magnitude = static_cast<UInt128>(i) * proposal.step + j + negative,
          .v = v,
          .i = static_cast<int>(i),
          .i_ended = coins != 0,
          // j is uniform without bias (Lemire): of the 2^64 products, those whose low half is at
          // least 2^64 mod step fall floor(2^64 / step) times on each high half. The others void
          // the attempt.
          .valid = static_cast<uint64_t>(product) >= proposal.uniform_threshold,
          .negative = negative != 0};
}

}  // namespace

DirectProposal MakeDirectProposal(const Rational& variance) {
  // An integer not below 2 ln2 variance = 1 / kappa, and the root of it rounded up.
  const Ln2Enclosure& ln2 = Ln2To256Bits();
  const Integer numerator = 2 * variance.get_num() * ln2.upper;
  const Integer denominator = variance.get_den() << ln2.bits;
  const Integer least_square = (numerator + denominator - 1) / denominator;
  Integer step = sqrt(least_square);
  if (step * step < least_square) ++step;
  RESIDUA_CHECK(step >= 1 && mpz_sizeinbase(step.get_mpz_t(), 2) <= 64);
  RESIDUA_CHECK(step * step * denominator >= numerator);
  const uint64_t step_word = step.get_ui();
  return {step_word, (0 - step_word) % step_word};
}

void AttemptDirect(const DirectProposal& proposal, const Acceptance& acceptance,
                   size_t num_attempts, BitReader& reader, DirectDraws* draws) {
  RESIDUA_CHECK(num_attempts <= kMaxAttempts);
  // Three short loops rather than one: the processor then works on several attempts at once.
  std::array<Attempt, kMaxAttempts> attempts;
  for (size_t k = 0; k < num_attempts; ++k) attempts[k] = Propose(proposal, reader);
  std::array<FixedPoint, kMaxAttempts> exponents;
  for (size_t k = 0; k < num_attempts; ++k) {
    exponents[k] = acceptance.Exponent(attempts[k].magnitude, attempts[k].i);
  }
  std::array<uint64_t, kMaxAttempts> powers;
  for (size_t k = 0; k < num_attempts; ++k) powers[k] = Exp2Fixed(exponents[k]);

  size_t count = 0;
  for (size_t k = 0; k < num_attempts; ++k) {
    const Attempt& attempt = attempts[k];
    const Acceptance::Bounds bounds = acceptance.Enclose(powers[k], 1);
    // No branch on the outcome, which cannot be predicted: a rejected value is overwritten.
    const bool accepted = attempt.valid & (attempt.v < bounds.lower);
    draws->values[count] = Signed(attempt.magnitude, attempt.negative);
    count += static_cast<size_t>(accepted);

    // lower <= v < upper in one comparison: below `lower` the difference wraps to a huge number.
    const bool undecided = attempt.v - bounds.lower < bounds.upper - bounds.lower;
    if (undecided | !attempt.i_ended) [[unlikely]] {
      if (!attempt.valid) continue;
      count -= static_cast<size_t>(accepted);
      // Where 63 coins did not end i, as many more as it takes.
      const uint64_t more = attempt.i_ended ? 0 : reader.Geometric();
      const UInt128 magnitude = attempt.magnitude + static_cast<UInt128>(more) * proposal.step;
      const int i = attempt.i + static_cast<int>(more);
      draws->values[count] = Signed(magnitude, attempt.negative);
      count += acceptance.AcceptExactly(magnitude, 1, 0, i, attempt.v, reader) ? 1 : 0;
    }
  }
  draws->count = count;
  Wipe(attempts.data(), num_attempts * sizeof(Attempt));
}

}  // namespace residua
