#include "residua/reconstruct/table_reconstruction.h"

#include <algorithm>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/structured_inverse.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/completion.h"

namespace residua {

ReconstructionWorkspace::ReconstructionWorkspace() : buffers_(std::make_unique<Buffers>()) {}
ReconstructionWorkspace::ReconstructionWorkspace(ReconstructionWorkspace&&) noexcept = default;
ReconstructionWorkspace& ReconstructionWorkspace::operator=(ReconstructionWorkspace&&) noexcept =
    default;
ReconstructionWorkspace::~ReconstructionWorkspace() = default;

namespace {

// One table from its residuals. A subset of the axes is a mask, bit k for table[k]. Axes of other
// bases than the identity are inverted first, by their matrices [z | P]; from then on every tensor
// u_S, S a subset of the `identity_axes_` axes, has all of those axes. Since z = 1 / n and P acts
// as C / n on an identity axis, the table on S times prod_{i in S} n_i is
//   f_S = sum over S' subset S of C_{S'} u_{S'}, spread over the axes it lacks,
// and has means f_{S - k} along axis k: u_S completed by smaller tables.
class Reconstruction {
 public:
  Reconstruction(const ResidualIndex& index, const AttributeSet& table,
                 ReconstructionWorkspace::Buffers& buffers, double* counts, bool is_parallel)
      : index_(index),
        table_(table),
        buffers_(buffers),
        counts_(counts),
        order_(static_cast<int>(table.size())),
        all_((size_t{1} << table.size()) - 1),
        is_parallel_(is_parallel) {
    buffers.sizes.clear();
    num_cells_ = 1;
    for (int k = 0; k < order_; ++k) {
      buffers.sizes.push_back(Basis(k).size);
      num_cells_ = CheckedMultiply(num_cells_, Basis(k).size);
      (Basis(k).is_identity() ? identity_axes_ : inverted_) |= Bit(k);
    }
    is_parallel_ = is_parallel && num_cells_ >= kLargeTableCells;
    if (buffers.residuals.size() <= all_) {
      buffers.residuals.resize(all_ + 1);
      buffers.scaled.resize(all_ + 1);
    }
  }

  int64_t num_cells() const { return num_cells_; }

  // All but the table itself, of identity attributes alone.
  void RunFaces() {
    RESIDUA_CHECK(inverted_ == 0);
    for (size_t subset = 0; subset < all_; ++subset) CompleteSubset(subset);
  }

  void Run() {
    if (inverted_ != 0) {
      for (size_t mask = 0; mask <= all_; ++mask) Convert(mask);
      size_t done = 0;
      for (int k = 0; k < order_; ++k) {
        if (!Has(inverted_, k)) continue;
        InvertAxis(k, done);
        done |= Bit(k);
      }
      if (identity_axes_ == 0) return;
    }
    for (size_t subset = 0;; subset = (subset - identity_axes_) & identity_axes_) {
      CompleteSubset(subset);
      if (subset == identity_axes_) break;
    }
  }

 private:
  static size_t Bit(int k) { return size_t{1} << k; }
  static bool Has(size_t mask, int k) { return (mask >> k & 1) != 0; }
  int64_t Size(int k) const { return buffers_.sizes[static_cast<size_t>(k)]; }
  const ResidualBasis& Basis(int k) const { return index_.basis(table_[static_cast<size_t>(k)]); }

  void Convert(size_t mask) {
    const ResidualIndex::Entry& entry = *buffers_.entries[mask];
    CheckHasValues(entry);
    std::visit(
        [&](const auto& values) {
          const auto size = static_cast<int64_t>(values.size());
          ConvertValues(values.data(), size, entry.unit, buffers_.residuals[mask].Resize(size));
        },
        entry.values);
  }

  void CompleteSubset(size_t subset) {
    int64_t sizes[64];
    size_t identity_axes = 0;
    int num_axes = 0;
    int64_t num_cells = 1;
    double num_identity_cells = 1;
    buffers_.faces.clear();
    for (int k = 0; k < order_; ++k) {
      if (!Has(subset | inverted_, k)) continue;
      buffers_.faces.push_back(nullptr);
      if (Has(subset, k)) {
        identity_axes |= Bit(num_axes);
        buffers_.faces.back() = buffers_.scaled[subset ^ Bit(k)].data();
        num_identity_cells *= static_cast<double>(Size(k));
      }
      num_cells *= Size(k);
      sizes[num_axes++] = Size(k);
    }
    const bool is_table = subset == identity_axes_;
    double* out = is_table ? counts_ : buffers_.scaled[subset].Resize(num_cells);
    const double divisor = is_table ? num_identity_cells : 1;
    const CompletionShape shape{std::span<const int64_t>(sizes, static_cast<size_t>(num_axes)),
                                identity_axes};
    if (inverted_ != 0) {
      const double* values = is_table ? counts_ : buffers_.residuals[subset].data();
      Complete(shape, values, buffers_.faces, divisor, buffers_, is_parallel_, out);
    } else {
      CompleteEntry(shape, *buffers_.entries[subset], buffers_.faces, divisor, buffers_,
                    is_parallel_, out);
    }
  }

