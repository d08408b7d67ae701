#include "residua/data/database/push_down.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "residua/base/checked.h"
#include "residua/base/shown_text.h"
#include "residua/data/arrow_stream.h"
#include "residua/data/database/adbc_rows.h"
#include "residua/data/database/cell_sql.h"
#include "residua/data/database_url.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/relation.h"
#include "residua/data/row_layout.h"
#include "residua/measure/remote/joint_counts.h"

namespace residua {
namespace {

// The types of PostgreSQL that cells are found of.
const std::map<std::string, SqlColumnType, std::less<>>& PostgresTypes() {
  static const std::map<std::string, SqlColumnType, std::less<>> types = {
      {"smallint", SqlColumnType::kInteger},
      {"integer", SqlColumnType::kInteger},
      {"bigint", SqlColumnType::kInteger},
      {"real", SqlColumnType::kReal},
      {"double precision", SqlColumnType::kDouble},
      {"numeric", SqlColumnType::kNumeric},
      {"boolean", SqlColumnType::kBoolean},
      {"text", SqlColumnType::kText},
      {"character varying", SqlColumnType::kText},
      {"character", SqlColumnType::kPaddedText},
      {"date", SqlColumnType::kDate},
      {"timestamp without time zone", SqlColumnType::kTimestamp},
      {"timestamp with time zone", SqlColumnType::kZonedTimestamp}};
  return types;
}

// Passes the rows of a stream of few columns on, chunk by chunk, with these SQL types.
void VisitRows(const std::string& name, ArrowArrayStream* stream, size_t num_columns,
               std::string_view sql_type, const std::function<void(const DuckDbChunk&)>& visit) {
  std::vector<size_t> columns(num_columns);
  for (size_t k = 0; k < num_columns; ++k) columns[k] = k;
  ArrowProjection projection(stream, columns);
  DuckDbConnection connection = DuckDbConnection::InMemory(name, "");
  connection.ViewArrow("found", projection.stream());
  const Relation relation = NamedRelation(connection, "found");
  std::vector<std::string> selected;
  for (const std::string& column : relation.expressions) {
    selected.push_back(fmt::format("CAST({} AS {})", column, sql_type));
  }
  connection.Stream(fmt::format("SELECT {} FROM found", fmt::join(selected, ", ")), visit);
}

// One counting, in the transaction of one connection.
class PushedDown {
 public:
  PushedDown(const DataSource& source, const Domain& domain, const std::stop_token& stop)
      : source_(source),
        domain_(domain),
        file_(ShownText(source.database)),
        nulls_(source.null_values),
        stop_(stop),
        rows_(source.database, stop),
        is_sqlite_(source.database.starts_with("sqlite:")) {}

  ReadReport Count(OutsideValues outside_values, JointCounts* counts, const RowProgress& on_rows) {
    const std::vector<SqlColumnType> types = ColumnTypes();
    FindCells(types);
    const std::vector<std::vector<int32_t>> placed = PlacesOfOutcomes();
    std::vector<std::vector<int64_t>> tallies;
    for (const CellSql& of : cells_) tallies.emplace_back(of.outcomes.size(), 0);
    ReadReport report;
    std::vector<int32_t> row(cells_.size());
    const auto add = [&](int64_t joint, int64_t num_rows) {
      report.num_rows_read = CheckedAdd(report.num_rows_read, num_rows);
      bool is_dropped = false;
      for (size_t i = cells_.size(); i-- > 0;) {
        const auto num_outcomes = std::ssize(cells_[i].outcomes);
        const auto outcome = static_cast<size_t>(joint % num_outcomes);
        joint /= num_outcomes;
        tallies[i][outcome] += num_rows;
        row[i] = placed[i][outcome];
        if (row[i] == ValueEncoder::kDropRow) is_dropped = true;
      }
      if (joint != 0) FailOddAnswer();
      if (is_dropped) {
        report.num_rows_dropped += num_rows;
      } else if (counts != nullptr) {
        counts->Add(row, num_rows);
      }
    };
    ArrowArrayStream* stream = rows_.Query(CountingSql());
    CheckNotBrokenOff(stop_, [&] {
      VisitRows(file_, stream, 2, "BIGINT", [&](const DuckDbChunk& chunk) {
        const auto* joint = chunk.Values<int64_t>(0);
        const auto* num_rows = chunk.Values<int64_t>(1);
        for (int64_t k = 0; k < chunk.num_rows(); ++k) {
          if (IsMissing(chunk.Validity(0), k) || IsMissing(chunk.Validity(1), k) || joint[k] < 0 ||
              num_rows[k] < 0) {
            FailOddAnswer();
          }
          add(joint[k], num_rows[k]);
        }
        if (on_rows) on_rows(report.num_rows_read);
      });
    });
    for (size_t i = 0; i < cells_.size(); ++i) {
      report.attributes.push_back(ReportOf(i, tallies[i], outside_values));
    }
    return report;
  }

