#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "residua/base/int128.h"
#include "residua/model/attribute_set.h"

namespace residua {

// The true counts of one marginal, row-major, the last attribute fastest. What it holds must never
// be published: only code that goes through TrueCounts (measure/true_counts.h, which nothing
// outside measure/ may include) sees the cells, so no writer can accept one. It can be moved but
// not copied.
class TrueMarginal {
 public:
  TrueMarginal(TrueMarginal&&) = default;
  TrueMarginal& operator=(TrueMarginal&&) = default;
  TrueMarginal(const TrueMarginal&) = delete;
  TrueMarginal& operator=(const TrueMarginal&) = delete;

  const AttributeSet& attributes() const { return attributes_; }
  int64_t num_cells() const { return static_cast<int64_t>(cells_.size()); }

 private:
  friend struct TrueCounts;
  TrueMarginal(AttributeSet attributes, std::vector<int64_t> cells)
      : attributes_(std::move(attributes)), cells_(std::move(cells)) {}

  AttributeSet attributes_;
  std::vector<int64_t> cells_;
};

// The true residuals of one marginal: an integer matrix along each axis of its counts. As private
// as the counts themselves, and closed in the same way.
class TrueResidual {
 public:
  TrueResidual(TrueResidual&&) = default;
  TrueResidual& operator=(TrueResidual&&) = default;
  TrueResidual(const TrueResidual&) = delete;
  TrueResidual& operator=(const TrueResidual&) = delete;

  const AttributeSet& attributes() const { return attributes_; }
  bool is_wide() const { return std::holds_alternative<std::vector<Int128>>(values_); }

 private:
  friend struct TrueCounts;
  using Values = std::variant<std::vector<int64_t>, std::vector<Int128>>;
  TrueResidual(AttributeSet attributes, Values values)
      : attributes_(std::move(attributes)), values_(std::move(values)) {}

  AttributeSet attributes_;
  Values values_;
};

// Takes the marginals of several sets, one batch after the other.
using MarginalsVisitor = std::function<void(std::vector<TrueMarginal>&&)>;

}  // namespace residua
