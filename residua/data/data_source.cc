#include "residua/data/data_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/data/arrow_stream.h"
#include "residua/data/database/adbc_rows.h"
#include "residua/data/database/push_down.h"
#include "residua/data/database_url.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/outcome_column.h"
#include "residua/data/query_check.h"
#include "residua/data/relation.h"
#include "residua/data/row_gatherer.h"
#include "residua/data/row_layout.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

bool HasAllColumns(const Relation& relation, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(relation.columns.begin(), relation.columns.end(),
                       [&](const DuckDbColumn& column) { return column.name == name; });
  });
}

// The columns that are read, each once.
std::vector<std::string> ColumnNames(const Domain& domain, const Protection& protection) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Attribute& attribute : domain.attributes()) add(ColumnOf(attribute));
  if (!protection.identifier.empty()) add(protection.identifier);
  return names;
}

// Names are found in the first rows, or in all rows if some names are missing there.
Relation JsonRelation(DuckDbConnection& connection, const std::string& path,
                      const std::vector<std::string>& names) {
  Relation found = FoundJsonRelation(connection, path, JsonRows::kFirst);
  if (!HasAllColumns(found, names)) {
    found = FoundJsonRelation(connection, path, JsonRows::kAll);
  }
  if (!HasAllColumns(found, names)) return found;
  return JsonTextRelation(path, names);
}

// A chunk of DuckDB has no more rows.
constexpr int64_t kMostChunkRows = 2048;

// Where encoded rows go.
struct RowSink {
  int64_t rows_per_part = std::numeric_limits<int64_t>::max();
  // Takes a part of at least that many rows; threads may call it at once. Gives back what it does
  // not keep.
  std::function<std::optional<EncodedTable>(EncodedTable&&)> add = {};
  // Takes parts, at least one, while nobody else adds any. Of all rows, the last come this way.
  std::function<void(std::vector<EncodedTable>&&)> add_alone = {};
};

// What to read, and how.
struct ReadRequest {
  const DataSource& source;
  const Domain& domain;
  const Protection& protection;
  OutsideValues outside_values;
  const RowProgress& on_rows;
  const RowSink& sink;
  bool in_order;  // all rows in their order, by one thread
  const DataPart* part = nullptr;
  std::stop_token stop = {};  // what works elsewhere is told
  // Called when rows that come by themselves are not wanted any more, and others wait for them.
  std::function<void()> give_up = {};
};

// Reads the rows of one relation.
class TableReader {
 public:
  TableReader(const std::string& file, const Relation& relation, const ReadRequest& request)
      : request_(request),
        from_(relation.from),
        null_values_(request.source.null_values),
        layout_(LayoutOf(file, relation, request.domain, request.protection)) {}

  ReadReport Read(DuckDbConnection& connection, BitSource& bits) {
    return request_.in_order ? ReadInOrder(connection, bits) : ReadInParallel(connection);
  }

 private:
  ReadReport ReadInOrder(DuckDbConnection& connection, BitSource& bits) {
    const std::unique_ptr<RowGatherer> gatherer = NewGatherer();
    const std::string select =
        fmt::format("SELECT {} FROM {}", fmt::join(layout_.selected, ", "), from_);
    const auto visit = [&](const DuckDbChunk& chunk) {
      gatherer->Append(chunk, gatherer->counts().num_read);
      if (request_.on_rows) request_.on_rows(gatherer->counts().num_read);
      if (HasIdentifier() || gatherer->num_rows() < request_.sink.rows_per_part) return;
      AddAlone({gatherer.get()});
    };
    connection.Stream(select, [&](const DuckDbChunk& chunk) {
      try {
        visit(chunk);
      } catch (...) {
        if (request_.give_up) request_.give_up();
        throw;
      }
    });
    ReadReport report;
    if (HasIdentifier()) {
      report.identifiers_by_rows = gatherer->IdentifiersByRows();
      report.num_rows_over = request_.part == nullptr
                                 ? gatherer->KeepBoundedRows(bits)
                                 : gatherer->KeepBoundedRows(request_.part->choice_key);
    }
    AddTo(*gatherer, &report);
    AddAlone({gatherer.get()});
    return report;
  }

