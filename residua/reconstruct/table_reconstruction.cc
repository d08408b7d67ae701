#include "residua/reconstruct/table_reconstruction.h"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <type_traits>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/scratch_buffer.h"

namespace residua {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A table is swept in blocks of whole trailing axes, of this many cells at least: long enough that
// the work of a block hides what it takes to find it.
constexpr int64_t kMinBlockCells = 64;

// Up to here a three-way table stays in the nearest caches between its two sweeps.
constexpr int64_t kSmallCubeCells = int64_t{1} << 14;

// From here on a table is worth several threads, and its counts are written past the caches.
constexpr int64_t kLargeTableCells = int64_t{1} << 21;

// Sums along the first axis of a large table are formed in this many parts, whatever the number of
// threads: enough for 8 threads, few enough to hold.
constexpr int64_t kMaxParts = 8;

// Sums along the first axis are kept in the second-level cache, this many cells at a time.
constexpr int64_t kTileCells = int64_t{1} << 13;

template <typename Body>
void ForEach(bool is_parallel, int64_t count, const Body& body) {
  if (is_parallel && count > 1) {
    tbb::parallel_for(int64_t{0}, count, body);
  } else {
    for (int64_t k = 0; k < count; ++k) body(k);
  }
}

}  // namespace

struct ReconstructionWorkspace::Buffers {
  std::vector<const ResidualIndex::Entry*> entries;
  std::vector<int64_t> sizes;            // of each axis of the table
  std::vector<ScratchBuffer> residuals;  // of each subset of the axes, by mask
  std::vector<ScratchBuffer>
      scaled;  // likewise: the table on the subset, times its number of cells
  std::vector<const double*> faces;
  const int64_t* next = nullptr;  // what will be read after this table, as many values
  std::vector<ScratchBuffer> corrections;
  ScratchBuffer result;
  ScratchBuffer sums;
  std::vector<ScratchBuffer> parts;
  std::vector<ScratchBuffer> blocks;
};

ReconstructionWorkspace::ReconstructionWorkspace() : buffers_(std::make_unique<Buffers>()) {}
ReconstructionWorkspace::ReconstructionWorkspace(ReconstructionWorkspace&&) noexcept = default;
ReconstructionWorkspace& ReconstructionWorkspace::operator=(ReconstructionWorkspace&&) noexcept =
    default;
ReconstructionWorkspace::~ReconstructionWorkspace() = default;

namespace {

// One tensor u of shape `sizes`, completed: with C_k = I - 1 1^T / n_k along axis k,
//   f = (prod over centred k of C_k) u + what has the means faces[k] along each such axis k.
// The faces agree on what they share. As I - prod C_k = J_1 + C_1 J_2 + C_1 C_2 J_3 + ..., J_k =
// I - C_k,
//   f = u + sum over k of C_1 ... C_{k-1} (faces[k] - mean of u along k), spread along k:
// u is read twice, once for its sums along each axis, once to add to it.
class Completion {
 public:
  Completion(std::span<const int64_t> sizes, size_t centred,
             ReconstructionWorkspace::Buffers& buffers, bool is_parallel)
      : sizes_(sizes),
        order_(static_cast<int>(sizes.size())),
        centred_(centred),
        buffers_(buffers),
        num_leading_(order_) {
    for (const int64_t size : sizes) num_cells_ *= size;
    is_large_ = num_cells_ >= kLargeTableCells;
    is_parallel_ = is_parallel && is_large_;
    while (num_leading_ > 0 && block_cells_ < kMinBlockCells) block_cells_ *= Size(--num_leading_);
    num_blocks_ = num_cells_ / block_cells_;
    num_parts_ = is_large_ && num_leading_ > 0 ? std::min(kMaxParts, Size(0)) : 1;
    if (static_cast<int64_t>(buffers_.blocks.size()) < num_parts_) {
      buffers_.blocks.resize(static_cast<size_t>(num_parts_));
      buffers_.parts.resize(static_cast<size_t>(num_parts_));
    }
    if (static_cast<int>(buffers_.corrections.size()) < order_) {
      buffers_.corrections.resize(static_cast<size_t>(order_));
    }
    // Rows of two leading axes, summed and added to in one go.
    has_long_rows_ = num_leading_ == 2 && order_ == 3 && centred_ == 7;
  }