  // u_S <- P u_{S + k} + z u_S along axis k, for every S without it. The axes of `done` are full in
  // every tensor.
  void InvertAxis(int k, size_t done) {
    const size_t open = all_ & ~done & ~Bit(k);
    const bool is_last = (open & inverted_) == 0;
    for (size_t mask = open;; mask = (mask - 1) & open) {
      AxisView view{1, NumResidualRows(Basis(k)), 1};
      for (int j = 0; j < order_; ++j) {
        if (j == k || !Has(mask | done, j)) continue;
        const int64_t size = Has(done, j) ? Size(j) : NumResidualRows(Basis(j));
        (j < k ? view.outer : view.inner) *= size;
      }
      const bool is_table = is_last && mask == (open & identity_axes_);
      double* result =
          is_table ? counts_ : buffers_.result.Resize(view.outer * Size(k) * view.inner);
      ApplyInverse(Basis(k), view, buffers_.residuals[mask | Bit(k)].data(),
                   buffers_.residuals[mask].data(), result);
      if (!is_table) std::swap(buffers_.residuals[mask], buffers_.result);
      if (mask == 0) break;
    }
  }

  void ApplyInverse(const ResidualBasis& basis, const AxisView& view, const double* residual,
                    const double* constant, double* result) const {
    const int64_t num_rows = view.size;
    const int64_t size = basis.size;
    if (const StructuredInverse* structured = basis.inverse->structured.get()) {
      ForEach(is_parallel_, view.outer, [&](int64_t o) {
        structured->Apply(1, view.inner, residual + o * num_rows * view.inner,
                          constant + o * view.inner, result + o * size * view.inner);
      });
      return;
    }
    if (view.inner == 1) {
      const int64_t stripe = 1024;
      ForEach(is_parallel_, (view.outer + stripe - 1) / stripe, [&](int64_t part) {
        const int64_t begin = part * stripe;
        const int64_t count = std::min(stripe, view.outer - begin);
        RowMajorOutput out(result + begin * size, count, size);
        MultiplyByTransposed(RowMajorValues(residual + begin * num_rows, count, num_rows),
                             basis.inverse->residual, out);
        out += Eigen::Map<const Eigen::VectorXd>(constant + begin, count) *
               basis.inverse->constant.transpose();
      });
      return;
    }
    ForEach(is_parallel_, view.outer, [&](int64_t o) {
      RowMajorOutput out(result + o * size * view.inner, size, view.inner);
      MultiplyFromLeft(basis.inverse->residual,
                       RowMajorValues(residual + o * num_rows * view.inner, num_rows, view.inner),
                       out);
      out += basis.inverse->constant *
             Eigen::Map<const Eigen::RowVectorXd>(constant + o * view.inner, view.inner);
    });
  }

  const ResidualIndex& index_;
  const AttributeSet& table_;
  ReconstructionWorkspace::Buffers& buffers_;
  double* counts_;
  int64_t num_cells_ = 1;
  int order_;
  size_t all_;
  size_t identity_axes_ = 0;
  size_t inverted_ = 0;
  bool is_parallel_;
};

}  // namespace

void ReconstructInto(const ResidualIndex& index, const AttributeSet& table,
                     ReconstructionWorkspace& workspace, std::span<double> counts,
                     TableThreads threads) {
  index.FindSubsets(table, &workspace.buffers().entries);
  Reconstruction reconstruction(index, table, workspace.buffers(), counts.data(),
                                threads == TableThreads::kAll);
  if (reconstruction.num_cells() != std::ssize(counts)) {
    Fail(ErrorKind::kBadInput, "the table {} has {} cells; there is room for {}",
         SetName(index.domain(), table), reconstruction.num_cells(), counts.size());
  }
  reconstruction.Run();
}

void ReconstructFaces(const ResidualIndex& index, const AttributeSet& table,
                      ReconstructionWorkspace& workspace) {
  ReconstructionWorkspace::Buffers& buffers = workspace.buffers();
  index.FindSubsets(table, &buffers.entries);
  Reconstruction(index, table, buffers, nullptr, true).RunFaces();
  buffers.faces.clear();
  const size_t all = (size_t{1} << table.size()) - 1;
  for (size_t k = 0; k < table.size(); ++k) {
    buffers.faces.push_back(buffers.scaled[all ^ size_t{1} << k].data());
  }
}

std::vector<double> Reconstruct(const ResidualIndex& index, const AttributeSet& table) {
  // Refused before memory is taken for it.
  std::vector<const ResidualIndex::Entry*> entries;
  index.FindSubsets(table, &entries);
  std::vector<double> counts(static_cast<size_t>(index.NumCells(table)));
  ReconstructionWorkspace workspace;
  ReconstructInto(index, table, workspace, counts, TableThreads::kAll);
  return counts;
}

}  // namespace residua
