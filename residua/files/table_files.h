#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "residua/files/companion_columns.h"
#include "residua/files/table_names.h"
#include "residua/reconstruct/mean_estimate.h"

namespace residua {

// What stands beside the attributes: estimate, std_dev, ci_lower, ci_upper; or, in tables whose
// numbers were adjusted and have no error bars any more, `adjusted` alone, in Parquet a BIGINT if
// the numbers are whole. Files with adjusted tables end in .adjusted.csv or .adjusted.parquet.
enum class TableColumns { kEstimates, kAdjusted, kAdjustedWhole };

enum class TableFormat { kCsv, kParquet, kOneParquet };

// In CSV, kSupported rounds every number of a table to three digits below the first digit of its
// smallest standard deviation: estimates and standard deviations to the nearest, intervals
// outwards, so that the rounded one contains the exact one. kFull writes as many digits as tell one
// double from the next; so do adjusted numbers, which have no standard deviation. Parquet has the
// doubles themselves.
enum class TableDigits { kSupported, kFull };

// One table as it is published: one row per answer, row-major, the last attribute fastest. An
// adjusted table has neither std_devs nor an interval_factor. A large table may come in pieces, one
// after the other, all with the same single standard deviation: `first` is the number of the first
// answer of `estimates`. The files do not show the pieces.
//
// A table with an attribute whose mean is asked has one row per answer along the others, which are
// the columns: `estimates` counts the rows that have a number, and `means` has the rest.
struct PublishedTable {
  AttributeSet attributes;  // of the columns
  std::span<const double> estimates = {};
  std::span<const double> std_devs = {};  // one an estimate, or a single one for all
  // The interval is estimate +- (interval_factor * std_dev + widening).
  double interval_factor = 0;
  double widening = 0;
  int64_t first = 0;
  const MeanColumns* means = nullptr;
  std::optional<AttributeSet> named = {};  // the table's, where it has others than these

  const AttributeSet& table() const { return named ? *named : attributes; }
};

// What is written beside an empty mean.
inline constexpr const char* kMeanNote = "too few rows";

// What all tables of a run have in common; it follows from the plan.
struct TableLayout {
  TableFormat format = TableFormat::kCsv;
  TableColumns columns = TableColumns::kEstimates;
  TableDigits digits = TableDigits::kSupported;
  TableNames names = {};
  std::vector<std::vector<std::string>> labels = {};  // of the answers along each attribute
  // Likewise the columns beside them; empty if there are none.
  std::vector<std::vector<CompanionColumn>> companions = {};
  // Likewise whether its mean is asked: it has no column then. Empty if none is.
  std::vector<bool> is_mean = {};
  std::string about = {};  // kept beside the tables: where they come from and what is promised
  int num_threads = 0;     // 0: one per processor

  bool IsMean(size_t attribute) const { return attribute < is_mean.size() && is_mean[attribute]; }
  // Of an attribute.
  std::span<const CompanionColumn> CompanionsAt(size_t attribute) const;
  // Whether the last answer of the table is in the piece.
  bool IsEnd(const PublishedTable& piece) const;
};

// Takes tables one after the other. All of them appear together when Finish returns; until then,
// and if it never does, nothing is at the place asked for that was not there before. A writer
// belongs to one thread at a time.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void Write(const PublishedTable& table) = 0;
  virtual void Finish() = 0;
};

// Into the folder `path`, one file per table, or for kOneParquet into the file `path`. A folder
// that exists must be empty or one that residua made, which is then replaced; anything else is
// Error{kRefused}.
std::unique_ptr<TableWriter> MakeTableWriter(const std::filesystem::path& path, TableLayout layout);

// The names of the columns beside the attributes.
std::vector<std::string> NumberColumnsOf(TableColumns columns);

// Error{kTooLarge} if it does not fit.
int64_t WholeOf(double value);

}  // namespace residua