  // out = f / divisor. `values` may be `out`.
  template <typename Value>
  void Run(const Value* values, std::span<const double* const> faces, double divisor, double* out) {
    if constexpr (std::is_same_v<Value, int64_t>) {
      if (order_ == 3 && centred_ == 7 && num_cells_ <= kSmallCubeCells) {
        RunSmallCube(values, faces, divisor, out);
        return;
      }
    }
    Sum(values);
    Correct(faces);
    Add(values, divisor, out);
  }

 private:
  int64_t Size(int k) const { return sizes_[static_cast<size_t>(k)]; }
  bool Has(int k) const { return (centred_ >> k & 1) != 0; }
  double* Correction(int k) const { return buffers_.corrections[static_cast<size_t>(k)].data(); }

  // The place of block `block` among the blocks of the tensor without the leading axis k.
  int64_t BlockWithout(int k, int64_t block) const {
    int64_t inner = 1;
    for (int j = k + 1; j < num_leading_; ++j) inner *= Size(j);
    return block / (inner * Size(k)) * inner + block % inner;
  }

  AxisView ViewInBlock(int k) const {
    int64_t inner = 1;
    for (int j = k + 1; j < order_; ++j) inner *= Size(j);
    return {block_cells_ / (Size(k) * inner), Size(k), inner};
  }

  static const double* Load(const double* values, int64_t /*count*/, double* /*buffer*/) {
    return values;
  }
  template <typename Value>
  static const double* Load(const Value* values, int64_t count, double* buffer) {
    ConvertValues(values, count, buffer);
    return buffer;
  }

  void RunSmallCube(const int64_t* values, std::span<const double* const> faces, double divisor,
                    double* out) {
    const CubeSizes sizes{Size(0), Size(1), Size(2)};
    double* cells = buffers_.blocks[0].Resize(num_cells_);
    for (int k = 0; k < 3; ++k) {
      buffers_.corrections[static_cast<size_t>(k)].Resize(num_cells_ / Size(k));
    }
    SumSmallCube(values, sizes, buffers_.next, cells, Correction(0), Correction(1), Correction(2));
    Correct(faces);
    AddToSmallCube(cells, sizes, Correction(0), Correction(1), Correction(2), divisor, out);
  }

  // corrections[k] = the sums of the tensor along axis k.
  template <typename Value>
  void Sum(const Value* values) {
    for (int k = 0; k < order_; ++k) {
      if (!Has(k)) continue;
      const int64_t size = num_cells_ / Size(k);
      double* sums = buffers_.corrections[static_cast<size_t>(k)].Resize(size);
      if (k > 0 && k < num_leading_) std::fill(sums, sums + size, 0.0);
    }
    // The first axis is cut into parts. The others' sums are whole in each.
    const bool sums_first = Has(0) && num_leading_ > 0;
    const int64_t first_size = num_leading_ > 0 ? Size(0) : 1;
    const int64_t face_size = num_cells_ / first_size;
    const int64_t blocks_per_slab = num_blocks_ / first_size;
    const int64_t tile = std::max<int64_t>(1, kTileCells / block_cells_);
    ForEach(is_parallel_, num_parts_, [&](int64_t part) {
      double* first_sums = nullptr;
      if (sums_first) {
        ScratchBuffer& buffer =
            num_parts_ == 1 ? buffers_.corrections[0] : buffers_.parts[static_cast<size_t>(part)];
        first_sums = buffer.Resize(face_size);
        std::fill(first_sums, first_sums + face_size, 0.0);
      }
      double* buffer = buffers_.blocks[static_cast<size_t>(part)].Resize(block_cells_);
      const int64_t begin = part * first_size / num_parts_;
      const int64_t end = (part + 1) * first_size / num_parts_;
      for (int64_t tile_begin = 0; tile_begin < blocks_per_slab; tile_begin += tile) {
        const int64_t tile_end = std::min(tile_begin + tile, blocks_per_slab);
        for (int64_t slab = begin; slab < end; ++slab) {
          for (int64_t place = tile_begin; place < tile_end; ++place) {
            const int64_t block = slab * blocks_per_slab + place;
            const Value* block_values = values + block * block_cells_;
            if constexpr (std::is_same_v<Value, int64_t>) {
              if (has_long_rows_) {
                Correction(2)[block] =
                    SumLongRow(block_values, block_cells_, first_sums + place * block_cells_,
                               Correction(1) + slab * block_cells_);
                continue;
              }
            }
            const double* cells = Load(block_values, block_cells_, buffer);
            if (sums_first) AddScaled(cells, 1, block_cells_, first_sums + place * block_cells_);
            SumBlock(block, cells);
          }
        }
      }
    });
    if (sums_first && num_parts_ > 1) {
      double* sums = Correction(0);
      std::fill(sums, sums + face_size, 0.0);
      for (int64_t part = 0; part < num_parts_; ++part) {
        AddScaled(buffers_.parts[static_cast<size_t>(part)].data(), 1, face_size, sums);
      }
    }
  }

