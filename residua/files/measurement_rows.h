#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "residua/files/measurement_layout.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

// The rows of a measurement file of format 2. Every row group that is read is checked against its
// digest, and all it says against the plan: what differs is Error{kRefused}.
class MeasurementRows {
 public:
  // Checks the footer, and that the file has the row groups of its plan and nothing else; the plan
  // must outlive this. A file of a few bytes may claim to hold any number of values: one that
  // claims more than its bytes can hold is refused before room is made for it.
  MeasurementRows(ReadableBytes file, const ParquetFooter& footer, const Plan& plan);

  const MeasurementLayout& layout() const { return *layout_; }

  // Where the row groups are that have values of the set.
  struct Stretch {
    int64_t offset = 0;
    int64_t num_bytes = 0;
    auto operator<=>(const Stretch&) const = default;
  };
  Stretch StretchOf(size_t set) const;

  // Passes on the residuals of the sets, numbered by the layout in increasing order; of all sets if
  // it is null.
  void ForEach(const std::vector<size_t>* sets, const std::function<void(NoisyResidual&&)>& visit);

  // Checks every row group, holding one at a time.
  void CheckAll();

  // Of a set that has row groups of its own: whether some value does not fit 64 bits; and its
  // values, a row group at a time, each in 64 bits if all of it fits.
  bool IsWide(size_t set) const;
  void ForEachPiece(size_t set, const std::function<void(ResidualValues)>& visit);

 private:
  struct Place {
    int64_t offset = 0;
    int64_t num_bytes = 0;
    bool is_wide = false;
    std::vector<int64_t> chunk_bytes;
    std::string digest;
  };

  // Reads the row group, checks it, and puts its values into narrow_ or wide_.
  void Read(size_t group);
  void CheckWords(size_t group, std::span<const std::string_view> chunks) const;
  void CheckColumn(MeasurementColumn column, std::string_view bytes,
                   const std::vector<MeasurementLayout::Words>& words) const;
  void ReadValues(bool is_wide, int64_t num_rows, std::string_view value, std::string_view wide);
  template <typename Value>
  std::vector<Value> Gather(size_t set);

  ReadableBytes file_;
  std::optional<MeasurementLayout> layout_;
  std::vector<Place> places_;  // of each row group
  std::string bytes_;          // of the row group that was read
  bool is_wide_ = false;
  std::vector<int64_t> narrow_;
  std::vector<Int128> wide_;
};

}  // namespace residua
