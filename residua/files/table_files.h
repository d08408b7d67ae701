#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// What stands beside the attributes: estimate, std_dev, ci_lower, ci_upper; or, in tables whose
// numbers were adjusted and have no error bars any more, `adjusted` alone, in Parquet a BIGINT if
// the numbers are whole. Files with adjusted tables end in .adjusted.csv or .adjusted.parquet.
enum class TableColumns { kEstimates, kAdjusted, kAdjustedWhole };

// One table as it is published: one row per answer, row-major in the axes' labels, the last axis
// fastest. An adjusted table has neither std_devs nor an interval_factor.
struct PublishedTable {
  std::vector<std::string> attributes;
  std::vector<std::vector<std::string>> labels;  // of each axis
  std::span<const double> estimates;
  std::span<const double> std_devs;  // one an estimate, or a single one for all
  // The interval is estimate +- (interval_factor * std_dev + widening).
  double interval_factor = 0;
  double widening = 0;
};

enum class TableFormat { kCsv, kParquet, kOneParquet };

// Takes tables one after the other. All of them appear together when Finish returns; until then,
// and if it never does, nothing is at the place asked for that was not there before.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void Write(const PublishedTable& table) = 0;
  virtual void Finish() = 0;
};

// Into the folder `path`, one file per table, or for kOneParquet into the file `path`. A folder that
// exists must be empty or one that residua made, which is then replaced; anything else is
// Error{kRefused}. `about` is kept beside the tables: where they come from and what is promised.
std::unique_ptr<TableWriter> MakeTableWriter(const std::filesystem::path& path, TableFormat format,
                                             TableColumns columns, const std::string& about);

// "age_x_sex", "total" for no attributes. Characters that file systems or shells mind become %XX.
std::string TableFileName(const std::vector<std::string>& attributes);

}  // namespace residua
