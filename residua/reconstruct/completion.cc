#include "residua/reconstruct/completion.h"

#include <algorithm>
#include <type_traits>

#include "residua/base/error.h"
#include "residua/reconstruct/axis_sweeps.h"

namespace residua {
namespace {

// A table is swept in blocks of whole trailing axes, of this many cells at least: large enough that
// finding a block costs little compared with the work on it.
constexpr int64_t kMinBlockCells = 64;

// Up to this size a three-way table stays in the nearest caches between its two sweeps.
constexpr int64_t kSmallCubeCells = int64_t{1} << 14;

// Sums along the first axis of a large table are formed in this many parts, whatever the number of
// threads: enough for 8 threads, few enough to hold.
constexpr int64_t kMaxParts = 8;

// Sums along the first axis are kept in the second-level cache, this many cells at a time.
constexpr int64_t kTileCells = int64_t{1} << 13;

}  // namespace

class Completion {
 public:
  Completion(const CompletionShape& shape, ReconstructionWorkspace::Buffers& buffers,
             bool is_parallel)
      : sizes_(shape.sizes),
        order_(static_cast<int>(shape.sizes.size())),
        identity_axes_(shape.identity_axes),
        buffers_(buffers),
        num_leading_(order_) {
    for (const int64_t size : sizes_) num_cells_ *= size;
    is_large_ = num_cells_ >= kLargeTableCells;
    is_parallel_ = is_parallel && is_large_;
    while (num_leading_ > 0 && block_cells_ < kMinBlockCells) block_cells_ *= Size(--num_leading_);
    num_blocks_ = num_cells_ / block_cells_;
    num_parts_ = is_large_ && num_leading_ > 0 ? std::min(kMaxParts, Size(0)) : 1;
    first_size_ = num_leading_ > 0 ? Size(0) : 1;
    slab_cells_ = num_cells_ / first_size_;
    sums_first_ = num_leading_ > 0 && Has(0);
    if (static_cast<int64_t>(buffers_.blocks.size()) < num_parts_) {
      buffers_.blocks.resize(static_cast<size_t>(num_parts_));
      buffers_.parts.resize(static_cast<size_t>(num_parts_));
    }
    if (static_cast<int>(buffers_.corrections.size()) < order_) {
      buffers_.corrections.resize(static_cast<size_t>(order_));
    }
    // Rows of two leading axes, summed and added to in one pass.
    has_long_rows_ = num_leading_ == 2 && order_ == 3 && identity_axes_ == 7;
  }

  template <typename Value>
  void Run(const Value* values, std::span<const double* const> faces, double number, double* out) {
    const Divisor divisor(number);
    if constexpr (std::is_same_v<Value, int64_t>) {
      if (order_ == 3 && identity_axes_ == 7 && num_cells_ <= kSmallCubeCells) {
        RunSmallCube(values, faces, divisor, out);
        return;
      }
    }
    Sum(values);
    Correct(faces);
    Add(0, num_blocks_, values, divisor, out);
  }

 protected:
  int64_t Size(int k) const { return sizes_[static_cast<size_t>(k)]; }
  bool Has(int k) const { return (identity_axes_ >> k & 1) != 0; }
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
    ConvertValues(values, count, 1, buffer);
    return buffer;
  }

  void RunSmallCube(const int64_t* values, std::span<const double* const> faces,
                    const Divisor& divisor, double* out) {
    const CubeSizes sizes{Size(0), Size(1), Size(2)};
    double* cells = buffers_.blocks[0].Resize(num_cells_);
    for (int k = 0; k < 3; ++k) {
      buffers_.corrections[static_cast<size_t>(k)].Resize(num_cells_ / Size(k));
    }
    SumSmallCube(values, sizes, buffers_.next, cells, Correction(0), Correction(1), Correction(2));
    CorrectSmallCube(sizes, faces.data(), buffers_.sums.Resize(std::max(Size(1), Size(2))),
                     Correction(0), Correction(1), Correction(2));
    AddToSmallCube(cells, sizes, Correction(0), Correction(1), Correction(2), divisor, out);
  }

