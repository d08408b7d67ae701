#include "residua/files/first_measurements.h"

#include <set>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/relation.h"
#include "residua/files/digest.h"
#include "residua/files/measurement_layout.h"
#include "residua/measure/measure.h"

namespace residua {
namespace {

// Values per row.
constexpr int64_t kValuesPerRow = 4096;

// A row group has no more values than this: it ended with the batch, of up to 2^18 values and one
// row, that brought it to 2048 rows.
constexpr int64_t kMaxRowGroupValues = 2048 * kValuesPerRow + (int64_t{1} << 19);
// ... and none of its columns more bytes: 16 for a wide value, as many for all that is beside it.
constexpr int64_t kMaxColumnBytes = 32 * kMaxRowGroupValues;

// What DuckDB may hold of a file: a row group of wide values, compressed and not, each in a buffer
// of up to twice its size.
constexpr int64_t kReadingBytes = int64_t{1} << 30;

enum Column { kSet, kPart, kAttributes, kValues, kWideValues, kVariance, kDigest };
struct FileColumn {
  std::string name;
  std::string type;   // DuckDB's
  std::string empty;  // read in place of a null
};
const FileColumn kColumns[] = {{"set", "BIGINT", "-1"},
                               {"part", "BIGINT", "-1"},
                               {"attributes", "VARCHAR[]", "[]"},
                               {"values", "BIGINT[]", "[]"},
                               {"wide_values", "DECIMAL(38,0)[]", "[]"},
                               {"variance", "VARCHAR", "''"},
                               {"digest", "VARCHAR", "''"}};

// What a row says beside its values.
struct RowHead {
  int64_t set = 0;
  int64_t part = 0;
  std::vector<std::string> attributes;
  std::string variance;
};

// Covers the plan, the row's place and all it says.
template <typename Value>
std::string RowDigest(std::string_view plan_digest, const RowHead& head,
                      const std::vector<Value>& values) {
  std::string text = fmt::format("{}|{}|{}|{}|", plan_digest, head.set, head.part, head.variance);
  for (const std::string& name : head.attributes) text += fmt::format("{}:{}|", name.size(), name);
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  return Sha256(text);
}

// Puts a set's rows together again and checks them.
class ResidualAssembler {
 public:
  // Without values, it passes on residuals that have none; all are checked either way.
  ResidualAssembler(const std::filesystem::path& path, const Plan& plan,
                    std::string_view plan_digest, bool with_values,
                    const std::function<void(NoisyResidual&&)>& visit)
      : path_(path),
        plan_(plan),
        plan_digest_(plan_digest),
        with_values_(with_values),
        visit_(visit) {}

  void AddRows(const DuckDbChunk& chunk) {
    for (int64_t row = 0; row < chunk.num_rows(); ++row) AddRow(chunk, row);
  }

  void Finish() {
    Emit();
    if (NumSetsOf(plan_) != static_cast<long>(seen_.size())) {
      FailChanged(path_, "attribute sets are missing");
    }
  }

 private:
  void AddRow(const DuckDbChunk& chunk, int64_t row) {
    const RowHead head{chunk.Values<int64_t>(kSet)[row], chunk.Values<int64_t>(kPart)[row],
                       AttributeNames(chunk, row),
                       std::string(TextOf(chunk.Values<duckdb_string_t>(kVariance)[row]))};
    const std::vector<int64_t> values = List<int64_t>(chunk, kValues, row);
    const std::vector<Int128> wide = WideList(chunk, row);
    const std::string digest =
        wide.empty() ? RowDigest(plan_digest_, head, values) : RowDigest(plan_digest_, head, wide);
    if (digest != TextOf(chunk.Values<duckdb_string_t>(kDigest)[row]) ||
        (!wide.empty() && !values.empty())) {
      FailChanged(path_, "a row does not fit its digest");
    }
    const int64_t part = head.part;
    if (part == 0) {
      Emit();
      Begin(head);
    } else if (!open_ || head.set != set_ || part != next_part_ || wide_ != !wide.empty()) {
      FailChanged(path_, "rows are missing or out of order");
    }
    next_part_ = part + 1;
    if (part == 0) wide_ = !wide.empty();
    num_values_ += std::ssize(values) + std::ssize(wide);
    if (!with_values_) return;
    narrow_values_.insert(narrow_values_.end(), values.begin(), values.end());
    wide_values_.insert(wide_values_.end(), wide.begin(), wide.end());
  }

  void Begin(const RowHead& head) {
    if (head.set != static_cast<int64_t>(seen_.size())) {
      FailChanged(path_, "attribute sets are missing");
    }
    std::vector<int> indices;
    for (const std::string& name : head.attributes) indices.push_back(*plan_.domain.Find(name));
    attributes_ = plan_.domain.MakeSet(std::move(indices));
    if (!seen_.insert(attributes_).second) FailChanged(path_, "an attribute set is there twice");
    variance_ = ParseRational(head.variance, "variance");
    if (!plan_.mechanisms.Find(OrbitOf(plan_.classes, attributes_)) ||
        variance_ != IntegerNoiseVariance(plan_, attributes_)) {
      FailChanged(path_, "it records noise that its plan does not");
    }
    if (ScaleBits(plan_, attributes_) != 0) {
      FailChanged(path_, "it records a scale that its plan does not");
    }
    open_ = true;
    set_ = head.set;
    num_values_ = 0;
  }

