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

// What a column must hold, in words.
std::string_view WantedIn(const Encoding& encoding) {
  if (std::holds_alternative<ValueEncoding>(encoding.cells)) return "values";
  if (std::holds_alternative<CutEncoding>(encoding.cells)) return "a number";
  const auto* part = std::get_if<PartEncoding>(&encoding.cells);
  if (part != nullptr && part->part == DatePart::kHour) return "a date with a time";
  const bool is_date = part != nullptr || std::holds_alternative<DateEncoding>(encoding.cells);
  return is_date ? "a date" : "an integer";
}

// Whether values of the type, or some of them, can be read by the encoding.
bool CanRead(const Encoding& encoding, ColumnType type) {
  if (type == ColumnType::kNested) return false;
  if (type == ColumnType::kText || std::holds_alternative<ValueEncoding>(encoding.cells)) {
    return true;
  }
  if (const auto* part = std::get_if<PartEncoding>(&encoding.cells)) {
    return type == ColumnType::kTimestamp ||
           (type == ColumnType::kDate && part->part != DatePart::kHour);
  }
  const bool is_date = type == ColumnType::kDate || type == ColumnType::kTimestamp;
  if (std::holds_alternative<DateEncoding>(encoding.cells)) return is_date;
  return !is_date && type != ColumnType::kOther;
}

bool IsNumber(ColumnType type) {
  return type == ColumnType::kInteger || type == ColumnType::kWideNumber ||
         type == ColumnType::kFloat;
}

// The kind to read a column of this SQL type as.
ValueKind KindOf(const std::string& file, const Attribute& attribute, const std::string& sql_type) {
  const ColumnType type = ColumnTypeOf(sql_type);
  const auto& cells = attribute.encoding.cells;
  if (!CanRead(attribute.encoding, type)) {
    Fail(ErrorKind::kBadInput, "{}: column '{}' is of type {}, which cannot be read as {}; {}",
         file, ShownText(ColumnOf(attribute)), ShownText(sql_type), WantedIn(attribute.encoding),
         type == ColumnType::kNested
             ? "take one value of it in a query"
             : fmt::format("give {} values, or convert it in a query", SpecKey(attribute)));
  }
  if (std::holds_alternative<ValueEncoding>(cells)) {
    return IsNumber(type) ? ValueKind::kNumberText : ValueKind::kText;
  }
  if (std::holds_alternative<DateEncoding>(cells) || std::holds_alternative<PartEncoding>(cells)) {
    return ValueKind::kText;
  }
  if (type == ColumnType::kFloat) return ValueKind::kNumber;
  if (std::holds_alternative<CutEncoding>(cells)) {
    // A number of arbitrary length may not fit into a double.
    if (sql_type == "BIGNUM") return ValueKind::kNumberText;
    return type == ColumnType::kText ? ValueKind::kText : ValueKind::kNumber;
  }
  if (type == ColumnType::kWideNumber) return ValueKind::kNumberText;
  return type == ColumnType::kText ? ValueKind::kText : ValueKind::kInteger;
}

// Where the spec names the attribute's column.
std::string ColumnKey(const Attribute& attribute) {
  return SpecKey(attribute) + (attribute.column.empty() ? "" : ".column");
}

// What to read, and how.
struct ReadRequest {
  const DataSource& source;
  const Domain& domain;
  const Protection& protection;
  OutsideValues outside_values;
  const RowProgress& on_rows;
};

