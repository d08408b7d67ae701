#include "residua/reconstruct/joint_covariance.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/structured_inverse.h"
#include "residua/reconstruct/axis_sweeps.h"

namespace residua {
namespace {

// Steps of the power method for the norm of B: it only balances tables against each other.
constexpr int kNormSteps = 20;

bool Has(size_t mask, size_t k) { return (mask >> k & 1) != 0; }

// Calls visit(mask, subset) for every subset but the empty one and the set itself.
template <typename Visit>
void ForEachMargin(const AttributeSet& set, const Visit& visit) {
  ForEachSubset(set, [&](size_t mask, std::span<const int> subset) {
    if (!subset.empty() && subset.size() < set.size()) visit(mask, subset);
  });
}

// The norm of a symmetric positive semidefinite matrix that `multiply` applies.
template <typename Multiply>
double NormOf(int64_t size, const Multiply& multiply) {
  Eigen::VectorXd vector(size);
  for (Eigen::Index k = 0; k < vector.size(); ++k) vector(k) = k % 2 == 0 ? 1 : -0.5;
  double norm = 0;
  for (int step = 0; step < kNormSteps; ++step) {
    vector = multiply(vector.normalized());
    norm = vector.norm();
  }
  return norm;
}

// The axis k in the table on the axes of `mask`, which holds it.
template <typename SizeOf>
AxisView ViewIn(size_t mask, size_t k, const SizeOf& size_of) {
  AxisView view{1, size_of(k), 1};
  for (size_t j = 0; mask >> j != 0; ++j) {
    if (j != k && Has(mask, j)) (j < k ? view.outer : view.inner) *= size_of(j);
  }
  return view;
}

// The axis by which the set above `mask` in the table exceeds it: the first one missing.
size_t MissingAxis(size_t mask) { return static_cast<size_t>(std::countr_one(mask)); }

}  // namespace

JointCovariance::JointCovariance(const ResidualIndex& index, std::span<const AttributeSet> tables) {
  axes_.resize(static_cast<size_t>(index.domain().size()));
  MultisetTable sets;
  std::vector<const ResidualIndex::Entry*> entries;
  for (const AttributeSet& attributes : tables) {
    RESIDUA_CHECK(!attributes.empty());
    for (const int i : attributes) {
      Axis& axis = axes_[static_cast<size_t>(i)];
      if (axis.size > 0) continue;
      const ResidualBasis& basis = index.basis(i);
      axis.size = basis.size;
      axis.is_identity = basis.is_identity();
      axis.squared_norm_z = 1 / static_cast<double>(basis.size);
      if (axis.is_identity) continue;
      if (!basis.tells_cells_apart()) {
        Fail(ErrorKind::kBadInput,
             "the custom queries of '{}' do not tell its cells apart, so that there are no counts "
             "to make non-negative",
             index.domain()[i].name);
      }
      axis.z = basis.inverse->constant;
      axis.squared_norm_z = axis.z.squaredNorm();
      axis.structured = basis.inverse->structured;
      if (axis.structured != nullptr) {
        axis.norm_product = NormOf(axis.size, [&](Eigen::VectorXd vector) {
          axis.structured->ApplyProduct(1, 1, vector.data());
          return vector;
        });
        continue;
      }
      axis.product = SquareOfRows(basis.inverse->residual);
      axis.norm_product = NormOf(
          axis.size, [&](const Eigen::VectorXd& vector) { return Product(axis.product, vector); });
    }
    index.FindSubsets(attributes, &entries);
    const size_t all = entries.size() - 1;
    Table table{attributes, entries[all]->variance, std::vector<size_t>(all), {}, {}};
    table.margin_begin.resize(all);
    int64_t num_margin_cells = 0;
    ForEachMargin(attributes, [&](size_t mask, std::span<const int> subset) {
      const auto id = static_cast<size_t>(sets.Insert(subset));
      if (id == shared_.size()) {
        shared_.push_back({{subset.begin(), subset.end()}, entries[mask]->variance, {}, {}});
      }
      shared_[id].parts.emplace_back(tables_.size(), num_margin_cells);
      shared_[id].values.resize(static_cast<size_t>(index.NumCells(subset)));
      table.shared[mask] = id;
      table.margin_begin[mask] = num_margin_cells;
      num_margin_cells += static_cast<int64_t>(shared_[id].values.size());
    });
    table.margins.resize(static_cast<size_t>(num_margin_cells));
    tables_.push_back(std::move(table));
    begin_.push_back(CheckedAdd(begin_.back(), index.NumCells(attributes)));
  }
}

int64_t JointCovariance::NumBytes(const ResidualIndex& index,
                                  std::span<const AttributeSet> tables) {
  int64_t num_values = 0;
  for (const AttributeSet& attributes : tables) {
    ForEachMargin(attributes, [&](size_t, std::span<const int> subset) {
      // The margin, and at most as much for the set itself.
      num_values = CheckedAdd(num_values, CheckedMultiply(2, index.NumCells(subset)));
    });
  }
  return CheckedMultiply(num_values, static_cast<int64_t>(sizeof(double)));
}

// Every margin comes from the one above it, the larger first.
void JointCovariance::Contract(Table& table, const double* cells) const {
  const size_t all = table.shared.size();
  const auto size_of = [&](size_t k) { return axis(table.attributes[k]).size; };
  for (size_t mask = all; mask-- > 1;) {
    const size_t k = MissingAxis(mask);
    const size_t above = mask | size_t{1} << k;
    const double* values = above == all ? cells : table.margins.data() + table.margin_begin[above];
    double* out = table.margins.data() + table.margin_begin[mask];
    const AxisView view = ViewIn(above, k, size_of);
    const Axis& contracted = axis(table.attributes[k]);
    if (contracted.is_identity) {
      SumAlongAxis(view, values, out);
      const double factor = 1 / static_cast<double>(contracted.size);
      for (int64_t c = 0; c < view.outer * view.inner; ++c) out[c] *= factor;
      continue;
    }
    std::fill(out, out + view.outer * view.inner, 0.0);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t v = 0; v < view.size; ++v) {
        AddScaled(values + (o * view.size + v) * view.inner, contracted.z(v), view.inner,
                  out + o * view.inner);
      }
    }
  }
}

