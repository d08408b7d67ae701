#include "web/core/page_release.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "residua/base/error.h"
#include "residua/files/measurement_layout.h"
#include "residua/files/parquet/parquet_columns.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/measure/measured_sets.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// As Parquet files begin and end.
constexpr std::string_view kFirstBytes = "PAR1";

// Values of the file that are held at once take half a gigabyte at most. A browser gives a page two
// to four.
constexpr int64_t kMaxReadValues = int64_t{1} << 26;

// A footer takes some hundred bytes for each row group, and the plan.
constexpr int64_t kMaxFooterBytes = int64_t{1} << 28;

Json Problem(std::string_view name) { return {{"problem", name}}; }

// Why it is not the file of the page's release. Plans are told apart by what they measure.
std::string_view DifferenceOf(const Plan& plan, const ParquetFooter& footer) {
  try {
    const PlanFile other = PlanFromJson(footer.metadata.at("residua_plan"), "the plan of the file");
    if (PlanDigest(other.plan) == PlanDigest(plan)) return "otherMeasurement";
  } catch (const std::exception&) {
    // A plan that this version cannot read is not the page's.
  }
  return "otherRelease";
}

}  // namespace

PageRelease::PageRelease(PlanFile file, std::vector<NoisyResidual> residuals, std::string seal)
    : file_(std::move(file)), in_page_(std::move(residuals)), seal_(std::move(seal)) {}

const ResidualIndex& PageRelease::index() {
  if (index_) return *index_;
  std::vector<ResidualView> views;
  for (const NoisyResidual& residual : in_page_) views.push_back(ViewOf(residual));
  if (rows_) {
    for (const AttributeSet& set : LeftOut()) {
      const auto read = read_.find(rows_->layout().Find(set).value());
      if (read != read_.end()) {
        views.push_back(ViewOf(read->second));
      } else {
        views.push_back({set, {}, IntegerNoiseVariance(plan(), set), ScaleBits(plan(), set), true});
      }
    }
  }
  index_.emplace(plan().domain, BasisOfAttributes(plan()), views);
  return *index_;
}

std::vector<AttributeSet> PageRelease::LeftOut() const {
  std::vector<AttributeSet> in_page;
  for (const NoisyResidual& residual : in_page_) in_page.push_back(residual.attributes);
  std::sort(in_page.begin(), in_page.end(), ListedBefore);
  const std::vector<AttributeSet> all = MeasuredSets(plan());
  std::vector<AttributeSet> left_out;
  std::set_difference(all.begin(), all.end(), in_page.begin(), in_page.end(),
                      std::back_inserter(left_out), ListedBefore);
  return left_out;
}

Json PageRelease::Open(int64_t size, std::string_view first_and_last) {
  if (!first_and_last.starts_with(kFirstBytes)) return Problem("notMeasurements");
  known_ = first_and_last.substr(kFirstBytes.size());
  known_from_ = size - static_cast<int64_t>(known_.size());
  int64_t needs = 0;
  ReadableBytes file{"the file", size, [&](int64_t offset, std::span<char> bytes) {
                       needs = size - offset;
                       return CopyKnown(offset, bytes);
                     }};
  ParquetFooter footer;
  try {
    footer = ReadParquetFooter(file);
  } catch (const Error&) {
    if (needs <= size - known_from_ || needs > kMaxFooterBytes) return Problem("notWhole");
    return {{"needs", needs}};
  }
  if (footer.metadata["residua_format"] != kMeasurementFormat) return Problem("notMeasurements");
  if (footer.metadata["residua_version"] == fmt::format("{}", kFirstMeasurementVersion)) {
    return Problem(seal_.empty() ? "firstFormat" : "otherRelease");
  }
  if (!HasRightDigest(footer)) return Problem("changed");
  if (footer.metadata[kFooterDigestKey] != seal_) return Problem(DifferenceOf(plan(), footer));
  file.read = [this](int64_t offset, std::span<char> bytes) { return CopyKnown(offset, bytes); };
  Close();
  try {
    rows_.emplace(std::move(file), footer, plan());
  } catch (const Error&) {
    return Problem("changed");
  }
  known_ = {};
  return Json::object();
}

