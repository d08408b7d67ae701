#include "residua/files/measurement_file.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/version.h"
#include "residua/files/digest.h"
#include "residua/files/first_measurements.h"
#include "residua/files/format_version.h"
#include "residua/files/measurement_layout.h"
#include "residua/files/measurement_rows.h"
#include "residua/files/parquet/parquet_columns.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/measure/measure.h"

namespace residua {
namespace {

std::vector<ParquetColumnType> MeasurementColumnTypes() {
  using Kind = ParquetColumnType::Kind;
  constexpr Kind kKinds[] = {Kind::kInteger, Kind::kText,    Kind::kText,
                             Kind::kInteger, Kind::kInteger, Kind::kDecimal};
  std::vector<ParquetColumnType> types;
  for (size_t k = 0; k < std::size(kKinds); ++k) {
    const bool is_nullable = k >= static_cast<size_t>(MeasurementColumn::kValue);
    types.push_back({kMeasurementColumns[k], kKinds[k], is_nullable});
  }
  return types;
}

// The identity of the data, where it is known.
constexpr const char* kIdentityKey = "residua_data";

std::map<std::string, std::string> MeasurementMetadata(const PlanFile& plan,
                                                       const std::string& plan_json) {
  std::map<std::string, std::string> metadata = {
      {"residua_format", std::string(kMeasurementFormat)},
      {"residua_version", fmt::format("{}", kMeasurementVersion)},
      {"residua_tool", fmt::format("residua {}", Version())},
      {"residua_neighbours", NeighboursInWords(plan.plan.protection)},
      {"residua_guarantee", InWords(StatedGuarantee(plan.plan))},
      {"residua_plan", plan_json}};
  if (!plan.data.identity.empty()) metadata[kIdentityKey] = plan.data.identity;
  return metadata;
}

// DECIMAL(38,0) holds what is below 10^38 in size.
void CheckFitsDecimal(std::span<const Int128> values) {
  Int128 limit = 1;
  for (int k = 0; k < 38; ++k) limit *= 10;
  for (const Int128 value : values) {
    if (value >= limit || value <= -limit) {
      Fail(ErrorKind::kTooLarge, "a noisy value has more than 38 digits; plan for smaller tables");
    }
  }
}

// A column with one run per set: its distinct entries, and the entry of each.
template <typename Entry>
class RunsOfSets {
 public:
  void Add(int64_t num_rows, const Entry& entry) {
    const auto [known, is_new] = number_.try_emplace(entry, std::ssize(entries_));
    if (is_new) entries_.push_back(entry);
    stretches_.push_back({.count = num_rows, .size = 1, .offset = known->second});
  }
  DictionaryColumn Column() {
    dictionary_ = DictionaryOf(std::span<const Entry>(entries_));
    return {&dictionary_, stretches_};
  }

 private:
  std::map<Entry, int64_t> number_;
  std::vector<Entry> entries_;
  std::vector<EntryStretch> stretches_;
  ParquetDictionary dictionary_;
};

// The file as Parquet, or an Error that says what it is.
ParquetFooter ReadMeasurementFooter(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (!std::filesystem::exists(path)) Fail(ErrorKind::kIo, "{}: no such file", name);
  if (!LooksLikeParquet(path)) {
    Fail(ErrorKind::kBadInput, "{}: is not a measurement file; {}", name,
         Phrase{Phrase::Kind::kMakeMeasurements});
  }
  ParquetFooter footer = ReadParquetFooter(OpenBytes(path));
  if (footer.metadata["residua_format"] != kMeasurementFormat) {
    Fail(ErrorKind::kBadInput, "{}: is not a measurement file; {}", name,
         Phrase{Phrase::Kind::kMakeMeasurements});
  }
  CheckFormatVersion(fmt::format("{}: measurement", name),
                     ParseInteger(footer.metadata["residua_version"]), kFirstMeasurementVersion,
                     kMeasurementVersion);
  return footer;
}

}  // namespace

// Collects the values of a row group.
class MeasurementWriter::Rows {
 public:
  Rows(const std::filesystem::path& path, const PlanFile& plan)
      : plan_(plan.plan),
        layout_(plan_),
        file_(path, MeasurementColumnTypes(), MeasurementMetadata(plan, PlanToJson(plan)),
              ParquetSeal::kDigests) {}

  void Begin(const AttributeSet& set) {
    if (values_left_ > 0) FailMissing(set_ - 1);
    if (set_ == layout_.sets().size() || layout_.sets()[set_] != set) {
      const std::string expected =
          set_ == layout_.sets().size() ? "nothing" : SetName(plan_.domain, layout_.sets()[set_]);
      Fail(ErrorKind::kBadInput,
           "{} comes where {} should; write the sets of MeasuredSets in order",
           SetName(plan_.domain, set), expected);
    }
    values_left_ = layout_.num_values(set_++);
  }