// Collects the codes of one relation, chunk after chunk.
class TableReader {
 public:
  TableReader(const std::string& file, const Relation& relation, const ReadRequest& request)
      : domain_(request.domain),
        protection_(request.protection),
        on_rows_(request.on_rows),
        null_values_(request.source.null_values) {
    std::vector<std::string> selected;
    for (const Attribute& attribute : domain_.attributes()) {
      const size_t k = FindColumn(file, relation, ColumnOf(attribute), ColumnKey(attribute));
      const ValueKind kind = KindOf(file, attribute, relation.columns[k].type);
      columns_.emplace_back(attribute, kind, file, request.outside_values, null_values_);
      selected.push_back(fmt::format("CAST({} AS {})", relation.expressions[k], SqlType(kind)));
    }
    if (HasIdentifier()) {
      const size_t k = FindColumn(file, relation, protection_.identifier, "privacy.identifier");
      is_number_identifier_ = IsNumber(ColumnTypeOf(relation.columns[k].type));
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

  // Whether the text of an identifier means that it is missing.
  bool IsNobody(std::string_view text) const {
    if (!is_number_identifier_) return null_values_.Contains(text);
    return text == "nan" || null_values_.ContainsNumber(text);
  }

  // Marks the rows without an identifier; returns how many of them were not marked before.
  int64_t MarkWithoutIdentifier(const DuckDbChunk& chunk) {
    const uint64_t* validity = chunk.Validity(IdentifierColumn());
    const auto* values = chunk.Values<duckdb_string_t>(IdentifierColumn());
    int64_t num_marked = 0;
    for (size_t row = 0; row < is_dropped_.size(); ++row) {
      if (is_dropped_[row]) continue;
      if (!IsMissing(validity, static_cast<int64_t>(row)) && !IsNobody(TextOf(values[row]))) {
        continue;
      }
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
  const NullValues null_values_;
  std::vector<ColumnReader> columns_;
  std::string select_;
  bool is_number_identifier_ = false;
  std::vector<char> is_dropped_;  // of one chunk
  std::unordered_map<std::string, int64_t> identifier_numbers_;
  std::vector<int64_t> identifiers_;  // of each row of columns_
  ReadReport report_;
};

// A query that passed the checks, with its open database.
struct OpenedQuery {
  DuckDbConnection connection;
  std::string from;  // what to SELECT FROM
  QueryShape shape;
};

// What to SELECT FROM for the rows of the query, and what it does. The connection knows its tables.
std::pair<std::string, QueryShape> Checked(const std::string& file, DuckDbConnection& connection,
                                           std::string query) {
  connection.CheckIsOneSelect(query);
  while (!query.empty() &&
         (query.back() == ';' || std::isspace(static_cast<unsigned char>(query.back())))) {
    query.pop_back();
  }
  // The query has lines of its own, so that a comment at its end does not reach further.
  const std::string from = "(\n" + query + "\n) AS source";
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

ReadResult ReadQuery(const ReadRequest& request, BitSource& bits) {
  const DataSource& source = request.source;
  OpenedQuery query = OpenQuery(source);
  const Relation relation = NamedRelation(query.connection, query.from);
  const std::string& file = source.source.empty() ? source.database : source.source;
  ReadResult result = TableReader(ShownText(file), relation, request).Read(query.connection, bits);
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
  const auto add = [&](const std::string& name, const std::string& key) {
    const size_t column = FindColumn(file, relation, name, key);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  };
  for (const Attribute& attribute : request.domain.attributes()) {
    add(ColumnOf(attribute), ColumnKey(attribute));
  }
  const std::string& identifier = request.protection.identifier;
  if (!identifier.empty()) add(identifier, "privacy.identifier");
  return columns;
}

ReadResult ReadArrow(const ReadRequest& request, BitSource& bits) {
  const std::string name = "the data";
  ArrowProjection projection(request.source.arrow, FindColumns(name, request));
  DuckDbConnection connection = DuckDbConnection::InMemory(name, "");
  const std::string view = "rows_in_memory";
  connection.ViewArrow(view, projection.stream());
  const Relation relation = NamedRelation(connection, view);
  return TableReader(name, relation, request).Read(connection, bits);
}

ReadResult Read(const ReadRequest& request, BitSource& bits) {
  const DataSource& source = request.source;
  AtPlace("data", [&] { CheckNullValues(source.null_values, request.domain); });
  if (source.arrow != nullptr) return ReadArrow(request, bits);
  if (!source.source.empty() && !source.database.empty()) {
    Fail(ErrorKind::kBadInput, "data: both source and database are set; keep one");
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