  void SumBlock(int64_t block, const double* cells) {
    for (int k = num_leading_ > 0 ? 1 : 0; k < order_; ++k) {
      if (!Has(k)) continue;
      if (k < num_leading_) {
        AddScaled(cells, 1, block_cells_, Correction(k) + BlockWithout(k, block) * block_cells_);
      } else {
        SumAlongAxis(ViewInBlock(k), cells, Correction(k) + block * (block_cells_ / Size(k)));
      }
    }
  }

  // corrections[k] = C_1 ... C_{k-1} (faces[k] - corrections[k] / n_k).
  void Correct(std::span<const double* const> faces) {
    for (int k = 0; k < order_; ++k) {
      if (!Has(k)) continue;
      double* correction = Correction(k);
      const int64_t size = num_cells_ / Size(k);
      SubtractMean(faces[static_cast<size_t>(k)], static_cast<double>(Size(k)), size, correction);
      for (int j = 0; j < k; ++j) {
        if (!Has(j)) continue;
        AxisView view{1, Size(j), 1};
        for (int i = 0; i < order_; ++i) {
          if (i != j && i != k) (i < j ? view.outer : view.inner) *= Size(i);
        }
        double* sums = buffers_.sums.Resize(view.outer * view.inner);
        SumAlongAxis(view, correction, sums);
        AddAlongAxis(view, sums, -1 / static_cast<double>(view.size), correction);
      }
    }
  }

  template <typename Value>
  void Add(const Value* values, double divisor, double* out) {
    ForEach(is_parallel_, num_parts_, [&](int64_t part) {
      double* cells = buffers_.blocks[static_cast<size_t>(part)].Resize(block_cells_);
      const int64_t end = (part + 1) * num_blocks_ / num_parts_;
      for (int64_t block = part * num_blocks_ / num_parts_; block < end; ++block) {
        const Value* block_values = values + block * block_cells_;
        double* block_out = out + block * block_cells_;
        if constexpr (std::is_same_v<Value, int64_t>) {
          if (has_long_rows_ && is_large_) {
            AddToLongRow(block_values, Correction(0) + block % Size(1) * block_cells_,
                         Correction(1) + block / Size(1) * block_cells_, Correction(2)[block],
                         divisor, block_cells_, block_out);
            continue;
          }
        }
        const double* loaded = Load(block_values, block_cells_, cells);
        if (loaded != cells) std::copy(loaded, loaded + block_cells_, cells);
        AddToBlock(block, cells);
        DivideInto(cells, divisor, block_cells_, block_out);
      }
      FinishLongRows();
    });
  }

  void AddToBlock(int64_t block, double* cells) const {
    for (int k = 0; k < order_; ++k) {
      if (!Has(k)) continue;
      if (k < num_leading_) {
        AddScaled(Correction(k) + BlockWithout(k, block) * block_cells_, 1, block_cells_, cells);
      } else {
        AddAlongAxis(ViewInBlock(k), Correction(k) + block * (block_cells_ / Size(k)), 1, cells);
      }
    }
  }

