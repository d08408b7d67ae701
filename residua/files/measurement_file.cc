#include "residua/files/measurement_file.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/version.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/relation.h"
#include "residua/files/digest.h"
#include "residua/files/format_version.h"
#include "residua/files/parquet_footer.h"
#include "residua/measure/measure.h"

namespace residua {
namespace {

constexpr std::string_view kMeasurementFormat = "residua-measurements";
// Format 2 has the scale of each set; format 1 has none, and all are 1.
constexpr int64_t kFirstMeasurementVersion = 1;
constexpr int64_t kMeasurementVersion = 2;

// Values a row. DuckDB buffers 2048 rows, so this bounds what writing holds to some 64 MB.
constexpr int64_t kValuesPerRow = 4096;

// Values a batch: larger ones only wait.
constexpr int64_t kValuesPerBatch = int64_t{1} << 18;

// A row group ends with the batch that brings it to 2048 rows, so it has no more values than this.
constexpr int64_t kMaxRowGroupValues = 2048 * kValuesPerRow + 2 * kValuesPerBatch;
// ... and none of its columns more bytes: 16 for a wide value, as many for all that is beside it.
constexpr int64_t kMaxColumnBytes = 32 * kMaxRowGroupValues;

// What DuckDB may hold of a file: a row group of wide values, compressed and not, each in a buffer
// of up to twice its size.
constexpr int64_t kReadingBytes = int64_t{1} << 30;

enum Column { kSet, kPart, kAttributes, kValues, kWideValues, kVariance, kDigest, kScale };
struct FileColumn {
  std::string name;
  std::string type;   // DuckDB's
  std::string empty;  // read in place of a null
};
std::vector<FileColumn> ColumnsOf(int64_t version) {
  std::vector<FileColumn> columns = {{"set", "BIGINT", "-1"},
                                     {"part", "BIGINT", "-1"},
                                     {"attributes", "VARCHAR[]", "[]"},
                                     {"values", "BIGINT[]", "[]"},
                                     {"wide_values", "DECIMAL(38,0)[]", "[]"},
                                     {"variance", "VARCHAR", "''"},
                                     {"digest", "VARCHAR", "''"}};
  if (version > kFirstMeasurementVersion) columns.push_back({"scale", "BIGINT", "-1"});
  return columns;
}

std::vector<std::string> ColumnNames() {
  std::vector<std::string> names;
  for (const FileColumn& column : ColumnsOf(kMeasurementVersion)) names.push_back(column.name);
  return names;
}

ParquetBatch EmptyBatch() {
  return {std::vector<int64_t>(),
          std::vector<int64_t>(),
          std::vector<std::vector<std::string>>(),
          std::vector<std::vector<int64_t>>(),
          std::vector<std::vector<Int128>>(),
          std::vector<std::string>(),
          std::vector<std::string>(),
          std::vector<int64_t>()};
}

template <typename Value>
std::vector<Value>& ColumnOf(ParquetBatch* batch, Column column) {
  return std::get<std::vector<Value>>((*batch)[column]);
}

// What a row says beside its values.
struct RowHead {
  int64_t set = 0;
  int64_t part = 0;
  std::vector<std::string> attributes;
  std::string variance;
  std::optional<int64_t> scale;  // nothing in format 1
};

// Covers the plan, the row's place and all it says.
template <typename Value>
std::string RowDigest(std::string_view plan_digest, const RowHead& head,
                      const std::vector<Value>& values) {
  std::string text = fmt::format("{}|{}|{}|{}|", plan_digest, head.set, head.part, head.variance);
  if (head.scale) text += fmt::format("{}|", *head.scale);
  for (const std::string& name : head.attributes) text += fmt::format("{}:{}|", name.size(), name);
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  return Sha256(text);
}

std::string InWords(const GuaranteeText& guarantee) {
  return fmt::format("{}-zCDP; {}({}, {})-differential privacy", guarantee.rho,
                     guarantee.mu.empty() ? "" : fmt::format("{}-Gaussian, ", guarantee.mu),
                     guarantee.epsilon, guarantee.delta);
}

std::map<std::string, std::string> Metadata(const PlanFile& plan, const std::string& plan_json) {
  return {{"residua_format", std::string(kMeasurementFormat)},
          {"residua_version", fmt::format("{}", kMeasurementVersion)},
          {"residua_tool", fmt::format("residua {}", Version())},
          {"residua_neighbours", NeighboursInWords(plan.plan.protection)},
          {"residua_guarantee", InWords(StatedGuarantee(plan.plan))},
          {"residua_plan", plan_json}};
}

std::vector<std::string> Names(const Domain& domain, const AttributeSet& set) {
  std::vector<std::string> names;
  for (const int i : set) names.push_back(domain[i].name);
  return names;
}

[[noreturn]] void FailChanged(const std::filesystem::path& path, std::string_view what) {
  Fail(ErrorKind::kRefused, "{}: {}; the file was changed or is not whole", path.string(), what);
}

// Of each attribute set of the orbit.
int64_t NumValues(const Plan& plan, std::span<const int> orbit) {
  int64_t num_values = 1;
  for (const int c : orbit) {
    num_values = CheckedMultiply(num_values, NumResidualRows(plan.bases[static_cast<size_t>(c)]));
  }
  return num_values;
}

// Puts a set's rows together again and checks them.
class ResidualAssembler {
 public:
  // Without values, it passes on residuals that have none; all are checked either way.
  ResidualAssembler(const std::filesystem::path& path, const Plan& plan,
                    std::string_view plan_digest, int64_t version, bool with_values,
                    const std::function<void(NoisyResidual&&)>& visit)
      : path_(path),
        plan_(plan),
        plan_digest_(plan_digest),
        version_(version),
        with_values_(with_values),
        visit_(visit) {}

