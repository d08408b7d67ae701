#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "residua/measure/true_marginal.h"

namespace residua {

// The only access to true counts and residuals. Only measure/, its tests and its benchmark include
// it.
struct TrueCounts {
  using ResidualValues = TrueResidual::Values;

  static TrueMarginal Marginal(AttributeSet attributes, std::vector<int64_t> cells) {
    return TrueMarginal(std::move(attributes), std::move(cells));
  }
  static const std::vector<int64_t>& Cells(const TrueMarginal& marginal) { return marginal.cells_; }
  static std::vector<int64_t> TakeCells(TrueMarginal&& marginal) {
    return std::move(marginal.cells_);
  }

  static TrueResidual Residual(AttributeSet attributes, ResidualValues values) {
    return TrueResidual(std::move(attributes), std::move(values));
  }
  static const ResidualValues& Values(const TrueResidual& residual) { return residual.values_; }
  static ResidualValues TakeValues(TrueResidual&& residual) { return std::move(residual.values_); }
};

}  // namespace residua
