#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "residua/files/plan_file.h"
#include "residua/measure/measurements.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

class FileInProgress;

// A measurement as it is stored: one Parquet file with the plan embedded, complete by itself. One
// row per value, set after set, in row groups that follow from the plan; each row group has a
// digest, and so has the footer. docs/formats.md describes every column.
//
// What is published is a function of the plan and the noisy values: sets must come in the order of
// MeasuredSets, and the width of what is written follows from the values, whatever width they come
// in. A writer belongs to one thread at a time, and holds no more than 2^20 values.
class MeasurementWriter {
 public:
  MeasurementWriter(const std::filesystem::path& path, const PlanFile& plan);
  MeasurementWriter(const MeasurementWriter&) = delete;
  MeasurementWriter& operator=(const MeasurementWriter&) = delete;
  ~MeasurementWriter();

  // Error{kBadInput} unless it is the next set of the plan, with all its values and its noise.
  void Write(const NoisyResidual& residual);

  // Error{kBadInput} unless it is the next piece.
  void Write(const NoisyPiece& piece);

  // The same piece by piece, for sets that do not fit into memory: Begin, then Append all values of
  // the set in their order, in pieces of any size and width. The file does not show the pieces. The
  // noise and the scale are the plan's. Begin is Error{kBadInput} for a set whose turn it is not;
  // Append for more values than the set has.
  void Begin(const AttributeSet& set);
  void Append(std::span<const int64_t> values);
  void Append(std::span<const Int128> values);

  // States whose measurement it is, by the identity of the ledger that has the spend, in place of
  // what the plan's data says.
  void SetIdentity(const std::string& identity);

  // The file is in place when this returns. Error{kBadInput} if a value is missing.
  void Finish();
  // In place of Finish: the file is complete and synced under its temporary name, and the caller
  // puts it in place or discards it.
  void Complete();
  FileInProgress& file();

 private:
  class Rows;
  std::unique_ptr<Rows> rows_;
};

// A measurement file to read. It belongs to one thread at a time; threads may each open the file.
class MeasurementFile {
 public:
  // Reads the plan. Error{kBadInput} or Error{kIo} if this is no measurement file or of another
  // version, Error{kRefused} if its plan was changed, or if it claims to hold more than its plan
  // measures: a file of a few bytes may claim to hold any number of them.
  explicit MeasurementFile(const std::filesystem::path& path);
  MeasurementFile(MeasurementFile&&) noexcept;
  ~MeasurementFile();

  const PlanFile& plan_file() const;
  const Plan& plan() const { return plan_file().plan; }

  // The digest of the footer, which has those of all rows: two files with the same one hold the
  // same. Empty for files of format 1, which have none.
  const std::string& seal() const;

  // Passes on every residual, in the file's order, holding one at a time. Whatever was changed, cut
  // or is missing is Error{kRefused}, at the latest when all have been read.
  void ForEach(const std::function<void(NoisyResidual&&)>& visit) const;

  // Passes on the residuals of these sets, in the file's order. Of a file of format 2 only the row
  // groups that hold them are read and checked. A set that was not measured is Error{kBadInput}.
  void ForEachOf(std::vector<AttributeSet> sets,
                 const std::function<void(NoisyResidual&&)>& visit) const;

  // Passes on the noise of every set, and holds little at a time: for files that nobody vouches
  // for. Everything is checked.
  void ForEachNoise(
      const std::function<void(const AttributeSet&, const Rational& noise_variance)>& visit) const;

  // All of them at once.
  Measurements ReadAll() const;

  // Of a large set of a file of format 2: whether it can be read piece by piece; whether some value
  // does not fit 64 bits; and its values in their order, up to 2^20 at a time, in 64 bits where all
  // of them fit.
  bool HasPieces(const AttributeSet& set) const;
  bool IsWide(const AttributeSet& set) const;
  void ForEachPiece(const AttributeSet& set,
                    const std::function<void(ResidualValues)>& visit) const;

 private:
  class Contents;
  std::unique_ptr<Contents> contents_;
};

// Whether the file begins as Parquet files do.
bool LooksLikeParquet(const std::filesystem::path& path);

// Recomputes the privacy cost from the noise that the file's rows record, in exact rationals,
// checks it against the plan and its budget, and every digest. Returns the cost; Error{kRefused}
// otherwise.
Rational VerifyMeasurements(const MeasurementFile& file);

}  // namespace residua