  void AddRows(const DuckDbChunk& chunk) {
    for (int64_t row = 0; row < chunk.num_rows(); ++row) AddRow(chunk, row);
  }

  void Finish() {
    Emit();
    Integer expected = 0;
    for (int64_t k = 0; k < plan_.mechanisms.size(); ++k) {
      expected += OrbitSize(plan_.classes, plan_.mechanisms[k]);
    }
    if (expected != static_cast<long>(seen_.size())) {
      FailChanged(path_, "attribute sets are missing");
    }
  }

 private:
  void AddRow(const DuckDbChunk& chunk, int64_t row) {
    RowHead head{chunk.Values<int64_t>(kSet)[row],
                 chunk.Values<int64_t>(kPart)[row],
                 AttributeNames(chunk, row),
                 std::string(TextOf(chunk.Values<duckdb_string_t>(kVariance)[row])),
                 {}};
    if (version_ > kFirstMeasurementVersion) head.scale = chunk.Values<int64_t>(kScale)[row];
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
    scale_bits_ = ScaleBits(plan_, attributes_);
    if (scale_bits_ > 62 || head.scale.value_or(1) != int64_t{1} << scale_bits_) {
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
    NoisyResidual residual{attributes_, {}, variance_, scale_bits_};
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
  int64_t version_;
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
  int scale_bits_ = 0;
  std::vector<int64_t> narrow_values_;
  std::vector<Int128> wide_values_;
};

std::map<std::string, std::string> ReadMetadata(const std::string& name,
                                                DuckDbConnection* connection) {
  std::map<std::string, std::string> metadata;
  const std::string select = fmt::format(
      "SELECT decode(key)::VARCHAR, decode(value)::VARCHAR FROM parquet_kv_metadata({})",
      SqlPath(name));
  try {
    connection->Stream(select, [&](const DuckDbChunk& chunk) {
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        metadata.emplace(TextOf(chunk.Values<duckdb_string_t>(0)[row]),
                         TextOf(chunk.Values<duckdb_string_t>(1)[row]));
      }
    });
  } catch (const Error& error) {
    Fail(ErrorKind::kBadInput, "{}; the measurement file is incomplete: get it again",
         error.what());
  }
  return metadata;
}

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

// DECIMAL(38,0) holds what is below 10^38 in size.
void CheckFitsDecimal(const std::vector<Int128>& values) {
  Int128 limit = 1;
  for (int k = 0; k < 38; ++k) limit *= 10;
  for (const Int128 value : values) {
    if (value >= limit || value <= -limit) {
      Fail(ErrorKind::kTooLarge, "a noisy value has more than 38 digits; plan for smaller tables");
    }
  }
}

}  // namespace

MeasurementWriter::MeasurementWriter(const std::filesystem::path& path, const PlanFile& plan)
    : plan_digest_(Sha256(PlanToJson(plan))),
      writer_(path, ColumnNames(), EmptyBatch(), Metadata(plan, PlanToJson(plan))),
      batch_(EmptyBatch()),
      domain_(plan.plan.domain) {}

void MeasurementWriter::Write(const NoisyResidual& residual) {
  if (num_sets_ > 0 && !ListedBefore(last_set_, residual.attributes)) {
    Fail(ErrorKind::kBadInput, "{} comes after {}; write sets in the order of MeasuredSets",
         SetName(domain_, residual.attributes), SetName(domain_, last_set_));
  }
  last_set_ = residual.attributes;
  if (const auto* narrow = std::get_if<std::vector<int64_t>>(&residual.values)) {
    WriteValues(residual, *narrow);
  } else {
    std::visit([&](const auto& values) { WriteValues(residual, values); },
               InLeastWidth(std::get<std::vector<Int128>>(residual.values)));
  }
  ++num_sets_;
}

template <typename Value>
void MeasurementWriter::WriteValues(const NoisyResidual& residual,
                                    const std::vector<Value>& values) {
  if constexpr (std::is_same_v<Value, Int128>) CheckFitsDecimal(values);
  RowHead head{num_sets_, 0, Names(domain_, residual.attributes), ToString(residual.noise_variance),
               int64_t{1} << residual.scale_bits};
  const auto size = static_cast<int64_t>(values.size());
  for (int64_t part = 0; part * kValuesPerRow < size; ++part) {
    const int64_t first = part * kValuesPerRow;
    const int64_t last = std::min(size, first + kValuesPerRow);
    std::vector<Value> piece(values.begin() + first, values.begin() + last);
    head.part = part;
    ColumnOf<int64_t>(&batch_, kSet).push_back(head.set);
    ColumnOf<int64_t>(&batch_, kPart).push_back(head.part);
    ColumnOf<std::vector<std::string>>(&batch_, kAttributes).push_back(head.attributes);
    ColumnOf<std::string>(&batch_, kVariance).push_back(head.variance);
    ColumnOf<std::string>(&batch_, kDigest).push_back(RowDigest(plan_digest_, head, piece));
    ColumnOf<int64_t>(&batch_, kScale).push_back(*head.scale);
    ColumnOf<std::vector<int64_t>>(&batch_, kValues).emplace_back();
    ColumnOf<std::vector<Int128>>(&batch_, kWideValues).emplace_back();
    constexpr Column kColumn = std::is_same_v<Value, Int128> ? kWideValues : kValues;
    ColumnOf<std::vector<Value>>(&batch_, kColumn).back() = std::move(piece);
    batch_values_ += last - first;
    if (batch_values_ >= kValuesPerBatch ||
        static_cast<int64_t>(ColumnOf<int64_t>(&batch_, kSet).size()) == kMaxBatchRows) {
      Flush();
    }
  }
}

void MeasurementWriter::Flush() {
  writer_.Write(std::exchange(batch_, EmptyBatch()));
  batch_values_ = 0;
}

void MeasurementWriter::Finish() {
  Flush();
  writer_.Finish();
}

void MeasurementWriter::Complete() {
  Flush();
  writer_.Complete();
}

bool LooksLikeParquet(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  char magic[4] = {};
  stream.read(magic, sizeof magic);
  return stream.gcount() == 4 && std::string_view(magic, 4) == "PAR1";
}

MeasurementFile::MeasurementFile(const std::filesystem::path& path) : path_(path) {
  const std::string name = path.string();
  if (!std::filesystem::exists(path)) Fail(ErrorKind::kIo, "{}: no such file", name);
  if (!LooksLikeParquet(path)) {
    Fail(ErrorKind::kBadInput, "{}: is not a measurement file; {}", name,
         Phrase{Phrase::Kind::kMakeMeasurements});
  }
  CheckParquetFooter(path);
  DuckDbConnection connection = DuckDbConnection::InLittleMemory(name, name, kReadingBytes);
  std::map<std::string, std::string> metadata = ReadMetadata(name, &connection);
  if (metadata["residua_format"] != kMeasurementFormat) {
    Fail(ErrorKind::kBadInput, "{}: is not a measurement file; {}", name,
         Phrase{Phrase::Kind::kMakeMeasurements});
  }
  const auto version = ParseInteger(metadata["residua_version"]);
  CheckFormatVersion(fmt::format("{}: measurement", name), version, kFirstMeasurementVersion,
                     kMeasurementVersion);
  version_ = *version;
  plan_ = PlanFromJson(metadata["residua_plan"], name);
  plan_digest_ = Sha256(metadata["residua_plan"]);
  const std::string& guarantee = metadata["residua_guarantee"];
  if (metadata["residua_neighbours"] != NeighboursInWords(plan_.plan.protection) ||
      !IsStatedGuarantee(
          plan_.plan, [&](const GuaranteeText& stated) { return guarantee == InWords(stated); })) {
    FailChanged(path_, "the guarantee it states is not its plan's");
  }
  const std::vector<FileColumn> expected = ColumnsOf(version_);
  const std::vector<DuckDbColumn> columns =
      connection.Describe("SELECT * FROM " + ParquetRows(name));
  for (size_t k = 0; k < expected.size(); ++k) {
    if (columns.size() != expected.size() || columns[k].name != expected[k].name ||
        columns[k].type != expected[k].type) {
      FailChanged(path_, "its columns are not those of a measurement file");
    }
  }
  CheckClaimedSizes(path_, plan(), &connection);
}

void MeasurementFile::ForEach(const std::function<void(NoisyResidual&&)>& visit) const {
  Read(true, visit);
}

void MeasurementFile::ForEachNoise(
    const std::function<void(const AttributeSet&, const Rational&)>& visit) const {
  Read(false,
       [&](NoisyResidual&& residual) { visit(residual.attributes, residual.noise_variance); });
}

void MeasurementFile::Read(bool with_values,
                           const std::function<void(NoisyResidual&&)>& visit) const {
  const std::string name = path_.string();
  DuckDbConnection connection = DuckDbConnection::InLittleMemory(name, name, kReadingBytes);
  ResidualAssembler assembler(path_, plan(), plan_digest_, version_, with_values, visit);
  std::string columns;
  for (const FileColumn& column : ColumnsOf(version_)) {
    columns += fmt::format("{}coalesce(\"{}\", {})", columns.empty() ? "" : ", ", column.name,
                           column.empty);
  }
  connection.Stream(fmt::format("SELECT {} FROM {}", columns, ParquetRows(name)),
                    [&](const DuckDbChunk& chunk) { assembler.AddRows(chunk); });
  assembler.Finish();
}

Measurements MeasurementFile::ReadAll() const {
  Measurements measurements{plan(), {}};
  ForEach([&](NoisyResidual&& residual) {
    AttributeSet set = residual.attributes;
    measurements.residuals.emplace(std::move(set), std::move(residual));
  });
  return measurements;
}

Rational VerifyMeasurements(const MeasurementFile& file) {
  const Plan& plan = file.plan();
  VerifyPlan(plan);
  std::vector<PricedMechanism> mechanisms;
  file.ForEachNoise([&](const AttributeSet& attributes, const Rational& noise_variance) {
    PricedMechanism mechanism{1, 1, noise_variance};
    for (const int i : attributes) {
      const int c = plan.classes.class_of[static_cast<size_t>(i)];
      mechanism.squared_sensitivity *= plan.bases[static_cast<size_t>(c)].squared_sensitivity;
    }
    mechanisms.push_back(std::move(mechanism));
  });
  // For one row added or removed, whatever the plan protects: the noise alone is compared.
  const Rational recorded = ExactPcost(mechanisms);
  const Rational planned = ExactPcost(PriceMechanisms(MechanismsOf(plan), plan.variances));
  if (recorded != planned) {
    Fail(ErrorKind::kRefused, "the recorded noise costs {} a row, the plan {}",
         ToDoubleUp(recorded), ToDoubleUp(planned));
  }
  return plan.pcost;
}

}  // namespace residua