  std::span<const int64_t> sizes_;
  int order_;
  size_t centred_;
  ReconstructionWorkspace::Buffers& buffers_;
  int64_t num_cells_ = 1;
  bool is_large_ = false;
  bool is_parallel_ = false;
  // The tensor as blocks: the axes before `num_leading_` index them, the others lie within.
  int num_leading_;
  int64_t block_cells_ = 1;
  int64_t num_blocks_ = 1;
  int64_t num_parts_ = 1;
  bool has_long_rows_ = false;
};

// One table from its residuals. A subset of the axes is a mask, bit k for table[k]. Axes of other
// bases than the ordinary are inverted first, by their matrices [z | P]; from then on every tensor
// u_S, S a subset of the `centred_` axes, has all of those axes. As z = 1 / n and P acts as C / n
// on a centred axis, the table on S times prod_{i in S} n_i is
//   f_S = sum over S' subset S of C_{S'} u_{S'}, spread over the axes it lacks,
// and has means f_{S - k} along axis k: a Completion of u_S by smaller tables.
class Reconstruction {
 public:
  Reconstruction(const ResidualIndex& index, const AttributeSet& table,
                 ReconstructionWorkspace::Buffers& buffers, std::span<double> counts,
                 bool is_parallel)
      : index_(index),
        table_(table),
        buffers_(buffers),
        counts_(counts.data()),
        order_(static_cast<int>(table.size())),
        all_((size_t{1} << table.size()) - 1),
        is_parallel_(is_parallel) {
    int64_t num_cells = 1;
    buffers.sizes.clear();
    for (int k = 0; k < order_; ++k) {
      buffers.sizes.push_back(Basis(k).size);
      num_cells = CheckedMultiply(num_cells, Basis(k).size);
      (Basis(k).is_identity() ? centred_ : inverted_) |= Bit(k);
    }
    if (num_cells != static_cast<int64_t>(counts.size())) {
      Fail(ErrorKind::kBadInput, "the table {} has {} cells; there is room for {}",
           SetName(index.domain(), table), num_cells, counts.size());
    }
    is_parallel_ = is_parallel && num_cells >= kLargeTableCells;
    if (buffers.residuals.size() <= all_) {
      buffers.residuals.resize(all_ + 1);
      buffers.scaled.resize(all_ + 1);
    }
  }

  // The same from the tables one axis smaller, times their numbers of cells, where all axes are
  // centred; only the residual of the whole is read.
  void RunFromFaces(const ResidualIndex::Entry& entry, std::span<const double* const> faces,
                    bool is_scaled) {
    RESIDUA_CHECK(inverted_ == 0);
    double num_cells = 1;
    for (const int64_t size : buffers_.sizes) num_cells *= static_cast<double>(size);
    Completion completion(buffers_.sizes, centred_, buffers_, is_parallel_);
    std::visit(
        [&](const auto& values) {
          completion.Run(values.data(), faces, is_scaled ? 1 : num_cells, counts_);
        },
        entry.values);
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
      if (centred_ == 0) return;
    }
    for (size_t subset = 0;; subset = (subset - centred_) & centred_) {
      Complete(subset);
      if (subset == centred_) break;
    }
  }

 private:
  static size_t Bit(int k) { return size_t{1} << k; }
  static bool Has(size_t mask, int k) { return (mask >> k & 1) != 0; }
  int64_t Size(int k) const { return buffers_.sizes[static_cast<size_t>(k)]; }
  const ResidualBasis& Basis(int k) const { return index_.basis(table_[static_cast<size_t>(k)]); }

  void Convert(size_t mask) {
    std::visit(
        [&](const auto& values) {
          const auto size = static_cast<int64_t>(values.size());
          ConvertValues(values.data(), size, buffers_.residuals[mask].Resize(size));
        },
        buffers_.entries[mask]->values);
  }

