#include "residua/data/data_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/threads.h"
#include "residua/data/arrow_stream.h"
#include "residua/data/column_reader.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/query_check.h"
#include "residua/data/relation.h"
#include "residua/measure/choose_rows.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

bool HasAllColumns(const Relation& relation, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(relation.columns.begin(), relation.columns.end(),
                       [&](const DuckDbColumn& column) { return column.name == name; });
  });
}

// The columns that are read.
std::vector<std::string> ColumnNames(const Domain& domain, const Protection& protection) {
  std::vector<std::string> names;
  for (const Attribute& attribute : domain.attributes()) names.push_back(attribute.name);
  if (!protection.identifier.empty()) names.push_back(protection.identifier);
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

// `key` is where the spec asks for the column.
size_t FindColumn(const std::string& file, const Relation& relation, const std::string& wanted,
                  const std::string& key) {
  std::vector<size_t> matches;
  std::string similar;
  const auto same_but_for_case = [](const std::string& a, const std::string& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
      return std::tolower(x) == std::tolower(y);
    });
  };
  for (size_t k = 0; k < relation.columns.size(); ++k) {
    const std::string& name = relation.columns[k].name;
    if (name == wanted) matches.push_back(k);
    if (same_but_for_case(name, wanted)) similar = name;
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1) {
    Fail(ErrorKind::kBadInput, "{}: column '{}' is there {} times; rename all but one", file,
         ShownText(wanted), matches.size());
  }
  if (!similar.empty()) {
    Fail(ErrorKind::kBadInput, "{}: no column '{}', but a column '{}'; spell {} like the column",
         file, ShownText(wanted), ShownText(similar), key);
  }
  constexpr size_t kMaxListed = 8;
  std::vector<std::string> names;
  for (size_t k = 0; k < std::min(relation.columns.size(), kMaxListed); ++k) {
    names.push_back(ShownText(relation.columns[k].name));
  }
  if (relation.columns.size() > kMaxListed) names.emplace_back("...");
  if (names.empty()) names.emplace_back("none");
  Fail(ErrorKind::kBadInput, "{}: no column '{}'; it has {}: rename or remove {}", file,
       ShownText(wanted), fmt::join(names, ", "), key);
}

// The kind to read a column of this SQL type as.
ValueKind KindOf(const std::string& file, const Attribute& attribute, const std::string& sql_type) {
  const ColumnType type = ColumnTypeOf(sql_type);
  const bool is_nested = type == ColumnType::kNested;
  const auto& cells = attribute.encoding.cells;
  const bool is_listed = std::holds_alternative<ValueEncoding>(cells);
  if (is_nested || (!is_listed && type == ColumnType::kOther)) {
    Fail(ErrorKind::kBadInput, "{}: column '{}' is of type {}, which cannot be read as {}; {}",
         file, ShownText(attribute.name), ShownText(sql_type),
         is_listed ? "values"
                   : (std::holds_alternative<CutEncoding>(cells) ? "a number" : "an integer"),
         is_nested ? "take one value of it in a query"
                   : fmt::format("give {} values, or convert it in a query", SpecKey(attribute)));
  }
  if (is_listed) return ValueKind::kText;
  if (type == ColumnType::kFloat) return ValueKind::kNumber;
  if (std::holds_alternative<CutEncoding>(cells)) {
    // A number of arbitrary length may not fit into a double.
    const bool is_text = type == ColumnType::kText || sql_type == "BIGNUM";
    return is_text ? ValueKind::kText : ValueKind::kNumber;
  }
  const bool is_integer = type == ColumnType::kInteger || type == ColumnType::kBoolean;
  return is_integer ? ValueKind::kInteger : ValueKind::kText;
}

// Collects the codes of one relation, chunk after chunk.
class TableReader {
 public:
  TableReader(const std::string& file, const Relation& relation, const Domain& domain,
              const Protection& protection, OutsideValues outside_values,
              const RowProgress& on_rows)
      : domain_(domain), protection_(protection), on_rows_(on_rows) {
    std::vector<std::string> selected;
    for (const Attribute& attribute : domain.attributes()) {
      const size_t k = FindColumn(file, relation, attribute.name, SpecKey(attribute));
      const ValueKind kind = KindOf(file, attribute, relation.columns[k].type);
      columns_.emplace_back(attribute, kind, file, outside_values);
      selected.push_back(fmt::format("CAST({} AS {})", relation.expressions[k], SqlType(kind)));
    }
    if (HasIdentifier()) {
      const size_t k = FindColumn(file, relation, protection.identifier, "privacy.identifier");
      selected.push_back(fmt::format("CAST({} AS VARCHAR)", relation.expressions[k]));
    }
    select_ = fmt::format("SELECT {} FROM {}", fmt::join(selected, ", "), relation.from);
  }

