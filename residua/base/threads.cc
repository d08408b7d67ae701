#include "residua/base/threads.h"

#if !defined(RESIDUA_SERIAL)

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace residua {
namespace {

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

}  // namespace

void internal::ForStretches(int64_t first, int64_t last, const void* body,
                            void (*run)(const void* body, int64_t first, int64_t last)) {
  ForkAndJoin whole;
  tbb::parallel_for(tbb::blocked_range<int64_t>(first, last),
                    [&](const tbb::blocked_range<int64_t>& stretch) {
                      const ForkAndJoin::Part part(whole);
                      run(body, stretch.begin(), stretch.end());
                    });
}

struct internal::OwnValues::Values {
  tbb::enumerable_thread_specific<std::shared_ptr<void>> of_threads;
};

internal::OwnValues::OwnValues() : values_(std::make_unique<Values>()) {}
internal::OwnValues::~OwnValues() = default;
std::shared_ptr<void>& internal::OwnValues::Own() { return values_->of_threads.local(); }

struct Threads::Arena {
  explicit Arena(int count) : arena(count) {}
  tbb::task_arena arena;
};

Threads::Threads(int count)
    : arena_(std::make_unique<Arena>(count > 0 ? count : tbb::info::default_concurrency())) {}
Threads::~Threads() = default;

int Threads::count() const { return arena_->arena.max_concurrency(); }

void Threads::RunAny(const void* work, void (*run)(const void* work)) {
  ForkAndJoin whole;
  arena_->arena.execute([&] {
    const ForkAndJoin::Part part(whole);
    run(work);
  });
}

}  // namespace residua

#endif