  void Complete(size_t subset) {
    int64_t sizes[64];
    size_t centred = 0;
    int num_axes = 0;
    int64_t num_cells = 1;
    double num_centred_cells = 1;
    buffers_.faces.clear();
    for (int k = 0; k < order_; ++k) {
      if (!Has(subset | inverted_, k)) continue;
      buffers_.faces.push_back(nullptr);
      if (Has(subset, k)) {
        centred |= Bit(num_axes);
        buffers_.faces.back() = buffers_.scaled[subset ^ Bit(k)].data();
        num_centred_cells *= static_cast<double>(Size(k));
      }
      num_cells *= Size(k);
      sizes[num_axes++] = Size(k);
    }
    const bool is_table = subset == centred_;
    double* out = is_table ? counts_ : buffers_.scaled[subset].Resize(num_cells);
    const double divisor = is_table ? num_centred_cells : 1;
    Completion completion(std::span<const int64_t>(sizes, static_cast<size_t>(num_axes)), centred,
                          buffers_, is_parallel_);
    if (inverted_ != 0) {
      const double* values = is_table ? counts_ : buffers_.residuals[subset].data();
      completion.Run(values, buffers_.faces, divisor, out);
    } else {
      std::visit(
          [&](const auto& values) { completion.Run(values.data(), buffers_.faces, divisor, out); },
          buffers_.entries[subset]->values);
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
      const bool is_table = is_last && mask == (open & centred_);
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
    if (view.inner == 1) {
      const int64_t stripe = 1024;
      ForEach(is_parallel_, (view.outer + stripe - 1) / stripe, [&](int64_t part) {
        const int64_t begin = part * stripe;
        const int64_t count = std::min(stripe, view.outer - begin);
        Eigen::Map<RowMajor> out(result + begin * size, count, size);
        const Eigen::Map<const RowMajor> in(residual + begin * num_rows, count, num_rows);
        out.noalias() = in * basis.residual.transpose();
        out +=
            Eigen::Map<const Eigen::VectorXd>(constant + begin, count) * basis.constant.transpose();
      });
      return;
    }
    ForEach(is_parallel_, view.outer, [&](int64_t o) {
      Eigen::Map<RowMajor> out(result + o * size * view.inner, size, view.inner);
      const Eigen::Map<const RowMajor> in(residual + o * num_rows * view.inner, num_rows,
                                          view.inner);
      out.noalias() = basis.residual * in;
      out += basis.constant *
             Eigen::Map<const Eigen::RowVectorXd>(constant + o * view.inner, view.inner);
    });
  }

  const ResidualIndex& index_;
  const AttributeSet& table_;
  ReconstructionWorkspace::Buffers& buffers_;
  double* counts_;
  int order_;
  size_t all_;
  size_t centred_ = 0;
  size_t inverted_ = 0;
  bool is_parallel_;
};

}  // namespace

