#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "residua/data/duckdb_connection.h"
#include "residua/data/null_values.h"
#include "residua/data/value_outcomes.h"

namespace residua {

// The outcomes of one attribute's values as a function of SQL. DuckDB calls it once for each
// different value where a column has a dictionary, as in most Parquet files, and for every value
// elsewhere: also for values that no row has. So it reports nothing. Threads may share it.
class OutcomeColumn {
 public:
  // Keeps views of the arguments.
  OutcomeColumn(const Attribute& attribute, ValueKind kind, const std::string& file,
                const NullValues& null_values);

  // Of DuckDB's type for OutcomeBytes.
  duckdb_type type() const;
  // The outcome of each value in the chunk's only column. It is of the kind's SqlType, or of a
  // narrower one.
  void Find(const DuckDbChunk& chunk, void* outcomes);

 private:
  template <typename Outcome>
  void FindOfType(const DuckDbChunk& chunk, Outcome* outcomes, ValueOutcomes& finder) const;

  const Attribute& attribute_;
  ValueKind kind_;
  const std::string& file_;
  const NullValues& null_values_;
  std::mutex choosing_;
  std::vector<std::unique_ptr<ValueOutcomes>> free_;  // at most one per thread
};

// Whether a column of this SQL type can be read as `kind` without a cast.
bool IsReadAsStored(const std::string& sql_type, ValueKind kind);

}  // namespace residua
