#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace residua {

// Doubles that are kept between uses and not cleared when they grow; what they held is lost then.
class ScratchBuffer {
 public:
  double* Resize(int64_t size) {
    if (size > capacity_) {
      values_.reset();
      capacity_ = 0;
      values_.reset(Allocate(static_cast<size_t>(size) * sizeof(double)));
      capacity_ = size;
    }
    return values_.get();
  }
  double* data() { return values_.get(); }
  const double* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(double* values) const { std::free(values); }
  };

  // Large buffers use huge pages where there are any: the first access to 4 kB pages costs more
  // than making a table.
  static double* Allocate(size_t num_bytes) {
    constexpr size_t kHugePage = size_t{1} << 21;
    constexpr size_t kCacheLine = 64;
    const size_t alignment = num_bytes >= 2 * kHugePage ? kHugePage : kCacheLine;
    const size_t rounded = (num_bytes + alignment - 1) / alignment * alignment;
    void* memory = rounded < num_bytes ? nullptr : std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return static_cast<double*>(memory);
  }

  std::unique_ptr<double, Free> values_;
  int64_t capacity_ = 0;
};

}  // namespace residua
