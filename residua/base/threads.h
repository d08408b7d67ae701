#pragma once

#if !defined(RESIDUA_SERIAL)
#include <cstdint>
#include <memory>
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

namespace internal {

// Calls run(body, first, last) for each block of first <= k < last. oneTBB's templates take a second
// to read and more for each body: they are compiled once, in threads.cc.
void ForStretches(int64_t first, int64_t last, const void* body,
                  void (*run)(const void* body, int64_t first, int64_t last));

// Something for each thread that asks for its own; nothing at first.
class OwnValues {
 public:
  OwnValues();
  ~OwnValues();
  OwnValues(const OwnValues&) = delete;
  OwnValues& operator=(const OwnValues&) = delete;

  std::shared_ptr<void>& Own();

 private:
  struct Values;
  std::unique_ptr<Values> values_;
};

}  // namespace internal

// Calls body(first, last) for each block of first <= k < last, on the threads of the caller.
template <typename Index, typename Body>
void ParallelForStretches(Index first, Index last, const Body& body) {
  internal::ForStretches(static_cast<int64_t>(first), static_cast<int64_t>(last), &body,
                         [](const void* any, int64_t begin, int64_t end) {
                           (*static_cast<const Body*>(any))(static_cast<Index>(begin),
                                                            static_cast<Index>(end));
                         });
}

// The same one by one: calls body(k) for every k.
template <typename Index, typename Body>
void ParallelFor(Index first, Index last, const Body& body) {
  ParallelForStretches(first, last, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) body(k);
  });
}

// A value for each thread that asks for its own.
template <typename Value>
class PerThread {
 public:
  Value& local() {
    std::shared_ptr<void>& own = values_.Own();
    if (own == nullptr) own = std::make_shared<Value>();
    return *static_cast<Value*>(own.get());
  }

 private:
  internal::OwnValues values_;
};

// The number of threads for parallel work; 0 is one per processor.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  template <typename Work>
  void Run(const Work& work) {
    RunAny(&work, [](const void* any) { (*static_cast<const Work*>(any))(); });
  }

 private:
  void RunAny(const void* work, void (*run)(const void* work));

  struct Arena;
  std::unique_ptr<Arena> arena_;
};

#endif

}  // namespace residua
