#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "residua/files/table_files.h"
#include "residua/reconstruct/answer_kind.h"
#include "residua/reconstruct/simultaneous.h"

namespace residua {

class QueryMatrix;  // basis/query_matrix.h

// Which tables to make of a measurement file, and how.
struct TablesRequest {
  std::filesystem::path measurements;
  std::filesystem::path output;  // a folder, or for kOneParquet a file; empty: TablesOutput's
  // "age,sex"; empty: those of the plan's workload, adjusted ones without those that have means
  std::vector<std::string> tables;
  TableFormat format = TableFormat::kCsv;
  TableDigits digits = TableDigits::kSupported;  // of CSV; Parquet always has all
  AnswerKind answers = AnswerKind::kPlanned;
  double confidence = 0.95;
  Coverage coverage = Coverage::kEachAnswer;  // of the intervals, with that confidence
  // Adjusted tables, which are biased and have no error bars:
  bool nonnegative = false;  // the most likely counts that are not negative
  bool integers = false;     // whole numbers
  int num_threads = 0;       // 0: one per processor
  // Called with the number of tables written so far, and of all.
  std::function<void(int64_t, int64_t)> on_table = {};

  bool is_adjusted() const { return nonnegative || integers; }
};

// How near the non-negative tables came to the most likely ones.
struct NonnegativeFit {
  int64_t iterations = 0;
  double objective = 0;
  double max_deviation = 0;  // of an answer, in standard deviations
  double mixed_in = 0;
  bool is_within_tolerance = false;
};

struct TablesWritten {
  int64_t num_tables = 0;
  int64_t num_answers = 0;
  std::filesystem::path output;
  // Attributes whose columns could not be called the same, with the columns' names.
  std::vector<std::pair<std::string, std::string>> renamed = {};
  std::optional<NonnegativeFit> fit = {};  // of non-negative tables
  int64_t num_means_left_out = 0;          // tables with means, which are not adjusted
};

// Sums of whole cells are whole; other combinations, which custom queries may ask for, need not be:
// they are Error{kBadInput}.
void CheckWholeAnswers(const Attribute& attribute, const QueryMatrix& queries);

// Adjusting moves counts of cells, and a row is in no one cell of a mean: Error{kBadInput}.
void CheckNoMeans(const Domain& domain, std::span<const AttributeSet> tables);

// Error{kBadInput} if the request contradicts itself, before anything is read.
void CheckTablesRequest(const TablesRequest& request);

// Reconstructs the tables and writes them, all or none. Adjusted tables say so in the name of the
// file, or in a folder in the name of each file.
TablesWritten PublishTables(const TablesRequest& request);

}  // namespace residua