  void BeginOrContinue(const NoisyPiece& piece) {
    if (piece.first_value == 0) return Begin(piece.part.attributes);
    if (set_ > 0 && layout_.sets()[set_ - 1] == piece.part.attributes &&
        layout_.num_values(set_ - 1) - values_left_ == piece.first_value) {
      return;
    }
    Fail(ErrorKind::kBadInput, "value {} of {} comes where others are missing; write all in order",
         piece.first_value, SetName(plan_.domain, piece.part.attributes));
  }

  template <typename Value>
  void Append(std::span<const Value> values) {
    if (std::ssize(values) > values_left_) {
      Fail(ErrorKind::kBadInput, "{} values where {} are missing; append no more than a set has",
           values.size(), values_left_);
    }
    values_left_ -= std::ssize(values);
    while (!values.empty()) {
      const MeasurementLayout::RowGroup& group = layout_.row_groups()[group_];
      const auto room = static_cast<size_t>(group.num_rows) - narrow_.size() - wide_.size();
      const std::span<const Value> piece = values.first(std::min(room, values.size()));
      Collect(piece);
      if (piece.size() == room) WriteRowGroup(group);
      values = values.subspan(piece.size());
    }
  }

  // Whether noise and scale are those of the plan's next set.
  void CheckNoise(const NoisyResidual& residual) const {
    if (residual.noise_variance == IntegerNoiseVariance(plan_, residual.attributes) &&
        residual.scale_bits == ScaleBits(plan_, residual.attributes)) {
      return;
    }
    Fail(ErrorKind::kBadInput, "{} has other noise than its plan says; measure it with its plan",
         SetName(plan_.domain, residual.attributes));
  }

  void CheckComplete() const {
    if (values_left_ > 0) FailMissing(set_ - 1);
    if (set_ < layout_.sets().size()) FailMissing(set_);
  }

  ParquetColumnsFile& file() { return file_; }

 private:
  [[noreturn]] void FailMissing(size_t set) const {
    Fail(ErrorKind::kBadInput, "values of {} are missing; write all values of the plan",
         SetName(plan_.domain, layout_.sets()[set]));
  }

  void Collect(std::span<const int64_t> values) {
    if (wide_.empty()) {
      narrow_.insert(narrow_.end(), values.begin(), values.end());
    } else {
      wide_.insert(wide_.end(), values.begin(), values.end());
    }
  }

  void Collect(std::span<const Int128> values) {
    const auto fits = [](Int128 value) { return value == static_cast<int64_t>(value); };
    if (wide_.empty() && std::all_of(values.begin(), values.end(), fits)) {
      for (const Int128 value : values) narrow_.push_back(static_cast<int64_t>(value));
      return;
    }
    CheckFitsDecimal(values);
    wide_.insert(wide_.end(), narrow_.begin(), narrow_.end());
    narrow_.clear();
    wide_.insert(wide_.end(), values.begin(), values.end());
  }

  void WriteRowGroup(const MeasurementLayout::RowGroup& group) {
    RunsOfSets<int64_t> sets, scales;
    RunsOfSets<std::string> attributes, variances;
    for (const MeasurementLayout::Words& words : layout_.WordsOf(group)) {
      sets.Add(words.num_rows, words.set);
      attributes.Add(words.num_rows, words.attributes);
      variances.Add(words.num_rows, words.variance);
      scales.Add(words.num_rows, words.scale);
    }
    std::vector<ParquetColumnValues> columns = {sets.Column(), attributes.Column(),
                                                variances.Column(), scales.Column()};
    if (wide_.empty()) {
      columns.insert(columns.end(), {PackedColumn{narrow_}, EmptyColumn()});
    } else {
      columns.insert(columns.end(), {EmptyColumn(), std::span<const Int128>(wide_)});
    }
    file_.WriteRowGroup(group.num_rows, columns);
    narrow_.clear();
    wide_.clear();
    ++group_;
  }