  ReadReport ReadInParallel(DuckDbConnection& connection) {
    // One for each thread at work; a thread takes any that is free.
    std::vector<std::unique_ptr<RowGatherer>> gatherers;
    std::vector<RowGatherer*> free;
    std::mutex choosing;
    const auto take = [&] {
      const std::lock_guard<std::mutex> lock(choosing);
      if (free.empty()) {
        gatherers.push_back(NewGatherer());
        if (request_.sink.rows_per_part < std::numeric_limits<int64_t>::max()) {
          gatherers.back()->MakeRoomFor(request_.sink.rows_per_part + kMostChunkRows);
        }
        free.push_back(gatherers.back().get());
      }
      RowGatherer* gatherer = free.back();
      free.pop_back();
      return gatherer;
    };
    const auto give_back = [&](RowGatherer* gatherer) {
      const std::lock_guard<std::mutex> lock(choosing);
      free.push_back(gatherer);
    };
    const auto visit = [&](const DuckDbChunk& chunk) {
      RowGatherer* gatherer = take();
      gatherer->Append(chunk, 0);
      if (gatherer->num_rows() >= request_.sink.rows_per_part) {
        auto used = request_.sink.add(gatherer->TakeRows());
        if (used) gatherer->UseMemoryOf(*std::move(used));
      }
      give_back(gatherer);
    };
    std::deque<OutcomeColumn> columns;
    std::deque<std::function<void(const DuckDbChunk&, void*)>> functions;
    std::vector<std::string> outcomes;
    for (int i = 0; i < request_.domain.size(); ++i) {
      const auto k = static_cast<size_t>(i);
      OutcomeColumn& column =
          columns.emplace_back(request_.domain[i], layout_.kinds[k], layout_.file, null_values_);
      const auto& function = functions.emplace_back(
          [&column](const DuckDbChunk& chunk, void* found) { column.Find(chunk, found); });
      const std::string name = fmt::format("residua_outcome_{}", i);
      connection.Define(name, column.type(), function);
      outcomes.push_back(fmt::format("{}({})", name, layout_.stored[k]));
    }
    connection.VisitInParallel(outcomes, from_, visit, request_.on_rows);
    take();  // there is at least one
    ReadReport report;
    std::vector<RowGatherer*> all;
    for (const auto& gatherer : gatherers) {
      AddTo(*gatherer, &report);
      all.push_back(gatherer.get());
    }
    AddAlone(all);
    return report;
  }

  bool HasIdentifier() const { return !request_.protection.identifier.empty(); }

  std::unique_ptr<RowGatherer> NewGatherer() const {
    return std::make_unique<RowGatherer>(layout_, request_.domain, request_.protection,
                                         request_.outside_values, null_values_, request_.in_order);
  }

  static void AddTo(const RowGatherer& gatherer, ReadReport* report) {
    report->num_rows_read += gatherer.counts().num_read;
    report->num_rows_dropped += gatherer.counts().num_dropped;
    report->num_rows_without_identifier += gatherer.counts().num_without_identifier;
    std::vector<AttributeReport> attributes = gatherer.reports();
    if (report->attributes.empty()) {
      report->attributes = std::move(attributes);
      return;
    }
    for (size_t i = 0; i < attributes.size(); ++i) {
      AttributeReport& sum = report->attributes[i];
      sum.num_dropped += attributes[i].num_dropped;
      sum.num_clamped += attributes[i].num_clamped;
      sum.num_nulled += attributes[i].num_nulled;
      sum.num_missing += attributes[i].num_missing;
    }
  }

  void AddAlone(const std::vector<RowGatherer*>& gatherers) const {
    std::vector<EncodedTable> parts;
    for (RowGatherer* gatherer : gatherers) parts.push_back(gatherer->TakeRows());
    request_.sink.add_alone(std::move(parts));
  }

  const ReadRequest& request_;
  std::string from_;
  const NullValues null_values_;
  const RowLayout layout_;
};

