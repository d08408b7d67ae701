#include "residua/reconstruct/table_slabs.h"

#include <algorithm>
#include <limits>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/completion.h"

namespace residua {
namespace {

// Slabs are collected up to this many cells, or one slab: enough to keep threads busy.
constexpr int64_t kSlabCells = int64_t{1} << 20;

bool IsOfIdentityAttributes(const ResidualIndex& index, const AttributeSet& table) {
  return std::all_of(table.begin(), table.end(),
                     [&](int i) { return index.basis(i).is_identity(); });
}

}  // namespace

std::optional<int64_t> TableSlabs::BytesFor(std::span<const int64_t> sizes) {
  int64_t num_cells = 1;
  for (const int64_t size : sizes) num_cells = CheckedMultiply(num_cells, size);
  if (sizes.size() < 2 || num_cells < kLargeTableCells) return std::nullopt;
  // Of each smaller table: its values, as a face, corrected; and what is collected of this one.
  double smaller = 1;
  for (const int64_t size : sizes) smaller *= 1 + static_cast<double>(size);
  smaller -= static_cast<double>(num_cells);
  const auto slab = static_cast<double>(std::max(num_cells / sizes[0], kSlabCells));
  const double bytes = sizeof(double) * (3 * smaller + 4 * slab);
  if (bytes > 0x1p62) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(bytes);
}

std::optional<int64_t> TableSlabs::BytesFor(const ResidualIndex& index, const AttributeSet& table) {
  if (!IsOfIdentityAttributes(index, table)) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const int i : table) sizes.push_back(index.basis(i).size);
  return BytesFor(sizes);
}

class TableSlabs::Work {
 public:
  Work(const ResidualIndex& index, const AttributeSet& table, bool is_wide, int num_threads)
      : threads_(num_threads) {
    RESIDUA_CHECK(BytesFor(index, table).has_value());
    const ResidualIndex::Entry* entry = index.Find(table);
    RESIDUA_CHECK(entry != nullptr);
    unit_ = entry->unit;
    is_converted_ = is_wide || unit_ != 1;
    for (const int i : table) sizes_.push_back(index.basis(i).size);
    for (const int64_t size : sizes_) num_cells_ *= size;
    slab_cells_ = num_cells_ / sizes_[0];
    threads_.Run([&] { ReconstructFaces(index, table, workspace_); });
    const CompletionShape shape{sizes_, (size_t{1} << table.size()) - 1};
    completion_.emplace(shape, workspace_.buffers());
  }

  void Sum(ResidualValues piece) {
    Collect(piece,
            [&](const auto* values, int64_t num_slabs) { completion_->Sum(values, num_slabs); });
  }

  void Add(ResidualValues piece, const Visit& visit) {
    if (!is_corrected_) {
      RESIDUA_CHECK(num_passed_ == num_cells_);
      threads_.Run([&] { completion_->Correct(workspace_.buffers().faces); });
      is_corrected_ = true;
      num_passed_ = 0;
    }
    Collect(piece, [&](const auto* values, int64_t num_slabs) {
      const int64_t count = num_slabs * slab_cells_;
      double* counts = counts_.Resize(count);
      threads_.Run(
          [&] { completion_->Add(values, num_slabs, static_cast<double>(num_cells_), counts); });
      visit(num_passed_, {counts, static_cast<size_t>(count)});
    });
  }

 private:
  // Calls use(values, num_slabs) when there are enough of them, or all.
  template <typename Use>
  void Collect(ResidualValues piece, const Use& use) {
    std::visit(
        [&](const auto& values) {
          if (is_converted_) {
            const size_t size = doubles_.size();
            doubles_.resize(size + values.size());
            ConvertValues(values.data(), std::ssize(values), unit_, doubles_.data() + size);
            Pass(&doubles_, use);
          } else {
            integers_.insert(integers_.end(), values.begin(), values.end());
            Pass(&integers_, use);
          }
        },
        piece);
  }

  template <typename Value, typename Use>
  void Pass(std::vector<Value>* collected, const Use& use) {
    const int64_t size = std::ssize(*collected);
    RESIDUA_CHECK(size <= num_cells_ - num_passed_);
    const bool is_last = size == num_cells_ - num_passed_;
    const int64_t num_slabs = size / slab_cells_;
    if (num_slabs == 0 || (size < kSlabCells && !is_last)) return;
    use(static_cast<const Value*>(collected->data()), num_slabs);
    num_passed_ += num_slabs * slab_cells_;
    collected->erase(collected->begin(), collected->begin() + num_slabs * slab_cells_);
  }

  Threads threads_;
  ReconstructionWorkspace workspace_;
  std::vector<int64_t> sizes_;
  int64_t num_cells_ = 1;
  int64_t slab_cells_ = 1;
  double unit_ = 1;
  bool is_converted_ = false;
  std::optional<SlabCompletion> completion_;
  bool is_corrected_ = false;
  int64_t num_passed_ = 0;         // of the cells
  std::vector<int64_t> integers_;  // collected, one of the two
  std::vector<double> doubles_;
  ScratchBuffer counts_;
};

TableSlabs::TableSlabs(const ResidualIndex& index, const AttributeSet& table, bool is_wide,
                       int num_threads)
    : work_(std::make_unique<Work>(index, table, is_wide, num_threads)) {}
TableSlabs::~TableSlabs() = default;

void TableSlabs::Sum(ResidualValues piece) { work_->Sum(piece); }

void TableSlabs::Add(ResidualValues piece, const Visit& visit) { work_->Add(piece, visit); }

}  // namespace residua