  ReadResult Read(DuckDbConnection& connection, BitSource& bits) {
    connection.Stream(select_, [&](const DuckDbChunk& chunk) { Append(chunk); });
    if (HasIdentifier()) KeepBoundedRows(bits);
    std::vector<CodeColumn> codes;
    for (ColumnReader& column : columns_) {
      report_.attributes.push_back(column.report());
      codes.push_back(std::move(column.codes()));
    }
    return {EncodedTable(domain_, std::move(codes)), std::move(report_)};
  }

 private:
  void Append(const DuckDbChunk& chunk) {
    ParallelFor(0, domain_.size(), [&](int i) {
      columns_[static_cast<size_t>(i)].Encode(chunk, i, report_.num_rows_read);
    });
    is_dropped_.assign(static_cast<size_t>(chunk.num_rows()), 0);
    bool is_any_dropped = false;
    for (const ColumnReader& column : columns_) {
      column.CheckValues();
      if (column.MarkDropped(is_dropped_)) is_any_dropped = true;
    }
    report_.num_rows_dropped += std::count(is_dropped_.begin(), is_dropped_.end(), 1);
    if (HasIdentifier()) {
      const int64_t num_unowned = MarkWithoutIdentifier(chunk);
      report_.num_rows_without_identifier += num_unowned;
      if (num_unowned > 0) is_any_dropped = true;
    }
    for (ColumnReader& column : columns_) {
      if (is_any_dropped) {
        column.Append(is_dropped_);
      } else {
        column.Append();
      }
    }
    if (HasIdentifier()) AppendIdentifiers(chunk);
    report_.num_rows_read += chunk.num_rows();
    if (on_rows_) on_rows_(report_.num_rows_read);
  }

  bool HasIdentifier() const { return !protection_.identifier.empty(); }
  int IdentifierColumn() const { return domain_.size(); }

  // Marks the rows without an identifier; returns how many of them were not marked before.
  int64_t MarkWithoutIdentifier(const DuckDbChunk& chunk) {
    const uint64_t* validity = chunk.Validity(IdentifierColumn());
    int64_t num_marked = 0;
    for (size_t row = 0; row < is_dropped_.size(); ++row) {
      if (is_dropped_[row] || !IsMissing(validity, static_cast<int64_t>(row))) continue;
      is_dropped_[row] = 1;
      ++num_marked;
    }
    return num_marked;
  }

  // Appends the identifier of each kept row; identifiers are numbered in order of appearance.
  void AppendIdentifiers(const DuckDbChunk& chunk) {
    const auto* values = chunk.Values<duckdb_string_t>(IdentifierColumn());
    for (size_t row = 0; row < is_dropped_.size(); ++row) {
      if (is_dropped_[row]) continue;
      const auto next = static_cast<int64_t>(identifier_numbers_.size());
      identifiers_.push_back(
          identifier_numbers_.try_emplace(std::string(TextOf(values[row])), next).first->second);
    }
  }

  void KeepBoundedRows(BitSource& bits) {
    const std::vector<char> is_kept = ChooseRows(identifiers_, protection_.max_rows, bits);
    for (ColumnReader& column : columns_) {
      std::visit(
          [&](auto& codes) {
            size_t kept = 0;
            for (size_t row = 0; row < codes.size(); ++row) {
              if (is_kept[row]) codes[kept++] = codes[row];
            }
            codes.resize(kept);
          },
          column.codes());
    }
    report_.num_rows_over = std::count(is_kept.begin(), is_kept.end(), 0);
  }

  const Domain& domain_;
  const Protection& protection_;
  const RowProgress& on_rows_;
  std::vector<ColumnReader> columns_;
  std::string select_;
  std::vector<char> is_dropped_;  // of one chunk
  std::unordered_map<std::string, int64_t> identifier_numbers_;
  std::vector<int64_t> identifiers_;  // of each row of columns_
  ReadReport report_;
};