// A query that passed the checks, with its open database.
struct OpenedQuery {
  DuckDbConnection connection;
  std::string from;  // what to SELECT FROM
  QueryShape shape;
};

// What to SELECT FROM for the rows of the query, and what it does. The connection knows its tables.
std::pair<std::string, QueryShape> Checked(const std::string& file, DuckDbConnection& connection,
                                           const std::string& query) {
  connection.CheckIsOneSelect(query);
  const std::string from = Subquery(query) + " AS source";
  return {from, CheckQuery(file, connection, "SELECT * FROM " + from)};
}

OpenedQuery OpenDatabase(const DataSource& source) {
  CheckIsFile(source.database);
  const std::string file = ShownText(source.database);
  DuckDbConnection connection = DuckDbConnection::ReadOnly(file, source.database);
  auto [from, shape] = Checked(file, connection, source.query);
  return {std::move(connection), std::move(from), std::move(shape)};
}

// SELECT for all columns of the relation by their names, which SQL tells apart whatever their case.
std::string SelectByName(const std::string& file, const Relation& relation) {
  std::vector<std::string> selected;
  std::unordered_map<std::string, std::string> name_of;
  for (size_t k = 0; k < relation.columns.size(); ++k) {
    const std::string& name = relation.columns[k].name;
    if (name.empty()) continue;
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto [other, added] = name_of.emplace(lower, name);
    if (!added) {
      Fail(ErrorKind::kBadInput,
           "{}: SQL cannot tell the columns '{}' and '{}' apart; rename one, or leave out the "
           "query",
           file, ShownText(other->second), ShownText(name));
    }
    selected.push_back(fmt::format("{} AS {}", relation.expressions[k], SqlName(name)));
  }
  return fmt::format("SELECT {} FROM {}", fmt::join(selected, ", "), relation.from);
}

// The file is the table `data`. The query is checked on an empty table of the same columns, so that
// it may read no other file and the file in no other way; then the table becomes a view of the
// file.
OpenedQuery OpenFileQuery(const DataSource& source) {
  CheckIsFile(source.source);
  const std::string file = ShownText(source.source);
  DuckDbConnection connection = DuckDbConnection::InMemory(file, source.source);
  const std::string rows = SelectByName(file, FileRelation(connection, source.source));
  connection.Run(fmt::format("CREATE TABLE data AS {} LIMIT 0", rows));
  auto [from, shape] = Checked(file, connection, source.query);
  connection.Run("DROP TABLE data");
  connection.Run("CREATE VIEW data AS " + rows);
  return {std::move(connection), std::move(from), std::move(shape)};
}

OpenedQuery OpenQuery(const DataSource& source) {
  if (!source.source.empty()) return OpenFileQuery(source);
  if (source.database.empty() || source.query.empty()) {
    Fail(ErrorKind::kBadInput,
         "data: a query needs a source or a database, and a database needs a query; set both");
  }
  return OpenDatabase(source);
}

ReadReport ReadQuery(const ReadRequest& request, BitSource& bits) {
  const DataSource& source = request.source;
  OpenedQuery query = OpenQuery(source);
  const Relation relation = NamedRelation(query.connection, query.from);
  const std::string& file = source.source.empty() ? source.database : source.source;
  ReadReport report = TableReader(ShownText(file), relation, request).Read(query.connection, bits);
  report.query = std::move(query.shape);
  return report;
}

ReadReport ReadArrow(const ReadRequest& request, const std::string& name, ArrowArrayStream* stream,
                     BitSource& bits) {
  ArrowProjection projection(
      stream, FindColumns(name, ColumnNamesOf(stream), request.domain, request.protection));
  DuckDbConnection connection = DuckDbConnection::InMemory(name, "");
  const std::string view = "rows_in_memory";
  connection.ViewArrow(view, projection.stream());
  const Relation relation = NamedRelation(connection, view);
  return TableReader(name, relation, request).Read(connection, bits);
}

