#include "residua/measure/true_slabs.h"

#include <algorithm>
#include <utility>

#include "residua/base/error.h"
#include "residua/measure/row_counter.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

// So many rows are dealt to the slabs at once, 4 bytes each.
constexpr int64_t kDealtRows = int64_t{1} << 20;
// So many of their cells are worked out together.
constexpr int64_t kDealtCells = 2048;

template <typename Value>
using UnsignedOf = std::conditional_t<sizeof(Value) == sizeof(uint64_t), uint64_t, UInt128>;

// The same memory without the sign: unsigned arithmetic is modular.
template <typename Value>
UnsignedOf<Value>* Modular(std::vector<Value>& values) {
  return reinterpret_cast<UnsignedOf<Value>*>(values.data());
}

int64_t SlabLength(const SlabCut& cut, int64_t slab) {
  const int64_t first = slab % cut.slabs_per_line() * cut.slab_size;
  return std::min(cut.slab_size, cut.size - first);
}

// The counts summed along the axis: num_before x num_after of them.
template <typename Value>
std::vector<Value> SumsAlongAxis(const TrueSlabs& table) {
  const SlabCut& cut = table.cut();
  std::vector<Value> sums(static_cast<size_t>(cut.num_before * cut.num_after), 0);
  for (int64_t slab = 0; slab < cut.num_slabs(); ++slab) {
    const int64_t line = slab / cut.slabs_per_line();
    table.tally(slab).AddTo(UnsignedOf<Value>{1}, cut.num_after,
                            Modular(sums) + line * cut.num_after);
  }
  return sums;
}

}  // namespace

TrueSlabs::TrueSlabs(const Domain& domain, AttributeSet attributes, const SlabCut& cut)
    : domain_(domain), attributes_(std::move(attributes)), cut_(cut) {
  RESIDUA_CHECK(MeanAttribute(domain, attributes_) < 0);
  for (int64_t slab = 0; slab < cut.num_slabs(); ++slab) {
    slabs_.emplace_back(SlabLength(cut, slab) * cut.num_after);
  }
}

void TrueSlabs::Add(const EncodedTable& rows) {
  const auto slab_cells = static_cast<uint64_t>(cut_.slab_cells());
  const auto line_cells = static_cast<uint64_t>(cut_.size * cut_.num_after);
  const auto slabs_per_line = static_cast<uint64_t>(cut_.slabs_per_line());
  std::vector<std::vector<uint32_t>> dealt(slabs_.size());
  std::vector<uint64_t> cells;
  for (int64_t begin = 0; begin < rows.num_rows(); begin += kDealtRows) {
    const int64_t end = std::min(begin + kDealtRows, rows.num_rows());
    for (int64_t row = begin; row < end; row += kDealtCells) {
      cells.resize(static_cast<size_t>(std::min(kDealtCells, end - row)));
      CellsOf(rows, attributes_, row, cells);
      for (const uint64_t cell : cells) {
        const uint64_t line = cell / line_cells;
        const uint64_t of_line = cell - line * line_cells;
        const uint64_t slab = of_line / slab_cells;
        dealt[line * slabs_per_line + slab].push_back(
            static_cast<uint32_t>(of_line - slab * slab_cells));
      }
    }
    for (size_t slab = 0; slab < dealt.size(); ++slab) {
      if (dealt[slab].empty()) continue;
      const std::lock_guard<std::mutex> lock(slabs_[slab].counting);
      slabs_[slab].tally.Add(dealt[slab]);
      dealt[slab].clear();
    }
  }
}

SlabResiduals::SlabResiduals(const TrueSlabs& table, const ResidualTransform& transform,
                             int64_t num_rows, int scale_bits)
    : table_(table), transform_(transform), scale_bits_(scale_bits) {
  const std::span<const int> before = std::span(table.attributes()).first(table.cut().axis);
  if (transform.FitsNarrow(table.attributes(), num_rows, scale_bits)) {
    sums_ = SumsAlongAxis<int64_t>(table);
  } else {
    sums_ = SumsAlongAxis<Int128>(table);
  }
  std::visit([&](auto& sums) { transform.Sweep(before, 1, sums); }, sums_);
}

TrueResidual SlabResiduals::Slab(int64_t k) const {
  return std::visit([&](const auto& sums) { return SlabOf(k, sums); }, sums_);
}

// The entry of kron_{before} (n I - 1 1^T); small, for there are few cells before.
int64_t SlabResiduals::Weight(int64_t to, int64_t from) const {
  int64_t weight = 1;
  for (size_t k = table_.cut().axis; k-- > 0;) {
    const int64_t size = table_.domain()[table_.attributes()[k]].size;
    weight *= (to % size == from % size ? size : 0) - 1;
    to /= size;
    from /= size;
  }
  return weight;
}

template <typename Value>
TrueResidual SlabResiduals::SlabOf(int64_t k, const std::vector<Value>& sums) const {
  using Unsigned = UnsignedOf<Value>;
  const SlabCut& cut = table_.cut();
  const int64_t line = k / cut.slabs_per_line();
  const int64_t length = SlabLength(cut, k);
  const auto of_line = sums.begin() + line * cut.num_after;
  std::vector<Value> values;
  values.reserve(static_cast<size_t>(length * cut.num_after));
  for (int64_t plane = 0; plane < length; ++plane) {
    std::transform(of_line, of_line + cut.num_after, std::back_inserter(values), [](Value sum) {
      return static_cast<Value>(Unsigned{0} - static_cast<Unsigned>(sum));
    });
  }
  for (int64_t other = 0; other < cut.num_before; ++other) {
    const auto weight = static_cast<Unsigned>(Value{cut.size} * Value{Weight(line, other)});
    table_.tally(other * cut.slabs_per_line() + k % cut.slabs_per_line())
        .AddTo(weight, length * cut.num_after, Modular(values));
  }
  transform_.Sweep(std::span(table_.attributes()).subspan(cut.axis + 1), length, values);
  if (scale_bits_ > 0) {
    for (size_t c = 0; c < values.size(); ++c) Modular(values)[c] <<= scale_bits_;
  }
  return TrueCounts::Residual(table_.attributes(), std::move(values));
}

}  // namespace residua
