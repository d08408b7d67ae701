#include "residua/files/parquet/packed_integers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace residua {
namespace {

bool UnpackPadded(std::string bytes, std::span<int64_t> values) {
  const size_t size = bytes.size();
  bytes.resize(size + kPackedPadding);
  return Unpack(std::string_view(bytes).substr(0, size), values);
}

// Every width of steps, and every number of values around the sizes of blocks.
TEST(PackedIntegers, ComeBack) {
  std::mt19937_64 random(1);
  for (int width = 0; width <= 64; ++width) {
    for (const size_t size : {1, 2, 31, 32, 33, 34, 128, 129, 130, 161, 1000}) {
      std::vector<int64_t> values(size);
      const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
      for (int64_t& value : values) value = static_cast<int64_t>(random() & mask);
      if (width == 64) values.back() = std::numeric_limits<int64_t>::min();
      std::string bytes;
      AppendPacked(values, &bytes);
      std::vector<int64_t> again(size);
      ASSERT_TRUE(UnpackPadded(bytes, again)) << width << " bits, " << size;
      EXPECT_EQ(again, values) << width << " bits, " << size;
      EXPECT_LE(std::ssize(values), MostPacked(std::ssize(bytes)));
      // One more or one less, one byte less: all are noticed.
      again.resize(size + 1);
      EXPECT_FALSE(UnpackPadded(bytes, again));
      again.resize(size - 1);
      EXPECT_FALSE(UnpackPadded(bytes, again));
      again.resize(size);
      EXPECT_FALSE(UnpackPadded(bytes + '\0', again));
      EXPECT_FALSE(UnpackPadded(bytes.substr(0, bytes.size() - 1), again));
    }
  }
}

// About three bits more than the standard deviation has.
TEST(PackedIntegers, TakeFewBits) {
  std::mt19937_64 random(2);
  for (const double log2_std_dev : {10.0, 30.0, 50.0}) {
    std::normal_distribution<double> noise(0, std::exp2(log2_std_dev));
    std::vector<int64_t> values(100'000);
    for (int64_t& value : values) value = static_cast<int64_t>(noise(random));
    std::string bytes;
    AppendPacked(values, &bytes);
    EXPECT_LT(8.0 * static_cast<double>(bytes.size()) / 1e5, log2_std_dev + 4.2);
  }
}

TEST(PackedIntegers, AnyBytesAreSafe) {
  std::mt19937_64 random(3);
  std::vector<int64_t> values(300);
  for (int64_t& value : values) value = static_cast<int64_t>(random() >> random() % 64);
  std::string good;
  AppendPacked(values, &good);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char changed : {'\x00', '\x41', '\xff'}) {
      std::string bytes = good;
      bytes[at] = changed;
      UnpackPadded(bytes, values);
    }
  }
}

}  // namespace
}  // namespace residua