ReadReport Read(const ReadRequest& request, BitSource& bits) {
  const DataSource& source = request.source;
  AtPlace("data", [&] { CheckNullValues(source.null_values, request.domain); });
  if (source.push_down) {
    Fail(ErrorKind::kRefused,
         "data.push_down: these rows may not leave their database, and here they are read; count "
         "them, or leave push_down out");
  }
  if (source.arrow != nullptr) {
    const std::string name = request.part == nullptr || request.part->number < 0
                                 ? "the data"
                                 : fmt::format("the data, partition {}", request.part->number);
    return ReadArrow(request, name, source.arrow, bits);
  }
  if (source.elsewhere != nullptr) {
    Fail(ErrorKind::kBadInput, "the rows are elsewhere, and can only be counted; read a sample");
  }
  if (!source.source.empty() && !source.database.empty()) {
    Fail(ErrorKind::kBadInput, "data: both source and database are set; keep one");
  }
  if (IsDatabaseUrl(source.database) && !source.query.empty()) {
    CheckDatabaseUrl(source.database);
    AdbcRows rows(source.database, request.stop);
    ArrowArrayStream* stream = rows.Query(source.query);
    ReadRequest from_database = request;
    from_database.give_up = [&] { rows.GiveUp(); };
    return CheckNotBrokenOff(request.stop, [&] {
      return ReadArrow(from_database, ShownText(source.database), stream, bits);
    });
  }
  if (source.source.empty() || !source.query.empty()) return ReadQuery(request, bits);
  CheckIsFile(source.source);
  const FileFormat format = FormatOf(source.source);
  const std::string file = ShownText(source.source);
  DuckDbConnection connection = DuckDbConnection::InMemory(file, source.source);
  Relation relation;
  switch (format) {
    case FileFormat::kCsv:
      relation = CsvRelation(connection, source.source);
      break;
    case FileFormat::kParquet:
      relation = ParquetRelation(connection, source.source);
      break;
    case FileFormat::kJson:
      relation =
          JsonRelation(connection, source.source, ColumnNames(request.domain, request.protection));
      break;
  }
  return TableReader(file, relation, request).Read(connection, bits);
}

// Reads the rows in order, and keeps none.
ReadReport ReadToNowhere(const DataSource& source, const Domain& domain,
                         const Protection& protection, OutsideValues outside_values,
                         const RowProgress& on_rows, const std::stop_token& stop) {
  constexpr int64_t kForgottenAtOnce = int64_t{1} << 16;
  const RowSink sink{kForgottenAtOnce,
                     [](EncodedTable&& part) { return std::optional(std::move(part)); },
                     [](std::vector<EncodedTable>&&) {}};
  return Read({source, domain, protection, outside_values, on_rows, sink, true, nullptr, stop},
              ThreadSecureBits());
}

}  // namespace

std::vector<std::string> NotesOf(const QueryShape& query) {
  if (query.operations.empty()) return {};
  return {fmt::format(
      "the query {}: what is protected is one row of its result, not one row of a table",
      InWords(query))};
}

std::vector<std::string> NotesOf(const ReadReport& report, const Domain& domain) {
  std::vector<std::string> notes = NotesOf(report.query);
  const auto note = [&](const std::string& text) {
    notes.push_back(text + " (a true count: not for publication)");
  };
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& attribute = report.attributes[static_cast<size_t>(i)];
    if (attribute.num_clamped > 0) {
      note(fmt::format("{}: {} clamped", domain[i].name, Counted(attribute.num_clamped, "value")));
    }
    if (attribute.num_nulled > 0) {
      note(fmt::format("{}: {} taken as missing", domain[i].name,
                       Counted(attribute.num_nulled, "value")));
    }
  }
  if (report.num_rows_without_identifier > 0) {
    note(fmt::format("rows left out, without an identifier: {}",
                     report.num_rows_without_identifier));
  }
  if (report.num_rows_over > 0) {
    note(fmt::format("rows left out, beyond max_rows: {}", report.num_rows_over));
  }
  if (report.num_rows_dropped > 0) {
    note(fmt::format("{} dropped", Counted(report.num_rows_dropped, "row")));
  }
  return notes;
}