  Plan plan_;
  MeasurementLayout layout_;
  ParquetColumnsFile file_;
  size_t set_ = 0;           // the next
  int64_t values_left_ = 0;  // of the one before
  size_t group_ = 0;         // that is collected, in one of two widths
  std::vector<int64_t> narrow_;
  std::vector<Int128> wide_;
};

MeasurementWriter::MeasurementWriter(const std::filesystem::path& path, const PlanFile& plan)
    : rows_(std::make_unique<Rows>(path, plan)) {}

MeasurementWriter::~MeasurementWriter() = default;

void MeasurementWriter::Begin(const AttributeSet& set) { rows_->Begin(set); }

void MeasurementWriter::Append(std::span<const int64_t> values) { rows_->Append(values); }

void MeasurementWriter::Append(std::span<const Int128> values) { rows_->Append(values); }

void MeasurementWriter::Write(const NoisyResidual& residual) {
  rows_->Begin(residual.attributes);
  rows_->CheckNoise(residual);
  std::visit([&](const auto& values) { rows_->Append(std::span(values)); }, residual.values);
}

void MeasurementWriter::Write(const NoisyPiece& piece) {
  rows_->BeginOrContinue(piece);
  rows_->CheckNoise(piece.part);
  std::visit([&](const auto& values) { rows_->Append(std::span(values)); }, piece.part.values);
}

void MeasurementWriter::SetIdentity(const std::string& identity) {
  rows_->file().SetMetadata(kIdentityKey, identity);
}

void MeasurementWriter::Finish() {
  rows_->CheckComplete();
  rows_->file().Finish(Durability::kSynced);
}

void MeasurementWriter::Complete() {
  rows_->CheckComplete();
  rows_->file().Complete();
}

FileInProgress& MeasurementWriter::file() { return rows_->file().file(); }

class MeasurementFile::Contents {
 public:
  explicit Contents(const std::filesystem::path& path) {
    ParquetFooter footer = ReadMeasurementFooter(path);
    const std::string& plan_json = footer.metadata["residua_plan"];
    plan_file = PlanFromJson(plan_json, path.string());
    const Plan& plan = plan_file.plan;
    const std::string& guarantee = footer.metadata["residua_guarantee"];
    if (footer.metadata["residua_neighbours"] != NeighboursInWords(plan.protection) ||
        !IsStatedGuarantee(
            plan, [&](const GuaranteeText& stated) { return guarantee == InWords(stated); })) {
      FailChanged(path, "the guarantee it states is not its plan's");
    }
    plan_file.data.identity = footer.metadata[kIdentityKey];
    if (!plan_file.data.identity.empty() && !IsDataIdentity(plan_file.data.identity)) {
      FailChanged(path, "the identity of its data is none");
    }
    if (ParseInteger(footer.metadata["residua_version"]) == kFirstMeasurementVersion) {
      first.emplace(path, plan, Sha256(plan_json));
    } else {
      rows.emplace(OpenBytes(path), footer, plan);
      seal = footer.metadata[kFooterDigestKey];
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  PlanFile plan_file;
  std::string seal;
  // One of the two, by the format.
  std::optional<FirstMeasurements> first;
  std::optional<MeasurementRows> rows;
};

MeasurementFile::MeasurementFile(const std::filesystem::path& path)
    : contents_(std::make_unique<Contents>(path)) {}
MeasurementFile::MeasurementFile(MeasurementFile&&) noexcept = default;
MeasurementFile::~MeasurementFile() = default;

const PlanFile& MeasurementFile::plan_file() const { return contents_->plan_file; }

const std::string& MeasurementFile::seal() const { return contents_->seal; }

void MeasurementFile::ForEach(const std::function<void(NoisyResidual&&)>& visit) const {
  if (contents_->first) {
    contents_->first->ForEach(true, visit);
  } else {
    contents_->rows->ForEach(nullptr, visit);
  }
}

void MeasurementFile::ForEachOf(std::vector<AttributeSet> sets,
                                const std::function<void(NoisyResidual&&)>& visit) const {
  std::sort(sets.begin(), sets.end(), ListedBefore);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  for (const AttributeSet& set : sets) {
    if (plan().mechanisms.Find(OrbitOf(plan().classes, set))) continue;
    Fail(ErrorKind::kBadInput, "{} was not measured", SetName(plan().domain, set));
  }
  if (contents_->first) {
    contents_->first->ForEach(true, [&](NoisyResidual&& residual) {
      if (std::binary_search(sets.begin(), sets.end(), residual.attributes, ListedBefore)) {
        visit(std::move(residual));
      }
    });
    return;
  }
  std::vector<size_t> numbers;
  for (const AttributeSet& set : sets) {
    numbers.push_back(contents_->rows->layout().Find(set).value());
  }
  contents_->rows->ForEach(&numbers, visit);
}

void MeasurementFile::ForEachNoise(
    const std::function<void(const AttributeSet&, const Rational&)>& visit) const {
  if (contents_->first) {
    contents_->first->ForEach(false, [&](NoisyResidual&& residual) {
      visit(residual.attributes, residual.noise_variance);
    });
    return;
  }
  // Every row says what its plan says, or is refused.
  contents_->rows->CheckAll();
  for (const AttributeSet& set : contents_->rows->layout().sets()) {
    visit(set, IntegerNoiseVariance(plan(), set));
  }
}

bool MeasurementFile::HasPieces(const AttributeSet& set) const {
  if (!contents_->rows) return false;
  const MeasurementLayout& layout = contents_->rows->layout();
  const auto number = layout.Find(set);
  return number && layout.HasOwnRowGroups(*number);
}

bool MeasurementFile::IsWide(const AttributeSet& set) const {
  RESIDUA_CHECK(HasPieces(set));
  return contents_->rows->IsWide(contents_->rows->layout().Find(set).value());
}

void MeasurementFile::ForEachPiece(const AttributeSet& set,
                                   const std::function<void(ResidualValues)>& visit) const {
  RESIDUA_CHECK(HasPieces(set));
  contents_->rows->ForEachPiece(contents_->rows->layout().Find(set).value(), visit);
}

bool LooksLikeParquet(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  char magic[4] = {};
  stream.read(magic, sizeof magic);
  return stream.gcount() == 4 && std::string_view(magic, 4) == "PAR1";
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