  // corrections[k] = the sums of the tensor along axis k.
  template <typename Value>
  void Sum(const Value* values) {
    StartSums();
    // The first axis is cut into parts. The others' sums are whole in each.
    ForEach(is_parallel_, num_parts_, [&](int64_t part) {
      ScratchBuffer& buffer =
          num_parts_ == 1 ? buffers_.corrections[0] : buffers_.parts[static_cast<size_t>(part)];
      const int64_t begin = part * first_size_ / num_parts_;
      const int64_t end = (part + 1) * first_size_ / num_parts_;
      SumPart(part, begin, end, values + begin * slab_cells_, StartPart(buffer));
    });
    if (!sums_first_ || num_parts_ == 1) return;
    double* sums = Correction(0);
    std::fill(sums, sums + slab_cells_, 0.0);
    for (int64_t part = 0; part < num_parts_; ++part) {
      AddScaled(buffers_.parts[static_cast<size_t>(part)].data(), 1, slab_cells_, sums);
    }
  }

  void StartSums() {
    for (int k = 0; k < order_; ++k) {
      if (!Has(k)) continue;
      const int64_t size = num_cells_ / Size(k);
      double* sums = buffers_.corrections[static_cast<size_t>(k)].Resize(size);
      if (k > 0 && k < num_leading_) std::fill(sums, sums + size, 0.0);
    }
  }

  // Sums along the first axis, cleared; null if there are none.
  double* StartPart(ScratchBuffer& buffer) const {
    if (!sums_first_) return nullptr;
    double* sums = buffer.Resize(slab_cells_);
    std::fill(sums, sums + slab_cells_, 0.0);
    return sums;
  }