ReadResult ReadEncodedTable(const DataSource& source, const Domain& domain,
                            const Protection& protection, BitSource& bits,
                            const RowProgress& on_rows) {
  std::optional<EncodedTable> table;
  RowSink sink;
  sink.add_alone = [&](std::vector<EncodedTable>&& parts) { table = std::move(parts.front()); };
  const ReadRequest request{source, domain, protection, OutsideValues::kPlace, on_rows, sink, true};
  ReadReport report = Read(request, bits);
  return {*std::move(table), std::move(report)};
}

ReadResult ReadEncodedTable(const DataSource& source, const Domain& domain) {
  return ReadEncodedTable(source, domain, {}, ThreadSecureBits());
}

CountedResult ReadCountedRows(const DataSource& source, const Domain& domain,
                              const Protection& protection, BitSource& bits,
                              std::vector<AttributeSet> sets, const CountingOptions& options,
                              const RowProgress& on_rows) {
  if (source.push_down) {
    return CountWhereTheyAre(source, domain, protection, std::move(sets), options, on_rows);
  }
  if (source.elsewhere != nullptr) {
    AtPlace("data", [&] { CheckNullValues(source.null_values, domain); });
    return source.elsewhere(domain, std::move(sets), options);
  }
  CountedRows rows(domain, std::move(sets), options);
  const RowSink sink{rows.rows_per_part(),
                     [&](EncodedTable&& part) { return rows.Add(std::move(part)); },
                     [&](std::vector<EncodedTable>&& parts) { rows.AddAlone(std::move(parts)); }};
  // A stream is read once, and rows are chosen from all: both in order.
  const bool in_order =
      source.arrow != nullptr || IsDatabaseUrl(source.database) || !protection.identifier.empty();
  const ReadRequest request{source, domain,   protection, OutsideValues::kPlace, on_rows,
                            sink,   in_order, nullptr,    options.stop};
  try {
    ReadReport report = Read(request, bits);
    return {std::move(rows), std::move(report)};
  } catch (const Error& error) {
    if (in_order || error.kind() == ErrorKind::kStopped) throw;
  }
  // The first fault in order, and its row.
  ReadToNowhere(source, domain, protection, OutsideValues::kPlace, on_rows, options.stop);
  Fail(ErrorKind::kIo, "{}: its rows changed while they were read; run it again when they do not",
       ShownText(source.source.empty() ? source.database : source.source));
}

CountedResult ReadCountedPart(const DataSource& source, const DataPart& part, const Domain& domain,
                              const Protection& protection, std::vector<AttributeSet> sets,
                              const CountingOptions& options) {
  CountedRows rows(domain, std::move(sets), options);
  const RowSink sink{rows.rows_per_part(),
                     [&](EncodedTable&& some) { return rows.Add(std::move(some)); },
                     [&](std::vector<EncodedTable>&& some) { rows.AddAlone(std::move(some)); }};
  const RowProgress on_rows = [&](int64_t) { CheckNotStopped(options.stop); };
  const ReadRequest request{source,  domain, protection, OutsideValues::kPlace,
                            on_rows, sink,   true,       &part};
  // Other parts may be at work on this machine.
  ReadReport report;
  Threads(options.num_threads).Run([&] { report = Read(request, ThreadSecureBits()); });
  return {std::move(rows), std::move(report)};
}

ReadReport SurveyTable(const DataSource& source, const Domain& domain, const Protection& protection,
                       const RowProgress& on_rows, const std::stop_token& stop) {
  if (source.push_down) return SurveyWhereTheyAre(source, domain, protection, on_rows, stop);
  return ReadToNowhere(source, domain, protection, OutsideValues::kTally, on_rows, stop);
}

QueryShape SurveyQuery(const DataSource& source) {
  // Only its own server can tell what a query on a server does.
  if (source.query.empty() || IsDatabaseUrl(source.database)) return {};
  return OpenQuery(source).shape;
}

}  // namespace residua