  void Emit() {
    if (!open_) return;
    open_ = false;
    if (num_values_ != NumValues(plan_, OrbitOf(plan_.classes, attributes_))) {
      FailChanged(path_, "values are missing");
    }
    NoisyResidual residual{attributes_, {}, variance_};
    if (wide_) {
      residual.values = std::exchange(wide_values_, {});
    } else {
      residual.values = std::exchange(narrow_values_, {});
    }
    visit_(std::move(residual));
  }

  // Many rows of a small file may share one long text: only names of attributes are copied.
  std::vector<std::string> AttributeNames(const DuckDbChunk& chunk, int64_t row) const {
    const duckdb_list_entry entry = chunk.Lists(kAttributes)[row];
    std::vector<std::string> names;
    for (idx_t k = entry.offset; k < entry.offset + entry.length; ++k) {
      const auto name = TextOf(chunk.ListValues<duckdb_string_t>(kAttributes)[k]);
      if (!plan_.domain.Find(name))
        FailChanged(path_, "it names attributes that its plan does not");
      names.emplace_back(name);
    }
    return names;
  }

  template <typename Value>
  static std::vector<Value> List(const DuckDbChunk& chunk, Column column, int64_t row) {
    const duckdb_list_entry entry = chunk.Lists(column)[row];
    const Value* first = chunk.ListValues<Value>(column) + entry.offset;
    return std::vector<Value>(first, first + entry.length);
  }

  static std::vector<Int128> WideList(const DuckDbChunk& chunk, int64_t row) {
    std::vector<Int128> values;
    for (const duckdb_hugeint& value : List<duckdb_hugeint>(chunk, kWideValues, row)) {
      values.push_back((static_cast<Int128>(value.upper) << 64) | value.lower);
    }
    return values;
  }

  const std::filesystem::path& path_;
  const Plan& plan_;
  std::string_view plan_digest_;
  bool with_values_;
  const std::function<void(NoisyResidual&&)>& visit_;
  std::set<AttributeSet> seen_;
  bool open_ = false;
  bool wide_ = false;
  int64_t num_values_ = 0;
  int64_t set_ = 0;
  int64_t next_part_ = 0;
  AttributeSet attributes_;
  Rational variance_;
  std::vector<int64_t> narrow_values_;
  std::vector<Int128> wide_values_;
};

// Before any of it is decoded: what the footer claims the file to hold is no more than the plan
// measures, and no more in a row group than residua writes. DuckDB makes room for what it claims.
void CheckClaimedSizes(const std::filesystem::path& path, const Plan& plan,
                       DuckDbConnection* connection) {
  Integer rows_left = 0, values_left = 0;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    const Integer num_sets = OrbitSize(plan.classes, plan.mechanisms[k]);
    const int64_t num_values = NumValues(plan, plan.mechanisms[k]);
    const Integer num_rows = num_sets * Integer((num_values - 1) / kValuesPerRow + 1);
    rows_left += num_rows;
    // An empty list counts as one, and one of each row's two is empty.
    values_left += num_sets * Integer(num_values) + num_rows;
  }
  connection->Stream(
      fmt::format("SELECT column_id, coalesce(row_group_num_rows, -1), coalesce(num_values, -1), "
                  "coalesce(total_uncompressed_size, -1) FROM parquet_metadata({})",
                  SqlPath(path.string())),
      [&](const DuckDbChunk& chunk) {
        for (int64_t row = 0; row < chunk.num_rows(); ++row) {
          const int64_t column = chunk.Values<int64_t>(0)[row];
          const int64_t num_rows = chunk.Values<int64_t>(1)[row];
          const int64_t num_values = chunk.Values<int64_t>(2)[row];
          const int64_t num_bytes = chunk.Values<int64_t>(3)[row];
          if (column == kSet) rows_left -= num_rows;
          if (column == kValues || column == kWideValues) values_left -= num_values;
          if (rows_left < 0 || values_left < 0 || num_rows < 0 || num_values < 0 || num_bytes < 0 ||
              num_values > kMaxRowGroupValues || num_bytes > kMaxColumnBytes) {
            FailChanged(path, "it claims to hold more than its plan measures");
          }
        }
      });
}

}  // namespace

FirstMeasurements::FirstMeasurements(const std::filesystem::path& path, const Plan& plan,
                                     std::string plan_digest)
    : path_(path), plan_(plan), plan_digest_(std::move(plan_digest)) {
  const std::string name = path.string();
  DuckDbConnection connection = DuckDbConnection::InLittleMemory(name, name, kReadingBytes);
  const std::vector<DuckDbColumn> columns =
      connection.Describe("SELECT * FROM " + ParquetRows(name));
  for (size_t k = 0; k < std::size(kColumns); ++k) {
    if (columns.size() != std::size(kColumns) || columns[k].name != kColumns[k].name ||
        columns[k].type != kColumns[k].type) {
      FailChanged(path_, "its columns are not those of a measurement file");
    }
  }
  CheckClaimedSizes(path_, plan_, &connection);
}

void FirstMeasurements::ForEach(bool with_values,
                                const std::function<void(NoisyResidual&&)>& visit) const {
  const std::string name = path_.string();
  DuckDbConnection connection = DuckDbConnection::InLittleMemory(name, name, kReadingBytes);
  ResidualAssembler assembler(path_, plan_, plan_digest_, with_values, visit);
  std::string columns;
  for (const FileColumn& column : kColumns) {
    columns += fmt::format("{}coalesce(\"{}\", {})", columns.empty() ? "" : ", ", column.name,
                           column.empty);
  }
  connection.Stream(fmt::format("SELECT {} FROM {}", columns, ParquetRows(name)),
                    [&](const DuckDbChunk& chunk) { assembler.AddRows(chunk); });
  assembler.Finish();
}

}  // namespace residua