// What to read, and how.
struct ReadRequest {
  const DataSource& source;
  const Domain& domain;
  const Protection& protection;
  OutsideValues outside_values;
  const RowProgress& on_rows;
};

// A query that passed the checks, with its open database.
struct OpenedQuery {
  DuckDbConnection connection;
  std::string from;  // what to SELECT FROM
  QueryShape shape;
};

OpenedQuery OpenQuery(const DataSource& source) {
  if (source.database.empty() || source.query.empty()) {
    Fail(ErrorKind::kBadInput, "data: a query needs a database and a database a query; set both");
  }
  CheckIsFile(source.database);
  const std::string file = ShownText(source.database);
  DuckDbConnection connection = DuckDbConnection::ReadOnly(file, source.database);
  connection.CheckIsOneSelect(source.query);
  std::string query = source.query;
  while (!query.empty() &&
         (query.back() == ';' || std::isspace(static_cast<unsigned char>(query.back())))) {
    query.pop_back();
  }
  // The query has lines of its own, so that a comment at its end does not reach further.
  const std::string from = "(\n" + query + "\n) AS source";
  QueryShape shape = CheckQuery(file, connection, "SELECT * FROM " + from);
  return {std::move(connection), from, std::move(shape)};
}

ReadResult ReadQuery(const ReadRequest& request, BitSource& bits) {
  OpenedQuery query = OpenQuery(request.source);
  const Relation relation = NamedRelation(query.connection, query.from);
  ReadResult result = TableReader(ShownText(request.source.database), relation, request.domain,
                                  request.protection, request.outside_values, request.on_rows)
                          .Read(query.connection, bits);
  result.report.query = std::move(query.shape);
  return result;
}

// The positions in the stream of the columns that are read, in the order of their selection.
std::vector<size_t> FindColumns(const std::string& file, const ReadRequest& request) {
  Relation relation;
  for (std::string& name : ColumnNamesOf(request.source.arrow)) {
    relation.columns.push_back({std::move(name), ""});
  }
  std::vector<size_t> columns;
  for (const Attribute& attribute : request.domain.attributes()) {
    columns.push_back(FindColumn(file, relation, attribute.name, SpecKey(attribute)));
  }
  const std::string& identifier = request.protection.identifier;
  if (!identifier.empty()) {
    const size_t column = FindColumn(file, relation, identifier, "privacy.identifier");
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  }
  return columns;
}

ReadResult ReadArrow(const ReadRequest& request, BitSource& bits) {
  const std::string name = "the data";
  ArrowProjection projection(request.source.arrow, FindColumns(name, request));
  DuckDbConnection connection = DuckDbConnection::InMemory(name, "");
  const std::string view = "rows_in_memory";
  connection.ViewArrow(view, projection.stream());
  const Relation relation = NamedRelation(connection, view);
  return TableReader(name, relation, request.domain, request.protection, request.outside_values,
                     request.on_rows)
      .Read(connection, bits);
}

ReadResult Read(const ReadRequest& request, BitSource& bits) {
  const DataSource& source = request.source;
  if (source.arrow != nullptr) return ReadArrow(request, bits);
  if (source.source.empty()) return ReadQuery(request, bits);
  if (!source.database.empty() || !source.query.empty()) {
    Fail(ErrorKind::kBadInput, "data: both source and a database query are set; keep one");
  }
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
  return TableReader(file, relation, request.domain, request.protection, request.outside_values,
                     request.on_rows)
      .Read(connection, bits);
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
  return Read({source, domain, protection, OutsideValues::kPlace, on_rows}, bits);
}

ReadResult ReadEncodedTable(const DataSource& source, const Domain& domain) {
  return ReadEncodedTable(source, domain, {}, ThreadSecureBits());
}

ReadReport SurveyTable(const DataSource& source, const Domain& domain, const Protection& protection,
                       const RowProgress& on_rows) {
  return Read({source, domain, protection, OutsideValues::kTally, on_rows}, ThreadSecureBits())
      .report;
}

QueryShape SurveyQuery(const DataSource& source) {
  return source.query.empty() ? QueryShape{} : OpenQuery(source).shape;
}

}  // namespace residua