// And back, the smaller first: each margin is added to the one above it.
void JointCovariance::Spread(Table& table, double* cells) const {
  const size_t all = table.shared.size();
  const auto size_of = [&](size_t k) { return axis(table.attributes[k]).size; };
  for (size_t mask = 1; mask < all; ++mask) {
    const std::vector<double>& values = shared_[table.shared[mask]].values;
    std::copy(values.begin(), values.end(), table.margins.begin() + table.margin_begin[mask]);
  }
  for (size_t mask = 1; mask < all; ++mask) {
    const size_t k = MissingAxis(mask);
    const size_t above = mask | size_t{1} << k;
    const double* values = table.margins.data() + table.margin_begin[mask];
    double* out = above == all ? cells : table.margins.data() + table.margin_begin[above];
    const AxisView view = ViewIn(above, k, size_of);
    const Axis& spread = axis(table.attributes[k]);
    if (spread.is_identity) {
      AddAlongAxis(view, values, 1 / static_cast<double>(spread.size), out);
      continue;
    }
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t v = 0; v < view.size; ++v) {
        AddScaled(values + o * view.inner, spread.z(v), view.inner,
                  out + (o * view.size + v) * view.inner);
      }
    }
  }
}

void JointCovariance::ApplyProducts(const AttributeSet& set, double variance,
                                    double* values) const {
  const auto size_of = [&](size_t k) { return axis(set[k]).size; };
  const size_t all = (size_t{1} << set.size()) - 1;
  std::vector<double> sums;
  for (size_t k = 0; k < set.size(); ++k) {
    const AxisView view = ViewIn(all, k, size_of);
    const Axis& along = axis(set[k]);
    if (along.is_identity) {
      sums.resize(static_cast<size_t>(view.outer * view.inner));
      SumAlongAxis(view, values, sums.data());
      AddAlongAxis(view, sums.data(), -1 / static_cast<double>(view.size), values);
    } else if (along.structured != nullptr) {
      along.structured->ApplyProduct(view.outer, view.inner, values);
    } else if (view.inner == 1) {
      const RowMajorMatrix rows = RowMajorValues(values, view.outer, view.size);
      MultiplyByTransposed(RowMajorValues(rows.data(), view.outer, view.size), along.product,
                           RowMajorOutput(values, view.outer, view.size));
    } else {
      for (int64_t o = 0; o < view.outer; ++o) {
        double* first = values + o * view.size * view.inner;
        const RowMajorMatrix slab = RowMajorValues(first, view.size, view.inner);
        MultiplyFromLeft(along.product, RowMajorValues(slab.data(), view.size, view.inner),
                         RowMajorOutput(first, view.size, view.inner));
      }
    }
  }
  int64_t num_cells = 1;
  for (size_t k = 0; k < set.size(); ++k) num_cells *= size_of(k);
  for (int64_t c = 0; c < num_cells; ++c) values[c] *= variance;
}

void JointCovariance::Apply(std::span<const double> vector, std::span<double> result) {
  RESIDUA_CHECK(static_cast<int64_t>(vector.size()) == num_cells());
  RESIDUA_CHECK(static_cast<int64_t>(result.size()) == num_cells());
  ParallelFor(size_t{0}, tables_.size(),
              [&](size_t t) { Contract(tables_[t], vector.data() + begin_[t]); });
  ParallelFor(size_t{0}, shared_.size(), [&](size_t id) {
    SharedSet& set = shared_[id];
    std::fill(set.values.begin(), set.values.end(), 0.0);
    for (const auto& part : set.parts) {
      AddScaled(tables_[part.first].margins.data() + part.second, 1.0,
                static_cast<int64_t>(set.values.size()), set.values.data());
    }
    ApplyProducts(set.attributes, set.variance, set.values.data());
  });
  ParallelFor(size_t{0}, tables_.size(), [&](size_t t) {
    double* cells = result.data() + begin_[t];
    std::copy(vector.begin() + begin_[t], vector.begin() + begin_[t + 1], cells);
    ApplyProducts(tables_[t].attributes, tables_[t].variance, cells);
    Spread(tables_[t], cells);
  });
}

std::vector<double> JointCovariance::Scales() const {
  const auto norm_of = [&](const AttributeSet& set) {
    double norm = 1;
    for (const int i : set) norm *= axis(i).norm_product;
    return norm;
  };
  // ||G_A's part of T||: of z along the axes that A lacks.
  const auto norm_in = [&](const AttributeSet& table, const AttributeSet& set) {
    double squared = 1;
    for (const int i : table) {
      if (!std::binary_search(set.begin(), set.end(), i)) squared *= axis(i).squared_norm_z;
    }
    return std::sqrt(squared);
  };
  std::vector<double> scales;
  for (const Table& table : tables_) scales.push_back(table.variance * norm_of(table.attributes));
  for (const SharedSet& set : shared_) {
    double sum = 0;
    for (const auto& part : set.parts) {
      sum += norm_in(tables_[part.first].attributes, set.attributes);
    }
    for (const auto& part : set.parts) {
      const double own = norm_in(tables_[part.first].attributes, set.attributes);
      scales[part.first] =
          std::max(scales[part.first], set.variance * norm_of(set.attributes) * own * sum);
    }
  }
  return scales;
}

}  // namespace residua
