#include "residua/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <vector>

// Compiled twice: into test_base with threads, into test_serial without.
namespace residua {
namespace {

TEST(Threads, EveryIndexIsVisitedOnce) {
  std::vector<int> visits(1000, 0);
  Threads(4).Run([&] { ParallelFor(size_t{0}, visits.size(), [&](size_t k) { ++visits[k]; }); });
  EXPECT_EQ(visits, std::vector<int>(1000, 1));
}

TEST(Threads, BlocksCoverTheRange) {
  std::vector<int> visits(1000, 0);
  Threads(4).Run([&] {
    ParallelForStretches(size_t{10}, visits.size(), [&](size_t first, size_t last) {
      ASSERT_LT(first, last);
      for (size_t k = first; k < last; ++k) ++visits[k];
    });
  });
  EXPECT_EQ(std::accumulate(visits.begin(), visits.begin() + 10, 0), 0);
  EXPECT_EQ(std::accumulate(visits.begin() + 10, visits.end(), 0), 990);
}

TEST(Threads, AnEmptyRangeRunsNothing) {
  std::atomic<int> calls = 0;
  ParallelFor(5, 5, [&](int) { ++calls; });
  ParallelForStretches(5, 5, [&](int, int) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(Threads, EachThreadHasItsOwnValue) {
  PerThread<int> value;
  value.local() = 7;
  EXPECT_EQ(value.local(), 7);
}

#if defined(RESIDUA_SERIAL)
TEST(Threads, WithoutThreadsThereIsOne) { EXPECT_EQ(Threads(4).count(), 1); }
#else
TEST(Threads, AsManyAsAreAskedFor) { EXPECT_EQ(Threads(4).count(), 4); }

#if defined(__SANITIZE_THREAD__)
// Nothing that ThreadSanitizer is told about oneTBB (tests/tsan.supp) hides a race of our own.
TEST(ThreadsDeathTest, ARaceInParallelWorkIsReported) {
  if (Threads(0).count() < 2) GTEST_SKIP() << "one processor has no second thread";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto race = [] {
    int shared = 0;
    std::atomic<int> num_inside = 0;
    Threads(2).Run([&] {
      ParallelFor(0, 2, [&](int) {
        // Relaxed, so that it puts nothing in order: both are inside at once.
        num_inside.fetch_add(1, std::memory_order_relaxed);
        while (num_inside.load(std::memory_order_relaxed) < 2) {
        }
        ++shared;
      });
    });
    std::exit(shared > 2 ? 1 : 0);
  };
  EXPECT_DEATH(race(), "data race.*threads_test");
}
#endif
#endif

}  // namespace
}  // namespace residua
