#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "residua/measure/measurements.h"
#include "residua/model/domain.h"
#include "residua/model/multiset_table.h"

namespace residua {

using ResidualValues = std::variant<std::span<const int64_t>, std::span<const Int128>>;

// A view of a NoisyResidual that is kept elsewhere.
struct ResidualView {
  AttributeSet attributes;
  ResidualValues values;
  Rational noise_variance;
  int scale_bits = 0;
  // There are no values here: they are too many, and only the variance is asked for.
  bool is_elsewhere = false;
};

// The measured residuals by attribute set, checked once: what reconstruction and every answer are
// made from. It refers to the values and does not copy them, so they must outlive it.
// Invariant: every set is strictly increasing and there is at most one residual for each, of as
// many values as its matrices have rows; every variance is positive and finite. It does not change,
// so that threads may share it.
class ResidualIndex {
 public:
  // `basis_of_attribute` has one for each attribute of the domain.
  ResidualIndex(Domain domain, std::vector<ResidualBasis> basis_of_attribute,
                std::span<const ResidualView> residuals);

  const Domain& domain() const { return domain_; }
  const ResidualBasis& basis(int attribute) const { return bases_[static_cast<size_t>(attribute)]; }

  struct Entry {
    ResidualValues values;
    // What one of the integers stands for: 1 over the scale they were measured on. It is a power of
    // two, so that multiplying by it is exact, unless the set's RowSteps are none.
    double unit = 1;
    // The variance of the base mechanism: the true variance of the discrete Gaussian that was
    // added, which is a little below its parameter where that is small, over the product of the
    // `variance_factor`s.
    double variance = 0;
    // The square of one step of the integers' lattice, in the same units: a sum of weighted steps
    // is to it what the standard deviation is to the variance.
    double squared_step = 0;
    bool is_elsewhere = false;  // `values` is empty
  };

  // Entries are numbered in the order the residuals were given in.
  const Entry& entry(int64_t id) const { return entries_[static_cast<size_t>(id)]; }
  std::span<const int> set(int64_t id) const { return sets_[id]; }
  int64_t size() const { return sets_.size(); }

  // -1 if the set was not measured. Sets are often asked for in the order they were given in:
  // `last`, an id or -1, and the one after it are looked at first.
  int64_t FindNear(int64_t last, std::span<const int> set) const;

  // Null if the set was not measured.
  const Entry* Find(std::span<const int> set) const {
    const auto index = sets_.Find(set);
    return index ? &entries_[static_cast<size_t>(*index)] : nullptr;
  }
  const MultisetTable& sets() const { return sets_; }

  // Whether some noise is so coarse that its steps show beside its standard deviation: measured by
  // versions that drew all noise on whole numbers.
  bool has_coarse_noise() const { return has_coarse_noise_; }

  // The number of cells of the table on `set`. Error{kBadInput} if it is not a set of the domain,
  // Error{kTooLarge} if the number does not fit.
  int64_t NumCells(std::span<const int> set) const;

  // The residuals of all subsets of `table`: bit k of the position stands for table[k]. A table
  // with a subset that was not measured is Error{kBadInput}, which names the sets that come
  // closest. A table that is not a set of the domain is Error{kBadInput} as well.
  void FindSubsets(const AttributeSet& table, std::vector<const Entry*>* entries) const;

 private:
  Domain domain_;
  std::vector<ResidualBasis> bases_;
  MultisetTable sets_;
  std::vector<Entry> entries_;
  bool has_coarse_noise_ = false;
};

// A broken invariant if the entry's values are elsewhere: before they are read.
void CheckHasValues(const ResidualIndex::Entry& entry);

// Half of what the steps of an answer's noise add up to; its interval is wider by this, because the
// noise differs from a normal one by no more. 0 if that is below 1/64 of the standard deviation.
double HalfStep(double squared_step, double variance);

// The index of a plan's residuals, or of whole measurements, which must outlive it.
ResidualIndex IndexResiduals(const Plan& plan, std::span<const NoisyResidual> residuals);
ResidualIndex IndexResiduals(const Measurements& measurements);

// The view of a residual, which must outlive it.
ResidualView ViewOf(const NoisyResidual& residual);

}  // namespace residua
