#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <variant>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/true_marginal.h"
#include "residua/measure/true_tally.h"
#include "residua/model/domain.h"

namespace residua {

// The true counts of a table that is cut into slabs. As private as a TrueMarginal: it stays in
// measure/. How it holds them depends on the rows, and nothing that comes out of it does.
class TrueSlabs {
 public:
  // The domain must outlive it.
  TrueSlabs(const Domain& domain, AttributeSet attributes, const SlabCut& cut);

  // Several threads may do so at once.
  void Add(const EncodedTable& rows);

  const Domain& domain() const { return domain_; }
  const AttributeSet& attributes() const { return attributes_; }
  const SlabCut& cut() const { return cut_; }
  const TrueTally& tally(int64_t slab) const { return slabs_[static_cast<size_t>(slab)].tally; }

 private:
  struct Slab {
    explicit Slab(int64_t num_cells) : tally(num_cells) {}
    TrueTally tally;
    std::mutex counting = {};  // while a thread adds to it
  };

  const Domain& domain_;
  AttributeSet attributes_;
  SlabCut cut_;
  std::deque<Slab> slabs_;
};

// The true residuals of such a table, a slab at a time; together, in their order, they are those of
// the whole table. The table must outlive it and stay as it is. Threads may share it.
class SlabResiduals {
 public:
  // Of a table of `num_rows` rows.
  SlabResiduals(const TrueSlabs& table, const ResidualTransform& transform, int64_t num_rows,
                int scale_bits);

  int64_t num_slabs() const { return table_.cut().num_slabs(); }
  TrueResidual Slab(int64_t k) const;

 private:
  template <typename Value>
  TrueResidual SlabOf(int64_t k, const std::vector<Value>& sums) const;
  int64_t Weight(int64_t to, int64_t from) const;

  const TrueSlabs& table_;
  const ResidualTransform& transform_;
  int scale_bits_;
  // Along the axis, with the attributes before transformed.
  std::variant<std::vector<int64_t>, std::vector<Int128>> sums_;
};

}  // namespace residua
