#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "residua/files/parquet_writer.h"
#include "residua/files/plan_file.h"
#include "residua/measure/measurements.h"

namespace residua {

// A measurement as it is stored: one Parquet file with the plan embedded, complete by itself. Each
// attribute set has a row, or several where its values are many; each row carries a digest of
// itself and of the plan. docs/formats.md describes every column.
//
// What is published is a function of the plan and the noisy values: sets must come in the order of
// MeasuredSets, and their values are written InLeastWidth whatever width they come in. A writer
// belongs to one thread at a time.
class MeasurementWriter {
 public:
  MeasurementWriter(const std::filesystem::path& path, const PlanFile& plan);

  void Write(const NoisyResidual& residual);
  // The file is in place when this returns.
  void Finish();
  // In place of Finish, as of ParquetWriter.
  void Complete();
  FileInProgress& file() { return writer_.file(); }

 private:
  template <typename Value>
  void WriteValues(const NoisyResidual& residual, const std::vector<Value>& values);
  void Flush();

  std::string plan_digest_;
  ParquetWriter writer_;
  ParquetBatch batch_;
  Domain domain_;
  int64_t batch_values_ = 0;
  int64_t num_sets_ = 0;
  AttributeSet last_set_;
};

// A measurement file to read. It belongs to one thread at a time; threads may each open the file.
class MeasurementFile {
 public:
  // Reads the plan. Error{kBadInput} or Error{kIo} if this is no measurement file or of another
  // version, Error{kRefused} if its plan was changed, or if it claims to hold more than its plan
  // measures: a file of a few bytes may claim to hold any number of them.
  explicit MeasurementFile(const std::filesystem::path& path);

  const PlanFile& plan_file() const { return plan_; }
  const Plan& plan() const { return plan_.plan; }

  // Passes on every residual, in the file's order, holding one at a time. Whatever was changed, cut
  // or is missing is Error{kRefused}, at the latest when all have been read.
  void ForEach(const std::function<void(NoisyResidual&&)>& visit) const;

  // The same without the values, holding a row at a time: for files that nobody vouches for.
  void ForEachNoise(
      const std::function<void(const AttributeSet&, const Rational& noise_variance)>& visit) const;

  // All of them at once.
  Measurements ReadAll() const;

 private:
  void Read(bool with_values, const std::function<void(NoisyResidual&&)>& visit) const;

  std::filesystem::path path_;
  PlanFile plan_;
  std::string plan_digest_;
  int64_t version_ = 0;  // of the format
};

// Whether the file begins as Parquet files do.
bool LooksLikeParquet(const std::filesystem::path& path);

// Recomputes the privacy cost from the noise that the file's rows record, in exact rationals,
// checks it against the plan and its budget, and every digest. Returns the cost; Error{kRefused}
// otherwise.
Rational VerifyMeasurements(const MeasurementFile& file);

}  // namespace residua
