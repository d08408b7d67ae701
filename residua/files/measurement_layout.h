#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "residua/files/plan_file.h"

namespace residua {

// What the key-value metadata of a measurement file says of its format.
inline constexpr std::string_view kMeasurementFormat = "residua-measurements";
// Format 1 has a row for each set; format 2 has one for each value, in row groups by the plan, and
// sets have scales.
inline constexpr int64_t kFirstMeasurementVersion = 1;
inline constexpr int64_t kMeasurementVersion = 2;

// The guarantee as the file states it.
std::string InWords(const GuaranteeText& guarantee);

// The columns of a measurement file of format 2, in their order.
enum class MeasurementColumn { kSet, kAttributes, kVariance, kScale, kValue, kWideValue };
inline constexpr const char* kMeasurementColumns[] = {"set",   "attributes", "variance",
                                                      "scale", "value",      "wide_value"};

// How the rows of a measurement file of format 2 lie in row groups, by the plan alone: one row per
// value, set after set in the order of MeasuredSets. Sets of at most 2^16 values share row groups
// of at most as many; a larger set has row groups of its own, of 2^20 values each but the last.
class MeasurementLayout {
 public:
  // `plan` must outlive it. It takes room for every set: see NumSetsOf.
  explicit MeasurementLayout(const Plan& plan);

  struct RowGroup {
    size_t first_set = 0;
    size_t num_sets = 0;
    int64_t first_value = 0;  // of the set, where it is one of several of its row groups
    int64_t num_rows = 0;
  };

  const Plan& plan() const { return plan_; }
  const std::vector<AttributeSet>& sets() const { return sets_; }
  int64_t num_values(size_t set) const { return num_values_[set]; }
  const std::vector<RowGroup>& row_groups() const { return row_groups_; }
  // Nothing if the plan does not measure it.
  std::optional<size_t> Find(const AttributeSet& set) const;
  // Whether no other set has values in its row groups.
  bool HasOwnRowGroups(size_t set) const;
  // The first row group that has values of the set.
  size_t FirstRowGroup(size_t set) const;

  // What the rows of a set of the row group say beside their values.
  struct Words {
    int64_t num_rows = 0;
    int64_t set = 0;
    std::string attributes;
    std::string variance;
    int64_t scale = 1;
  };
  std::vector<Words> WordsOf(const RowGroup& group) const;

 private:
  const Plan& plan_;
  std::vector<AttributeSet> sets_;
  std::vector<int64_t> num_values_;
  std::vector<RowGroup> row_groups_;
};

// How many sets and values the plan measures, before any of them is listed.
Integer NumSetsOf(const Plan& plan);
Integer NumValuesOf(const Plan& plan);
// Of each attribute set of the orbit.
int64_t NumValues(const Plan& plan, std::span<const int> orbit);

}  // namespace residua
