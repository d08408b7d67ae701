#pragma once

#if !defined(RESIDUA_SERIAL)
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace residua {

#if defined(RESIDUA_SERIAL)

// Built without threads: the same calls, and the caller's thread does all the work.
template <typename Index, typename Body>
void ParallelFor(Index first, Index last, const Body& body) {
  for (Index k = first; k < last; ++k) body(k);
}

template <typename Index, typename Body>
void ParallelForStretches(Index first, Index last, const Body& body) {
  if (first < last) body(first, last);
}

template <typename Value>
class PerThread {
 public:
  Value& local() { return value_; }

 private:
  Value value_;
};

class Threads {
 public:
  explicit Threads(int) {}

  int count() const { return 1; }

  template <typename Work>
  void Run(const Work& work) {
    work();
  }
};

#else

// What comes before a piece of parallel work happens before all its parts, and the parts happen
// before what comes after. ThreadSanitizer cannot see this inside oneTBB's library, so it is told
// here.
class ForkAndJoin {
 public:
  ForkAndJoin() { Release(&fork_); }
  ~ForkAndJoin() { Acquire(&join_); }
  ForkAndJoin(const ForkAndJoin&) = delete;
  ForkAndJoin& operator=(const ForkAndJoin&) = delete;

  // Lives as long as a part runs.
  class Part {
   public:
    explicit Part(ForkAndJoin& whole) : whole_(whole) { Acquire(&whole_.fork_); }
    ~Part() { Release(&whole_.join_); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    ForkAndJoin& whole_;
  };

 private:
#if defined(__SANITIZE_THREAD__)
  static void Release(char* what) { __tsan_release(what); }
  static void Acquire(char* what) { __tsan_acquire(what); }
#else
  static void Release(char*) {}
  static void Acquire(char*) {}
#endif
  char fork_ = 0;
  char join_ = 0;
};

// Calls body(k) for every k with first <= k < last, on the threads of the caller.
template <typename Index, typename Body>
void ParallelFor(Index first, Index last, const Body& body) {
  ForkAndJoin whole;
  tbb::parallel_for(first, last, [&](Index k) {
    const ForkAndJoin::Part part(whole);
    body(k);
  });
}

// The same in blocks: calls body(first, last) for each block.
template <typename Index, typename Body>
void ParallelForStretches(Index first, Index last, const Body& body) {
  ForkAndJoin whole;
  tbb::parallel_for(tbb::blocked_range<Index>(first, last),
                    [&](const tbb::blocked_range<Index>& stretch) {
                      const ForkAndJoin::Part part(whole);
                      body(stretch.begin(), stretch.end());
                    });
}

// A value for each thread that asks for its own.
template <typename Value>
using PerThread = tbb::enumerable_thread_specific<Value>;

// The number of threads for parallel work; 0 is one per processor.
class Threads {
 public:
  explicit Threads(int count) : arena_(count > 0 ? count : tbb::info::default_concurrency()) {}

  int count() const { return arena_.max_concurrency(); }

  template <typename Work>
  void Run(const Work& work) {
    ForkAndJoin whole;
    arena_.execute([&] {
      const ForkAndJoin::Part part(whole);
      work();
    });
  }

 private:
  tbb::task_arena arena_;
};

#endif

}  // namespace residua