 private:
  [[noreturn]] void FailOddAnswer() const {
    Fail(ErrorKind::kIo, "{}: its answer is not one of those asked for; run it again", file_);
  }

  // The query's result as `source`, with columns c0, c1, ... whatever it calls them.
  std::string WithSource() const {
    std::vector<std::string> names;
    for (size_t k = 0; k < names_.size(); ++k) names.push_back(fmt::format("c{}", k));
    return fmt::format("WITH source({}) AS {}", fmt::join(names, ", "), Subquery(source_.query));
  }

  // Finds the columns' names and types; no row is read.
  std::vector<SqlColumnType> ColumnTypes() {
    names_ = ColumnNamesOf(
        rows_.Query(fmt::format("SELECT * FROM {} AS source LIMIT 0", Subquery(source_.query))));
    if (is_sqlite_) {
      NameAlike();
      return std::vector(names_.size(), SqlColumnType::kStorageClasses);
    }
    std::vector<std::string> asked;
    for (size_t k = 0; k < names_.size(); ++k) {
      asked.push_back(
          fmt::format("pg_catalog.pg_typeof(c{0})::text AS t{0}, (SELECT typtype::text "
                      "FROM pg_catalog.pg_type WHERE oid = pg_catalog.pg_typeof(c{0}))"
                      " AS k{0}",
                      k));
    }
    // One row, without any of the query's.
    const std::string sql = fmt::format(
        "{} SELECT {} FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM source LIMIT 0) AS none ON "
        "true",
        WithSource(), fmt::join(asked, ", "));
    ArrowArrayStream* stream = rows_.Query(sql);
    VisitRows(file_, stream, 2 * names_.size(), "VARCHAR", [&](const DuckDbChunk& chunk) {
      for (size_t k = 0; k < names_.size() && chunk.num_rows() == 1; ++k) {
        const auto column = static_cast<int>(2 * k);
        type_names_.emplace_back(TextOf(*chunk.Values<duckdb_string_t>(column)));
        const bool is_enum = TextOf(*chunk.Values<duckdb_string_t>(column + 1)) == "e";
        const auto known = PostgresTypes().find(type_names_.back());
        types_.push_back(is_enum                          ? std::optional(SqlColumnType::kText)
                         : known != PostgresTypes().end() ? std::optional(known->second)
                                                          : std::nullopt);
      }
    });
    if (types_.size() != names_.size()) FailOddAnswer();
    std::vector<SqlColumnType> types;
    for (const auto& type : types_) types.push_back(type.value_or(SqlColumnType::kText));
    return types;
  }

  // SQLite calls a second column `age` age:1. Whoever asks for it must learn that there are two.
  void NameAlike() {
    const std::set<std::string> given(names_.begin(), names_.end());
    for (std::string& name : names_) {
      const size_t colon = name.rfind(':');
      if (colon == std::string::npos || colon + 1 == name.size()) continue;
      const bool is_number = name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
      if (is_number && given.contains(name.substr(0, colon))) name.resize(colon);
    }
  }

  // The expression of each attribute.
  void FindCells(const std::vector<SqlColumnType>& types) {
    Relation relation;
    for (size_t k = 0; k < names_.size(); ++k) {
      relation.columns.push_back({names_[k], std::string(ReadTypeOf(types[k]))});
      relation.expressions.push_back(fmt::format("c{}", k));
    }
    // Refuses what cannot be read either.
    LayoutOf(file_, relation, domain_, {});
    int64_t num_outcomes = 1;
    for (const Attribute& attribute : domain_.attributes()) {
      const std::string& name = ColumnOf(attribute);
      const auto k = static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
      if (!is_sqlite_ && !types_[k]) {
        Fail(ErrorKind::kBadInput,
             "{}: column '{}' is of type {}, whose values the database does not count; convert it "
             "in the query, to text, a number or a date",
             file_, ShownText(name), ShownText(type_names_[k]));
      }
      cells_.push_back(AtPlace(fmt::format("{}: column '{}'", file_, ShownText(name)), [&] {
        return CellSqlOf(attribute, nulls_, types[k], relation.expressions[k]);
      }));
      num_outcomes = CheckedMultiply(num_outcomes, std::ssize(cells_.back().outcomes));
    }
  }

