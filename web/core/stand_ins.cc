// What the core's sources refer to and a page's build has in another form: OpenSSL's digest, and
// files, which a page does not write.

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>

#include "residua/base/error.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"

namespace residua {
namespace {

// FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t RotatedRight(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

void Compress(const uint8_t* block, std::array<uint32_t, 8>* state) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) {
    w[t] = uint32_t{block[4 * t]} << 24 | uint32_t{block[4 * t + 1]} << 16 |
           uint32_t{block[4 * t + 2]} << 8 | uint32_t{block[4 * t + 3]};
  }
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = RotatedRight(w[t - 15], 7) ^ RotatedRight(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t s1 = RotatedRight(w[t - 2], 17) ^ RotatedRight(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = *state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t s1 = RotatedRight(e, 6) ^ RotatedRight(e, 11) ^ RotatedRight(e, 25);
    const uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
    const uint32_t s0 = RotatedRight(a, 2) ^ RotatedRight(a, 13) ^ RotatedRight(a, 22);
    const uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (size_t k = 0; k < 8; ++k) (*state)[k] += added[k];
}

}  // namespace

std::string Sha256(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t num_bits = uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(num_bits >> shift);
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (size_t at = 0; at < padded.size(); at += 64) {
    Compress(reinterpret_cast<const uint8_t*>(padded.data()) + at, &state);
  }
  std::string hex = "sha256:";
  for (const uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

void WriteFileAtomically(const std::filesystem::path&, std::string_view) {
  Fail(ErrorKind::kIo, "a page writes no files");
}

}  // namespace residua