bool PageRelease::CopyKnown(int64_t offset, std::span<char> bytes) const {
  const int64_t begin = offset - known_from_;
  if (begin < 0 || begin > std::ssize(known_) || std::ssize(known_) - begin < std::ssize(bytes)) {
    return false;
  }
  std::memcpy(bytes.data(), known_.data() + begin, bytes.size());
  return true;
}

void PageRelease::Close() {
  rows_.reset();
  read_.clear();
  index_.reset();
}

Json PageRelease::MissingOf(std::span<const AttributeSet> tables) {
  std::vector<size_t> used;    // of the file
  std::vector<size_t> wanted;  // of these, not read yet
  for (const AttributeSet& table : tables) {
    std::optional<AttributeSet> left_out;
    bool is_measured = true;
    const auto look_at = [&](const AttributeSet& set) {
      const ResidualIndex::Entry* const entry = index().Find(set);
      if (!rows_) {
        if (entry != nullptr) return;
        is_measured &= plan().mechanisms.Find(OrbitOf(plan().classes, set)).has_value();
        left_out = table;
        return;
      }
      is_measured &= entry != nullptr;
      if (entry == nullptr) return;
      const size_t number = rows_->layout().Find(set).value();
      if (entry->is_elsewhere) wanted.push_back(number);
      if (entry->is_elsewhere || read_.contains(number)) used.push_back(number);
    };
    look_at(table);
    // The core itself says what was not measured.
    if (!is_measured) return nullptr;
    ForEachSubset(table, [&](size_t, std::span<const int> set) {
      look_at(AttributeSet(set.begin(), set.end()));
    });
    if (!is_measured) return nullptr;
    if (left_out) return {{"leftOut", SetName(plan().domain, *left_out)}};
  }
  const auto sort = [](std::vector<size_t>* numbers) {
    std::sort(numbers->begin(), numbers->end());
    numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  };
  sort(&wanted);
  sort(&used);
  if (wanted.empty()) return nullptr;
  int64_t num_values = 0;
  for (const size_t number : used) num_values += rows_->layout().num_values(number);
  if (num_values > kMaxReadValues) return {{"tooLarge", num_values}};
  int64_t num_others = 0;
  for (const auto& [number, residual] : read_) {
    if (!std::binary_search(used.begin(), used.end(), number)) {
      num_others += rows_->layout().num_values(number);
    }
  }
  if (num_values + num_others > kMaxReadValues) {
    std::erase_if(read_, [&](const auto& read) {
      return !std::binary_search(used.begin(), used.end(), read.first);
    });
    index_.reset();
  }
  Json stretches = Json::array();
  std::optional<MeasurementRows::Stretch> last;
  for (const size_t number : wanted) {
    const MeasurementRows::Stretch stretch = rows_->StretchOf(number);
    if (last != stretch) stretches.push_back({stretch.offset, stretch.num_bytes});
    last = stretch;
  }
  return {{"needs", std::move(stretches)}};
}

Json PageRelease::Take(int64_t offset, std::string_view bytes) {
  if (!rows_) Fail(ErrorKind::kBadInput, "no file is open");
  known_from_ = offset;
  known_ = bytes;
  std::vector<size_t> numbers;
  for (const AttributeSet& set : LeftOut()) {
    const size_t number = rows_->layout().Find(set).value();
    if (rows_->StretchOf(number).offset == offset) numbers.push_back(number);
  }
  index_.reset();
  try {
    auto number = numbers.begin();
    rows_->ForEach(&numbers, [&](NoisyResidual&& residual) {
      read_.insert_or_assign(*number++, std::move(residual));
    });
  } catch (const Error&) {
    Close();
    return Problem("changed");
  }
  known_ = {};
  return Json::object();
}

}  // namespace residua
