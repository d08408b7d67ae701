#include "residua/files/measurement_layout.h"

#include <algorithm>
#include <map>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/measure/measured_sets.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// A question reads the row groups of its sets: these take a millisecond each.
constexpr int64_t kSharedRows = int64_t{1} << 16;
// Writing and reading hold so much of a large set.
constexpr int64_t kPieceRows = int64_t{1} << 20;

// As in a list of names that people type: in quotes where a comma, a quote or a space at an end
// could mislead.
std::string ListedName(const std::string& name) {
  const bool is_plain = !name.empty() && name.find_first_of(",\"") == std::string::npos &&
                        name.front() != ' ' && name.back() != ' ';
  if (is_plain) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string InWords(const GuaranteeText& guarantee) {
  return fmt::format("{}-zCDP; {}({}, {})-differential privacy", guarantee.rho,
                     guarantee.mu.empty() ? "" : fmt::format("{}-Gaussian, ", guarantee.mu),
                     guarantee.epsilon, guarantee.delta);
}

int64_t NumValues(const Plan& plan, std::span<const int> orbit) {
  int64_t num_values = 1;
  for (const int c : orbit) {
    num_values = CheckedMultiply(num_values, NumResidualRows(plan.bases[static_cast<size_t>(c)]));
  }
  return num_values;
}

Integer NumSetsOf(const Plan& plan) {
  Integer num_sets = 0;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    num_sets += OrbitSize(plan.classes, plan.mechanisms[k]);
  }
  return num_sets;
}

Integer NumValuesOf(const Plan& plan) {
  Integer num_values = 0;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    num_values +=
        OrbitSize(plan.classes, plan.mechanisms[k]) * Integer(NumValues(plan, plan.mechanisms[k]));
  }
  return num_values;
}

MeasurementLayout::MeasurementLayout(const Plan& plan) : plan_(plan), sets_(MeasuredSets(plan)) {
  for (size_t k = 0; k < sets_.size(); ++k) {
    const int64_t size = NumValues(plan, OrbitOf(plan.classes, sets_[k]));
    num_values_.push_back(size);
    if (size > kSharedRows) {
      for (int64_t first = 0; first < size; first += kPieceRows) {
        row_groups_.push_back({k, 1, first, std::min(kPieceRows, size - first)});
      }
    } else if (row_groups_.empty() || row_groups_.back().num_rows > kSharedRows - size ||
               HasOwnRowGroups(row_groups_.back().first_set)) {
      row_groups_.push_back({k, 1, 0, size});
    } else {
      ++row_groups_.back().num_sets;
      row_groups_.back().num_rows += size;
    }
  }
}

std::optional<size_t> MeasurementLayout::Find(const AttributeSet& set) const {
  const auto found = std::lower_bound(sets_.begin(), sets_.end(), set, ListedBefore);
  if (found == sets_.end() || *found != set) return std::nullopt;
  return static_cast<size_t>(found - sets_.begin());
}

bool MeasurementLayout::HasOwnRowGroups(size_t set) const { return num_values_[set] > kSharedRows; }

size_t MeasurementLayout::FirstRowGroup(size_t set) const {
  const auto after = std::upper_bound(row_groups_.begin(), row_groups_.end(), set,
                                      [](size_t wanted, const RowGroup& group) {
                                        return wanted < group.first_set + group.num_sets;
                                      });
  return static_cast<size_t>(after - row_groups_.begin());
}

std::vector<MeasurementLayout::Words> MeasurementLayout::WordsOf(const RowGroup& group) const {
  std::vector<Words> words;
  // Sets of one orbit share their noise.
  std::map<int64_t, std::pair<std::string, int64_t>> noise;
  for (size_t k = group.first_set; k < group.first_set + group.num_sets; ++k) {
    Words of_set;
    of_set.num_rows = group.num_sets == 1 ? group.num_rows : num_values_[k];
    of_set.set = static_cast<int64_t>(k);
    for (const int i : sets_[k]) {
      if (!of_set.attributes.empty()) of_set.attributes += ',';
      of_set.attributes += ListedName(plan_.domain[i].name);
    }
    const int64_t orbit = plan_.mechanisms.Find(OrbitOf(plan_.classes, sets_[k])).value();
    auto [known, is_new] = noise.try_emplace(orbit);
    if (is_new) {
      const int bits = ScaleBits(plan_, sets_[k]);
      if (bits < 0 || bits > 62) {
        Fail(ErrorKind::kTooLarge, "the scale 2^{} does not fit 64 bits; plan again", bits);
      }
      known->second = {ToString(IntegerNoiseVariance(plan_, sets_[k])), int64_t{1} << bits};
    }
    std::tie(of_set.variance, of_set.scale) = known->second;
    of_set.scale = CheckedMultiply(of_set.scale, RowSteps(plan_.domain, sets_[k]));
    words.push_back(std::move(of_set));
  }
  return words;
}

}  // namespace residua