  // Adds slabs [begin, end) to the sums along every axis; `values` are those of slab `begin`.
  template <typename Value>
  void SumPart(int64_t part, int64_t begin, int64_t end, const Value* values, double* first_sums) {
    const int64_t blocks_per_slab = num_blocks_ / first_size_;
    const int64_t tile = std::max<int64_t>(1, kTileCells / block_cells_);
    double* buffer = buffers_.blocks[static_cast<size_t>(part)].Resize(block_cells_);
    for (int64_t tile_begin = 0; tile_begin < blocks_per_slab; tile_begin += tile) {
      const int64_t tile_end = std::min(tile_begin + tile, blocks_per_slab);
      for (int64_t slab = begin; slab < end; ++slab) {
        for (int64_t place = tile_begin; place < tile_end; ++place) {
          const int64_t block = slab * blocks_per_slab + place;
          const Value* block_values =
              values + ((slab - begin) * blocks_per_slab + place) * block_cells_;
          if constexpr (std::is_same_v<Value, int64_t>) {
            if (has_long_rows_) {
              Correction(2)[block] =
                  SumLongRow(block_values, block_cells_, first_sums + place * block_cells_,
                             Correction(1) + slab * block_cells_);
              continue;
            }
          }
          const double* cells = Load(block_values, block_cells_, buffer);
          if (sums_first_) AddScaled(cells, 1, block_cells_, first_sums + place * block_cells_);
          SumBlock(block, cells);
        }
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

  // Blocks [begin, end); `values` and `out` are those of block `begin`.
  template <typename Value>
  void Add(int64_t begin, int64_t end, const Value* values, const Divisor& divisor, double* out) {
    ForEach(is_parallel_, num_parts_, [&](int64_t part) {
      double* cells = buffers_.blocks[static_cast<size_t>(part)].Resize(block_cells_);
      const int64_t last = begin + (part + 1) * (end - begin) / num_parts_;
      for (int64_t block = begin + part * (end - begin) / num_parts_; block < last; ++block) {
        const Value* block_values = values + (block - begin) * block_cells_;
        double* block_out = out + (block - begin) * block_cells_;
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
  size_t identity_axes_;
  ReconstructionWorkspace::Buffers& buffers_;
  int64_t num_cells_ = 1;
  bool is_large_ = false;
  bool is_parallel_ = false;
  // The tensor as blocks: the axes before `num_leading_` index them, the others lie within.
  int num_leading_;
  int64_t block_cells_ = 1;
  int64_t num_blocks_ = 1;
  int64_t num_parts_ = 1;
  int64_t first_size_ = 1;  // of the first axis, where it is a leading one
  int64_t slab_cells_ = 1;
  bool sums_first_ = false;  // along it
  bool has_long_rows_ = false;
};

void Complete(const CompletionShape& shape, const int64_t* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out) {
  Completion(shape, buffers, is_parallel).Run(values, faces, divisor, out);
}

void Complete(const CompletionShape& shape, const Int128* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out) {
  Completion(shape, buffers, is_parallel).Run(values, faces, divisor, out);
}

void Complete(const CompletionShape& shape, const double* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out) {
  Completion(shape, buffers, is_parallel).Run(values, faces, divisor, out);
}

void CompleteEntry(const CompletionShape& shape, const ResidualIndex::Entry& entry,
                   std::span<const double* const> faces, double divisor,
                   ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out) {
  CheckHasValues(entry);
  std::visit(
      [&](const auto& values) {
        if (entry.unit == 1) {
          return Complete(shape, values.data(), faces, divisor, buffers, is_parallel, out);
        }
        const auto size = static_cast<int64_t>(values.size());
        double* const cells = buffers.converted.Resize(size);
        ConvertValues(values.data(), size, entry.unit, cells);
        Complete(shape, static_cast<const double*>(cells), faces, divisor, buffers, is_parallel,
                 out);
      },
      entry.values);
}

// The parts of the first axis come one after the other, each in the same scratch.
class SlabCompletion::Slabs : public Completion {
 public:
  Slabs(const CompletionShape& shape, ReconstructionWorkspace::Buffers& buffers)
      : Completion(shape, buffers, true) {
    RESIDUA_CHECK(is_large_ && num_leading_ > 0);
    StartSums();
    if (sums_first_) std::fill(Correction(0), Correction(0) + slab_cells_, 0.0);
  }

  template <typename Value>
  void Sum(const Value* values, int64_t num_slabs) {
    RESIDUA_CHECK(num_slabs <= first_size_ - num_summed_);
    while (num_slabs > 0) {
      const int64_t part_begin = part_ * first_size_ / num_parts_;
      const int64_t part_end = (part_ + 1) * first_size_ / num_parts_;
      ScratchBuffer& scratch = buffers_.parts[0];
      double* sums = num_summed_ == part_begin ? StartPart(scratch) : scratch.data();
      const int64_t end = std::min(part_end, num_summed_ + num_slabs);
      SumPart(0, num_summed_, end, values, sums);
      values += (end - num_summed_) * slab_cells_;
      num_slabs -= end - num_summed_;
      num_summed_ = end;
      if (end < part_end) continue;
      if (sums_first_) AddScaled(sums, 1, slab_cells_, Correction(0));
      ++part_;
    }
  }

  void CorrectAll(std::span<const double* const> faces) {
    RESIDUA_CHECK(num_summed_ == first_size_);
    Correct(faces);
  }

  template <typename Value>
  void AddSlabs(const Value* values, int64_t num_slabs, double divisor, double* out) {
    RESIDUA_CHECK(num_slabs <= first_size_ - num_added_);
    const int64_t blocks_per_slab = num_blocks_ / first_size_;
    Add(num_added_ * blocks_per_slab, (num_added_ + num_slabs) * blocks_per_slab, values,
        Divisor(divisor), out);
    num_added_ += num_slabs;
  }

 private:
  int64_t part_ = 0;
  int64_t num_summed_ = 0;
  int64_t num_added_ = 0;
};

SlabCompletion::SlabCompletion(const CompletionShape& shape,
                               ReconstructionWorkspace::Buffers& buffers)
    : slabs_(std::make_unique<Slabs>(shape, buffers)) {}
SlabCompletion::~SlabCompletion() = default;

void SlabCompletion::Sum(const int64_t* values, int64_t num_slabs) {
  slabs_->Sum(values, num_slabs);
}
void SlabCompletion::Sum(const double* values, int64_t num_slabs) {
  slabs_->Sum(values, num_slabs);
}
void SlabCompletion::Correct(std::span<const double* const> faces) { slabs_->CorrectAll(faces); }
void SlabCompletion::Add(const int64_t* values, int64_t num_slabs, double divisor, double* out) {
  slabs_->AddSlabs(values, num_slabs, divisor, out);
}
void SlabCompletion::Add(const double* values, int64_t num_slabs, double divisor, double* out) {
  slabs_->AddSlabs(values, num_slabs, divisor, out);
}

}  // namespace residua
