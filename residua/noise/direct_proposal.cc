#include "residua/noise/direct_proposal.h"

#include <bit>

#include "residua/base/error.h"

namespace residua {
namespace {

Int128 Signed(UInt128 magnitude, bool negative) {
  const auto value = static_cast<Int128>(magnitude);
  return negative ? -value : value;
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
  size_t count = 0;
  for (size_t attempt = 0; attempt < num_attempts; ++attempt) {
    const uint64_t word = reader.Next();
    const UInt128 product = static_cast<UInt128>(reader.Next()) * proposal.step;
    const uint64_t v = reader.Next();

    const bool negative = (word & 1) != 0;
    const uint64_t coins = word >> 1;
    const int i = std::countr_zero(coins | uint64_t{1} << 63);
    // Uniform on [0, step) without bias (Lemire): of the 2^64 products, those whose low half is at
    // least 2^64 mod step fall floor(2^64 / step) times on each high half. The others void the
    // attempt.
    const bool valid = static_cast<uint64_t>(product) >= proposal.uniform_threshold;
    const uint64_t offset = static_cast<uint64_t>(product >> 64) + static_cast<uint64_t>(negative);
    const UInt128 magnitude = static_cast<UInt128>(i) * proposal.step + offset;
    const Acceptance::Bounds bounds = acceptance.Enclose(magnitude, 1, i);

    // No branch on the outcome, which nobody could predict: a rejected value is overwritten.
    const bool accepted = valid & (v < bounds.lower);
    draws->values[count] = Signed(magnitude, negative);
    count += static_cast<size_t>(accepted);

    if (valid & (coins == 0)) [[unlikely]] {
      // 63 coins did not end i: this attempt anew, with as many as it takes.
      count -= static_cast<size_t>(accepted);
      const uint64_t long_i = 63 + reader.Geometric();
      const UInt128 far = static_cast<UInt128>(long_i) * proposal.step + offset;
      draws->values[count] = Signed(far, negative);
      count += acceptance.AcceptExactly(far, 1, 0, static_cast<int>(long_i), v, reader) ? 1 : 0;
    } else if (valid & !accepted & (v < bounds.upper)) [[unlikely]] {
      count += acceptance.AcceptExactly(magnitude, 1, 0, i, v, reader) ? 1 : 0;
    }
  }
  draws->count = count;
}

}  // namespace residua