void ReconstructInto(const ResidualIndex& index, const AttributeSet& table,
                     ReconstructionWorkspace& workspace, std::span<double> counts,
                     TableThreads threads) {
  index.FindSubsets(table, &workspace.buffers().entries);
  Reconstruction(index, table, workspace.buffers(), counts, threads == TableThreads::kAll).Run();
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

namespace {

// Small tables of ordinary attributes only, made from the tables one attribute smaller, each of
// which is made once, whatever the number of tables it is part of.
class SharedFaces {
 public:
  // Gives up, and serves no table, if the smaller ones have more than `max_cells` cells.
  SharedFaces(const ResidualIndex& index, std::span<const AttributeSet> tables, int64_t max_cells)
      : index_(index), tables_(tables), begin_(static_cast<size_t>(index.size()), -1) {
    int64_t num_faces = 0;
    for (const AttributeSet& table : tables) {
      faces_of_table_.push_back(num_faces);
      num_faces += static_cast<int64_t>(table.size());
    }
    face_ids_.resize(static_cast<size_t>(num_faces));
    std::vector<std::atomic<bool>> is_asked(begin_.size());
    const auto ask = [&](int64_t id) { return !is_asked[static_cast<size_t>(id)].exchange(true); };
    tbb::parallel_for(size_t{0}, tables.size(), [&](size_t t) {
      if (!IsSuitable(tables[t])) return;
      FindFaces(tables[t], FaceIds(t));
      for (const int64_t id : FaceIds(t)) {
        if (id >= 0 && !is_asked[static_cast<size_t>(id)].load(std::memory_order_relaxed)) ask(id);
      }
    });
    std::vector<int64_t> asked;
    for (int64_t id = 0; id < index.size(); ++id) {
      if (is_asked[static_cast<size_t>(id)]) asked.push_back(id);
    }
    std::vector<int64_t> ids;
    int64_t num_cells = 0;
    for (size_t k = 0; k < asked.size(); ++k) {
      const AttributeSet set = SetOf(asked[k]);
      num_cells = CheckedAdd(num_cells, index.NumCells(set));
      if (num_cells > max_cells) return;
      ids.resize(set.size());
      FindFaces(set, ids);
      for (const int64_t id : ids) {
        if (id >= 0 && ask(id)) asked.push_back(id);
      }
    }
    MakeFaces(asked, num_cells);
  }

  // Tables [first, last) of the list, as far as they are small, each into `counts_of(t)`; the ones
  // that cannot be made from faces by way of `otherwise(t)`.
  template <typename CountsOf, typename Otherwise>
  void Make(size_t first, size_t last, ReconstructionWorkspace& workspace,
            const CountsOf& counts_of, const Otherwise& otherwise) const {
    int64_t next = index_.FindAfter(-1, tables_[first]);
    for (size_t t = first; t < last; ++t) {
      const int64_t id = next;
      next = t + 1 < last ? index_.FindAfter(id, tables_[t + 1]) : -1;
      workspace.buffers().next = id < 0 || next < 0 ? nullptr : SameShape(id, next);
      const std::span<double> counts = counts_of(t);
      if (static_cast<int64_t>(counts.size()) >= kLargeTableCells) continue;
      if (id < 0 || !IsSuitable(tables_[t]) ||
          !Make(id, tables_[t], FaceIds(t), workspace, counts, false)) {
        workspace.buffers().next = nullptr;
        otherwise(t);
      }
    }
  }

 private:
  // The values of entry `next`, if there are as many as of `id`.
  const int64_t* SameShape(int64_t id, int64_t next) const {
    const auto* now = std::get_if<std::span<const int64_t>>(&index_.entry(id).values);
    const auto* then = std::get_if<std::span<const int64_t>>(&index_.entry(next).values);
    const bool is_same = now != nullptr && then != nullptr && now->size() == then->size();
    return is_same ? then->data() : nullptr;
  }

  std::span<const int64_t> FaceIds(size_t t) const {
    return {face_ids_.data() + faces_of_table_[t], tables_[t].size()};
  }
  std::span<int64_t> FaceIds(size_t t) {
    return {face_ids_.data() + faces_of_table_[t], tables_[t].size()};
  }
  AttributeSet SetOf(int64_t id) const {
    return AttributeSet(index_.set(id).begin(), index_.set(id).end());
  }

  void FindFaces(const AttributeSet& table, std::span<int64_t> ids) const {
    int face[64];
    for (size_t k = 0; k < table.size(); ++k) {
      size_t size = 0;
      for (size_t j = 0; j < table.size(); ++j) {
        if (j != k) face[size++] = table[j];
      }
      ids[k] = index_.FindAfter(-1, std::span<const int>(face, size));
    }
  }

  void MakeFaces(const std::vector<int64_t>& ids, int64_t num_cells) {
    values_.Resize(num_cells);
    std::vector<std::vector<int64_t>> by_order;
    std::vector<int64_t> begin(begin_.size(), -1);
    int64_t end = 0;
    for (const int64_t id : ids) {
      const size_t order = index_.set(id).size();
      if (by_order.size() <= order) by_order.resize(order + 1);
      by_order[order].push_back(id);
      begin[static_cast<size_t>(id)] = end;
      end += index_.NumCells(index_.set(id));
    }
    tbb::enumerable_thread_specific<ReconstructionWorkspace> workspaces;
    for (const auto& members : by_order) {
      tbb::parallel_for(size_t{0}, members.size(), [&](size_t m) {
        const int64_t id = members[m];
        const AttributeSet set = SetOf(id);
        std::vector<int64_t> faces(set.size());
        FindFaces(set, faces);
        const int64_t at = begin[static_cast<size_t>(id)];
        if (Make(id, set, faces, workspaces.local(),
                 {values_.data() + at, static_cast<size_t>(index_.NumCells(set))}, true)) {
          begin_[static_cast<size_t>(id)] = at;
        }
      });
    }
  }

  // False, and nothing done, if a face is not covered.
  bool Make(int64_t id, const AttributeSet& table, std::span<const int64_t> face_ids,
            ReconstructionWorkspace& workspace, std::span<double> counts, bool is_scaled) const {
    ReconstructionWorkspace::Buffers& buffers = workspace.buffers();
    buffers.faces.clear();
    for (const int64_t face : face_ids) {
      if (face < 0 || begin_[static_cast<size_t>(face)] < 0) return false;
      buffers.faces.push_back(values_.data() + begin_[static_cast<size_t>(face)]);
    }
    Reconstruction(index_, table, buffers, counts, false)
        .RunFromFaces(index_.entry(id), buffers.faces, is_scaled);
    return true;
  }

  bool IsSuitable(const AttributeSet& table) const {
    int64_t num_cells = 1;
    for (const int i : table) {
      const ResidualBasis& basis = index_.basis(i);
      if (!basis.is_identity() || basis.size >= kLargeTableCells) return false;
      num_cells *= basis.size;
      if (num_cells >= kLargeTableCells) return false;
    }
    return true;
  }

  const ResidualIndex& index_;
  std::span<const AttributeSet> tables_;
  std::vector<int64_t> begin_;           // of each set's cells in `values_`; -1: not there
  std::vector<int64_t> face_ids_;        // the sets one smaller than each table, table by table
  std::vector<int64_t> faces_of_table_;  // where they begin
  ScratchBuffer values_;
};

}  // namespace

void ReconstructTables(const ResidualIndex& index, std::span<const AttributeSet> tables,
                       const ReconstructOptions& options,
                       const std::function<void(size_t, std::span<const double>)>& visit) {
  if (options.batch_bytes < 0 || options.num_threads < 0) {
    Fail(ErrorKind::kBadInput, "batches of {} bytes by {} threads; neither may be negative",
         options.batch_bytes, options.num_threads);
  }
  tbb::task_arena arena(options.num_threads > 0 ? options.num_threads
                                                : tbb::info::default_concurrency());
  tbb::enumerable_thread_specific<ReconstructionWorkspace> workspaces;
  const int64_t batch_cells = options.batch_bytes / static_cast<int64_t>(sizeof(double));
  ScratchBuffer buffer;
  std::vector<int64_t> begin;
  std::vector<int64_t> num_cells(tables.size());
  std::optional<SharedFaces> faces;
  arena.execute([&] {
    tbb::parallel_for(size_t{0}, tables.size(),
                      [&](size_t t) { num_cells[t] = index.NumCells(tables[t]); });
    faces.emplace(index, tables, batch_cells);
  });
  for (size_t first = 0; first < tables.size();) {
    begin.assign(1, 0);
    size_t last = first;
    do {
      begin.push_back(CheckedAdd(begin.back(), num_cells[last++]));
    } while (last < tables.size() && num_cells[last] <= batch_cells - begin.back());
    double* counts = buffer.Resize(begin.back());
    const auto counts_of = [&](size_t t) {
      return std::span(counts + begin[t], static_cast<size_t>(begin[t + 1] - begin[t]));
    };
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<size_t>(first, last), [&](const auto& range) {
        ReconstructionWorkspace& workspace = workspaces.local();
        faces->Make(
            range.begin(), range.end(), workspace, [&](size_t t) { return counts_of(t - first); },
            [&](size_t t) { ReconstructInto(index, tables[t], workspace, counts_of(t - first)); });
      });
      for (size_t t = 0; t < last - first; ++t) {
        if (counts_of(t).size() < kLargeTableCells) continue;
        ReconstructInto(index, tables[first + t], workspaces.local(), counts_of(t),
                        TableThreads::kAll);
      }
    });
    for (size_t t = 0; t < last - first; ++t) visit(first + t, counts_of(t));
    first = last;
  }
}

}  // namespace residua