  // Counts the rows of each combination of outcomes, all in one number.
  std::string CountingSql() const {
    std::string joint = "0";
    for (const CellSql& of : cells_) {
      joint = fmt::format("({} * {} + ({}))", joint, of.outcomes.size(), of.sql);
    }
    return fmt::format(
        "{} SELECT cells, count(*) AS num_rows FROM (SELECT CAST({} AS bigint) AS cells FROM "
        "source) AS coded GROUP BY cells",
        WithSource(), joint);
  }

  // The cell of each outcome of each attribute, or that its row is left out.
  std::vector<std::vector<int32_t>> PlacesOfOutcomes() const {
    std::vector<std::vector<int32_t>> placed;
    for (size_t i = 0; i < cells_.size(); ++i) {
      ValueEncoder encoder(domain_[static_cast<int>(i)], file_, OutsideValues::kTally);
      placed.emplace_back();
      for (const auto& outcome : cells_[i].outcomes) {
        placed.back().push_back(outcome ? encoder.EncodeUnseen(*outcome, 1)
                                        : ValueEncoder::kDropRow);
      }
    }
    return placed;
  }

  // What became of the attribute's values. Throws as reading would.
  AttributeReport ReportOf(size_t i, const std::vector<int64_t>& tallies,
                           OutsideValues outside_values) const {
    const Attribute& attribute = domain_[static_cast<int>(i)];
    ValueEncoder encoder(attribute, file_, outside_values);
    std::optional<Error> unclear;
    for (size_t k = 0; k < tallies.size(); ++k) {
      if (tallies[k] == 0) continue;
      if (const auto& outcome = cells_[i].outcomes[k]) {
        encoder.EncodeUnseen(*outcome, tallies[k]);
        continue;
      }
      unclear = ErrorOf(ErrorKind::kBadInput,
                        "{}: column '{}' has a value whose cell the database cannot tell, such as "
                        "a text that may be a number or a date; convert the column in the query, "
                        "so that all its values are of one type",
                        file_, ShownText(ColumnOf(attribute)));
    }
    if (unclear && outside_values == OutsideValues::kPlace) throw *unclear;
    AttributeReport report = encoder.report();
    if (unclear && !report.first_error) report.first_error = unclear;
    return report;
  }

  const DataSource& source_;
  const Domain& domain_;
  const std::string file_;
  const NullValues nulls_;
  const std::stop_token stop_;
  AdbcRows rows_;
  const bool is_sqlite_;
  std::vector<std::string> names_;       // of the query's columns
  std::vector<std::string> type_names_;  // of PostgreSQL
  std::vector<std::optional<SqlColumnType>> types_;
  std::vector<CellSql> cells_;  // of each attribute
};

void CheckSource(const DataSource& source, const Domain& domain, const Protection& protection) {
  AtPlace("data.push_down", [&] {
    if (source.is_given() || !source.source.empty() || source.query.empty()) {
      Fail(ErrorKind::kBadInput,
           "rows that may not leave their database need a query on it; leave push_down out for "
           "these rows");
    }
    CheckPushDown(source.database, domain, protection);
  });
  AtPlace("data", [&] { CheckNullValues(source.null_values, domain); });
  CheckDatabaseUrl(source.database);
}

}  // namespace

CountedResult CountWhereTheyAre(const DataSource& source, const Domain& domain,
                                const Protection& protection, std::vector<AttributeSet> sets,
                                const CountingOptions& options, const RowProgress& on_rows) {
  CheckSource(source, domain, protection);
  JointCounts counts(domain, std::move(sets), options);
  ReadReport report =
      PushedDown(source, domain, options.stop).Count(OutsideValues::kPlace, &counts, on_rows);
  return {std::move(counts).Take(), std::move(report)};
}

ReadReport SurveyWhereTheyAre(const DataSource& source, const Domain& domain,
                              const Protection& protection, const RowProgress& on_rows,
                              const std::stop_token& stop) {
  CheckSource(source, domain, protection);
  return PushedDown(source, domain, stop).Count(OutsideValues::kTally, nullptr, on_rows);
}

}  // namespace residua
