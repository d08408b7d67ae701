#include "residua/noise/secure_bits.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "residua/base/error.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

using Words = std::array<uint64_t, 8>;

Words Draw(BitSource& bits) {
  Words words;
  BitReader(bits).Read(words);
  return words;
}

// What a forked child draws from the source it inherited.
Words DrawInChild(BitSource& bits) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Words words = Draw(bits);
    const ssize_t written = write(pipe_ends[1], words.data(), sizeof(words));
    _exit(written == sizeof(words) ? 0 : 1);
  }
  Words words{};
  EXPECT_EQ(read(pipe_ends[0], words.data(), sizeof(words)), ssize_t{sizeof(words)});
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return words;
}

bool ShareAWord(const Words& a, const Words& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

TEST(SecureBits, ForkedProcessesShareNothing) {
  SecureBits bits;
  Draw(bits);  // now there are buffered words to inherit
  const Words first_child = DrawInChild(bits);
  const Words second_child = DrawInChild(bits);
  const Words parent = Draw(bits);
  EXPECT_FALSE(ShareAWord(first_child, second_child));
  EXPECT_FALSE(ShareAWord(first_child, parent));
  EXPECT_FALSE(ShareAWord(second_child, parent));
}

// The test above can fail: a source that knows nothing of forks is caught by it.
TEST(SecureBits, ForkTestHasPower) {
  DeterministicBits bits(1);
  Draw(bits);
  const Words child = DrawInChild(bits);
  EXPECT_TRUE(ShareAWord(child, Draw(bits)));
}

TEST(SecureBits, KeysFollowEachOtherWithoutRepeats) {
  SecureBits bits;
  std::vector<uint64_t> words(300000);  // more than one key
  bits.Fill(words);
  EXPECT_EQ(std::set<uint64_t>(words.begin(), words.end()).size(), words.size());
}

TEST(SecureBits, SourcesAndThreadsDiffer) {
  SecureBits a;
  SecureBits b;
  EXPECT_FALSE(ShareAWord(Draw(a), Draw(b)));
  Words other{};
  std::thread([&] { other = Draw(ThreadSecureBits()); }).join();
  EXPECT_FALSE(ShareAWord(other, Draw(ThreadSecureBits())));
  EXPECT_EQ(&ThreadSecureBits(), &ThreadSecureBits());
}

// A gross failure (a stuck bit, a buffer never filled) would be seen; 8 deviations, 1e-15.
TEST(SecureBits, BitsAreBalanced) {
  SecureBits bits;
  BitReader reader(bits);
  std::array<int, 64> ones{};
  constexpr int kNumWords = 200000;
  for (int i = 0; i < kNumWords; ++i) {
    const uint64_t word = reader.Next();
    for (int bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(word >> bit & 1);
  }
  for (const int count : ones) {
    EXPECT_NEAR(count, kNumWords / 2.0, 8 * std::sqrt(kNumWords / 4.0));
  }
}

ssize_t FailingGetRandom(void*, size_t, unsigned) {
  errno = ENOSYS;
  return -1;
}

ssize_t EmptyGetRandom(void*, size_t, unsigned) { return 0; }

// Interrupted every other time, and never more than five bytes.
ssize_t HaltingGetRandom(void* buffer, size_t size, unsigned) {
  static int calls = 0;
  if (++calls % 2 == 1) {
    errno = EINTR;
    return -1;
  }
  const size_t count = std::min<size_t>(size, 5);
  std::fill_n(static_cast<unsigned char*>(buffer), count, static_cast<unsigned char>(calls));
  return static_cast<ssize_t>(count);
}

TEST(ReadEntropy, FailureIsAnError) {
  std::array<std::byte, 48> seed;
  for (GetRandom* source : {FailingGetRandom, EmptyGetRandom}) {
    try {
      ReadEntropy(seed, source);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEntropy);
    }
  }
}

TEST(ReadEntropy, GoesOnAfterInterruptionsAndShortReads) {
  std::array<std::byte, 48> seed{};
  ReadEntropy(seed, HaltingGetRandom);
  for (const std::byte byte : seed) EXPECT_NE(byte, std::byte{0});
}

TEST(BitReader, HandsOutEachWordOnce) {
  constexpr size_t kNumWords = 10000;
  DeterministicBits expected_bits(5);
  std::vector<uint64_t> expected(kNumWords);
  BitReader(expected_bits).Read(expected);

  DeterministicBits bits(5);
  std::vector<uint64_t> actual;
  for (size_t round = 0; actual.size() < kNumWords; ++round) {
    BitReader reader(bits);
    actual.push_back(reader.Next());
    std::vector<uint64_t> words(std::min(round * 7, kNumWords - actual.size()));
    reader.Read(words);
    actual.insert(actual.end(), words.begin(), words.end());
  }
  EXPECT_EQ(actual, expected);
}

TEST(BitReader, GeometricCountsZeros) {
  const std::vector<uint64_t> script = {1, 8, 0, 0, 2, uint64_t{1} << 63};
  ScriptedBits bits(script, 1);
  BitReader reader(bits);
  EXPECT_EQ(reader.Geometric(), 0u);
  EXPECT_EQ(reader.Geometric(), 3u);
  EXPECT_EQ(reader.Geometric(), 129u);
  EXPECT_EQ(reader.Geometric(), 63u);
}

class StuckBits final : public BitSource {
 public:
  void Fill(std::span<uint64_t> words) override { std::fill(words.begin(), words.end(), 0); }
};

TEST(BitReader, StuckSourceIsAnError) {
  StuckBits bits;
  BitReader reader(bits);
  try {
    reader.Geometric();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEntropy);
  }
}

// Fails once, then works: what was in the buffer before must not be read.
class FailingOnce final : public BitSource {
 public:
  void Fill(std::span<uint64_t> words) override {
    std::fill(words.begin(), words.end(), 7);
    if (!failed_) {
      failed_ = true;
      Fail(ErrorKind::kEntropy, "no bits");
    }
    std::fill(words.begin(), words.end(), 9);
  }

 private:
  bool failed_ = false;
};

TEST(BitReader, FailedRefillLeavesNothingToRead) {
  FailingOnce bits;
  EXPECT_THROW(BitReader(bits).Next(), Error);
  EXPECT_EQ(BitReader(bits).Next(), 9u);
}

}  // namespace
}  // namespace residua
