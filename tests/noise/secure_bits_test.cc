#include "residua/noise/secure_bits.h"

#include <gtest/gtest.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <new>
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

// Ways to make a child: of these only the first runs the handlers of pthread_atfork.
pid_t ForkByLibrary() { return fork(); }
pid_t ForkWithoutHandlers() { return _Fork(); }
pid_t CloneByKernel() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}
using MakeChild = pid_t();
constexpr MakeChild* kWaysToMakeAChild[] = {ForkByLibrary, ForkWithoutHandlers, CloneByKernel};

// What a child draws by `draw` of what it inherited.
template <typename DrawWords>
Words DrawnInChild(MakeChild* make_child, const DrawWords& draw) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = make_child();
  if (child == 0) {
    const Words words = draw();
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

Words DrawInChild(BitSource& bits, MakeChild* make_child) {
  return DrawnInChild(make_child, [&] { return Draw(bits); });
}

bool ShareAWord(const Words& a, const Words& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

TEST(SecureBits, ForkedProcessesShareNothing) {
  for (const auto guard :
       {SecureBits::ForkGuard::kWipedMemory, SecureBits::ForkGuard::kProcessId}) {
    for (MakeChild* make_child : kWaysToMakeAChild) {
      SecureBits bits(guard);
      Draw(bits);  // now there are buffered words to inherit
      const Words first_child = DrawInChild(bits, make_child);
      const Words second_child = DrawInChild(bits, make_child);
      const Words parent = Draw(bits);
      EXPECT_FALSE(ShareAWord(first_child, second_child));
      EXPECT_FALSE(ShareAWord(first_child, parent));
      EXPECT_FALSE(ShareAWord(second_child, parent));
    }
  }
}

// A reader that was made before the fork looks at the buffer for every word, and so does a child
// that fills words past it. None of a child's words are what the kernel left in its memory.
TEST(SecureBits, ReadersAreForkedWithoutTheirWords) {
  for (MakeChild* make_child : kWaysToMakeAChild) {
    SecureBits bits;
    BitReader reader(bits);
    const auto draw = [&] {
      Words words;
      words[0] = reader.Next();
      reader.Read(std::span(words).subspan(1));
      return words;
    };
    draw();
    const Words child = DrawnInChild(make_child, draw);
    const Words filled = DrawnInChild(make_child, [&] {
      Words words;
      bits.Fill(words);
      return words;
    });
    std::vector<uint64_t> parent(10000);
    reader.Read(parent);
    for (const Words& words : {child, filled}) {
      EXPECT_EQ(std::find_first_of(words.begin(), words.end(), parent.begin(), parent.end()),
                words.end());
      EXPECT_EQ(std::count(words.begin(), words.end(), 0), 0);
    }
    EXPECT_FALSE(ShareAWord(child, filled));
  }
}

// The test above can fail: a source that knows nothing of forks is caught by it.
TEST(SecureBits, ForkTestHasPower) {
  DeterministicBits bits(1);
  Draw(bits);
  const Words child = DrawInChild(bits, CloneByKernel);
  EXPECT_TRUE(ShareAWord(child, Draw(bits)));
}

TEST(SecureBits, SeedsAreWipedByExceptionsAsWell) {
  using Seed = WipedBytes<48>;
  alignas(Seed) std::array<unsigned char, sizeof(Seed)> memory;
  struct Destroy {
    Seed* seed;
    ~Destroy() { seed->~Seed(); }
  };
  try {
    const Destroy seed{new (memory.data()) Seed};
    ReadEntropy(seed.seed->bytes, ::getrandom);
    ASSERT_NE(seed.seed->bytes, (std::array<std::byte, 48>{}));
    Fail(ErrorKind::kEntropy, "the cipher failed");
  } catch (const Error&) {
  }
  EXPECT_EQ(memory, (std::array<unsigned char, sizeof(Seed)>{}));
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

TEST(ReadEntropy, ContinuesAfterInterruptionsAndShortReads) {
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
