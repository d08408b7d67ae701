#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "residua/data/query_shape.h"
#include "residua/data/value_encoder.h"
#include "residua/measure/counted_rows.h"
#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"
#include "residua/noise/bit_source.h"
#include "residua/privacy/protection.h"

// Of the Arrow C stream interface.
struct ArrowArrayStream;

namespace residua {

// Where the rows come from: either a file `source` (.csv, .tsv, .parquet, .json, .jsonl or .ndjson;
// text may be compressed, .csv.gz or .csv.zst), or a `query` on the table `data` that such a file
// is, or a `query` on the DuckDB file `database`, or a `query` on the `database`
// postgresql://HOST/NAME or sqlite:FILE, which its ADBC driver reads, or rows in memory, which
// `arrow` provides once; the caller keeps ownership of it. `null_values` are texts that mean a
// missing value, in every column. Or the rows are counted `elsewhere`.
struct CountedResult;
using CountElsewhere =
    std::function<CountedResult(const Domain&, std::vector<AttributeSet>, const CountingOptions&)>;
struct DataSource {
  std::string source;
  std::string database;
  std::string query;
  ArrowArrayStream* arrow = nullptr;
  std::vector<std::string> null_values = {};
  // The rows may not leave the `database`: it counts them itself (push_down.h), or nothing is done.
  bool push_down = false;
  // Rows that are somewhere else, such as on a cluster. It is called once, when rows are counted.
  CountElsewhere elsewhere = {};

  // Whether the program itself has the rows, in no file and no database.
  bool is_given() const { return arrow != nullptr || elsewhere != nullptr; }
};

// What reading did, for the curator's eyes: these are true counts of the data.
struct ReadReport {
  int64_t num_rows_read = 0;
  int64_t num_rows_dropped = 0;             // each once, also with several values outside
  int64_t num_rows_without_identifier = 0;  // left out because they have no identifier
  int64_t num_rows_over = 0;                // left out beyond the `max_rows` of their identifier
  // How many identifiers have how many rows, those beyond `max_rows` included.
  std::map<int64_t, int64_t> identifiers_by_rows = {};
  std::vector<AttributeReport> attributes;  // in the order of the domain
  QueryShape query;                         // no true count: what the query does, if it is one
};

// The parts of the report that a curator should know, one line each, those on the query first. For
// the curator's eyes too.
std::vector<std::string> NotesOf(const ReadReport& report, const Domain& domain);
std::vector<std::string> NotesOf(const QueryShape& query);

struct ReadResult {
  EncodedTable table;
  ReadReport report;
};

struct CountedResult {
  CountedRows rows;
  ReadReport report;
};

// Reads the attributes' columns, and no other, and encodes them chunk by chunk. Every value is
// treated by its attribute's policy, also in a row that another attribute drops. Nothing is read
// over the network but by an ADBC driver, no extension is loaded, no temporary file is written, a
// path means one file, whatever characters are in it, and a query sees the database file alone and
// calls only functions that are known to be harmless (Error{kRefused} names another). A query that
// a driver passes on can do what its server lets it do, and write nothing. The rows of a query are
// those of its result: these are what is counted and protected.
//
// CSV: the first line names the columns; a value is text, missing when empty. Integer and cut
// attributes parse it, and so do dates and parts of dates; `values` are compared with it as it
// stands, and then, if it has a decimal point, as numbers (1.0 is the listed 1). JSON is read in the same way. Other sources keep their types: numbers are compared with
// `values` as numbers, NaN is missing, and booleans are compared as SQL prints them. Cuts compare
// as doubles.
//
// With an identifier in `protection`, at most `max_rows` rows of each of its values are kept. They
// are chosen by `bits`, all equally likely, whatever they contain. Identifiers are compared as
// text. A row without an identifier is left out: it may belong to anyone.
//
// `on_rows` is called now and then with the number of rows read so far; what it throws stops. While
// a database works and no row comes, the `stop` of the options reaches it.
using RowProgress = std::function<void(int64_t)>;
ReadResult ReadEncodedTable(const DataSource& source, const Domain& domain,
                            const Protection& protection, BitSource& bits,
                            const RowProgress& on_rows = {});
ReadResult ReadEncodedTable(const DataSource& source, const Domain& domain);

// The same, for rows that are counted for `sets` as they come, by all threads: what it holds does
// not grow with the number of rows, unless CountedRows holds them. With an identifier they are held
// until the last has come. The domain must outlive the result.
//
// Rows are read in no order. If one of them is refused, they are read again in order, so that the
// message is about the first.
CountedResult ReadCountedRows(const DataSource& source, const Domain& domain,
                              const Protection& protection, BitSource& bits,
                              std::vector<AttributeSet> sets, const CountingOptions& options,
                              const RowProgress& on_rows = {});

// Of rows that are in parts, the part numbered `number`. With a number below 0 it is no part, and
// has only the columns of all.
struct DataPart {
  int64_t number = 0;
  // Chooses the rows of an identifier, all of whose rows are in this part: the same rows whenever
  // the part is read, in whatever order.
  std::array<uint8_t, 32> choice_key;
};
CountedResult ReadCountedPart(const DataSource& source, const DataPart& part, const Domain& domain,
                              const Protection& protection, std::vector<AttributeSet> sets,
                              const CountingOptions& options);

// What reading would find. Every value that has no cell is counted, whatever the policy, and none
// stops the survey: rows with a value that would stop a measurement count as dropped. A database is
// told to `stop`.
ReadReport SurveyTable(const DataSource& source, const Domain& domain, const Protection& protection,
                       const RowProgress& on_rows = {}, const std::stop_token& stop = {});

// What the query does, without running it; empty for other sources, and for queries that a driver
// passes on.
QueryShape SurveyQuery(const DataSource& source);

}  // namespace residua
