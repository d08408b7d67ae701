#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "residua/base/nameless_file.h"
#include "residua/measure/measure.h"
#include "residua/measure/measurements.h"

namespace residua {

// Sets that are too large to wait, and what measures and passes on one of them.
struct LargeSets {
  std::vector<AttributeSet> sets = {};
  std::function<void(const AttributeSet&)> measure = {};
};

// Takes residuals in any order and passes them on in the order of `sets`. Those that wait for their
// turn are held in memory up to the limit; the values of further ones wait in a NamelessFile. Large
// sets are not added: they are measured when their turn comes.
class WaitingResiduals {
 public:
  // `sets` and `large.sets`, which are some of them, as ListedBefore sorts them.
  WaitingResiduals(std::vector<AttributeSet> sets, const WaitingOptions& options,
                   const std::function<void(NoisyResidual&&)>& visit, LargeSets large = {});

  // Measures large sets that come before any other.
  void Start() { PassOn(); }

  // Passes on those whose turn has come. Every other set is added once.
  void Add(NoisyResidual&& residual);

  // Every set has been passed on.
  bool done() const { return next_ == sets_.size(); }

 private:
  // Where the values of a residual are in the file.
  struct Filed {
    int64_t at = 0;
    size_t num_values = 0;
    bool is_wide = false;
    Rational noise_variance;
    int scale_bits = 0;
  };
  using Waiting = std::variant<NoisyResidual, Filed>;

  void PassOn();
  size_t TurnOf(const AttributeSet& set) const;
  Filed File(NoisyResidual&& residual);
  NoisyResidual Take(const AttributeSet& set, Waiting&& waiting);

  std::vector<AttributeSet> sets_;
  WaitingOptions options_;
  const std::function<void(NoisyResidual&&)>& visit_;
  LargeSets large_;
  size_t next_large_ = 0;
  std::map<size_t, Waiting> waiting_;  // by their turn
  size_t next_ = 0;
  int64_t bytes_in_memory_ = 0;
  std::unique_ptr<NamelessFile> file_;
};

}  // namespace residua
