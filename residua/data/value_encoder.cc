#include "residua/data/value_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"
#include "residua/measure/encoded_table.h"
#include "residua/text/toml_text.h"

namespace residua {
namespace {

// Different values outside that are remembered of one attribute.
constexpr size_t kMaxTallied = 1000;

}  // namespace

std::string SpecKey(const Attribute& attribute) {
  if (IsBareTomlKey(attribute.name)) return "attributes." + attribute.name;
  std::string key = "attributes.\"";
  for (const char c : ShownText(attribute.name)) {
    if (c == '"') key += '\\';
    key += c;
  }
  return key + '"';
}

StoppingValues StoppingValuesOf(const Encoding& encoding) {
  const bool is_listed = std::holds_alternative<ValueEncoding>(encoding.cells);
  const bool is_cut = std::holds_alternative<CutEncoding>(encoding.cells);  // every number has one
  const bool is_error = encoding.outside == OutsidePolicy::kError;
  // Clamping needs a number.
  const bool is_clamp = encoding.outside == OutsidePolicy::kClamp;
  StoppingValues stopping;
  stopping.outside = is_error && !is_cut;
  stopping.not_numbers = !is_listed && (is_error || (is_clamp && !encoding.null_cell));
  stopping.missing = !encoding.null_cell && encoding.outside != OutsidePolicy::kDrop;
  return stopping;
}

ValueEncoder::ValueEncoder(const Attribute& attribute, std::string file,
                           OutsideValues outside_values)
    : attribute_(attribute),
      file_(std::move(file)),
      outside_values_(outside_values),
      stopping_(StoppingValuesOf(attribute.encoding)) {
  EmptyCodeColumn(attribute_);  // refuses what is too large to code
  const Encoding& encoding = attribute_.encoding;
  const int64_t num_nulls = encoding.null_cell ? 1 : 0;
  int64_t num_cells = attribute_.size - num_nulls;
  last_ = num_cells - 1;
  if (const auto* integers = std::get_if<IntegerEncoding>(&encoding.cells)) {
    first_ = integers->first;
    last_ = integers->last;
    if (first_ > last_ || __builtin_sub_overflow(last_, first_, &num_cells) ||
        __builtin_add_overflow(num_cells, 1, &num_cells)) {
      Fail(ErrorKind::kBadInput, "{}: integers = [{}, {}] is not a range that can be counted",
           SpecKey(attribute_), first_, last_);
    }
  }
  cuts_ = std::get_if<CutEncoding>(&encoding.cells);
  if (cuts_ != nullptr) num_cells = static_cast<int64_t>(cuts_->cuts.size()) + 1;
  values_ = std::get_if<ValueEncoding>(&encoding.cells);
  if (values_ != nullptr) {
    num_cells = static_cast<int64_t>(values_->values.size());
    places_.emplace(values_->values);
    if (static_cast<int64_t>(places_->size()) != num_cells) {
      Fail(ErrorKind::kBadInput, "{}: a value is listed twice; list each once",
           SpecKey(attribute_));
    }
  }
  if (num_cells + num_nulls != attribute_.size) {
    Fail(ErrorKind::kBadInput, "{}: the encoding has {} cells and the attribute {}",
         SpecKey(attribute_), num_cells + num_nulls, attribute_.size);
  }
  if (encoding.outside == OutsidePolicy::kClamp && !IsIntegral()) {
    Fail(ErrorKind::kBadInput,
         "{}: outside = \"clamp\" is for integers; choose \"error\", \"drop\" or \"null\"",
         SpecKey(attribute_));
  }
  if (encoding.outside == OutsidePolicy::kNull && !encoding.null_cell) {
    Fail(ErrorKind::kBadInput, "{}: outside = \"null\" needs null = true", SpecKey(attribute_));
  }
}

ValueEncoder::Cell ValueEncoder::CellOfInteger(int64_t value) const {
  if (value < first_) return {kNone, Fault::kBelow, 0};
  if (value > last_) return {kNone, Fault::kAbove, static_cast<int32_t>(last_ - first_)};
  return {static_cast<int32_t>(value - first_)};
}

ValueEncoder::Cell ValueEncoder::CellOfNumber(double value) const {
  if (std::isnan(value)) return {kNone, IsIntegral() ? Fault::kNotInteger : Fault::kNotNumber};
  if (cuts_ != nullptr) {
    const auto& cuts = cuts_->cuts;
    return {static_cast<int32_t>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin())};
  }
  if (value >= kTwoTo63) return {kNone, Fault::kAbove, static_cast<int32_t>(last_ - first_)};
  if (value < -kTwoTo63) return {kNone, Fault::kBelow, 0};
  const Cell below = CellOfInteger(static_cast<int64_t>(std::floor(value)));
  if (value == std::trunc(value)) return below;
  return {kNone, Fault::kNotInteger, below.code != kNone ? below.code : below.clamped};
}

ValueEncoder::Cell ValueEncoder::CellOfText(std::string_view value) const {
  const std::string_view text = TrimmedNumber(value);
  if (IsIntegral()) {
    if (const auto integer = ParseInteger(text)) return CellOfInteger(*integer);
  }
  if (const auto number = ParseNumber(text)) return CellOfNumber(*number);
  return {kNone, IsIntegral() ? Fault::kNotInteger : Fault::kNotNumber};
}

ValueEncoder::Cell ValueEncoder::CellOfListed(std::string_view value) const {
  const int32_t code = places_->Find(value);
  if (code == TextPlaces::kNone) return {kNone, Fault::kNotListed};
  return {code};
}

int32_t ValueEncoder::Encode(int64_t value, int64_t row) {
  RESIDUA_CHECK(IsIntegral());
  const Cell cell = CellOfInteger(value);
  return cell.code >= 0 ? cell.code : Place(cell, fmt::format("{}", value), row);
}

int32_t ValueEncoder::Encode(double value, int64_t row) {
  RESIDUA_CHECK(values_ == nullptr);
  const Cell cell = CellOfNumber(value);
  return cell.code >= 0 ? cell.code : Place(cell, fmt::format("{}", value), row);
}

int32_t ValueEncoder::Encode(std::string_view value, int64_t row) {
  const Cell cell = values_ != nullptr ? CellOfListed(value) : CellOfText(value);
  if (cell.code >= 0) return cell.code;
  const bool is_number = cell.fault == Fault::kBelow || cell.fault == Fault::kAbove;
  return Place(cell,
               is_number ? ShownText(TrimmedNumber(value)) : fmt::format("'{}'", ShownText(value)),
               row);
}

int32_t ValueEncoder::EncodeMissing(int64_t row) {
  ++report_.num_missing;
  if (attribute_.encoding.null_cell) return static_cast<int32_t>(attribute_.size - 1);
  if (!stopping_.missing) {
    ++report_.num_dropped;
    return kDropRow;
  }
  if (outside_values_ == OutsideValues::kTally) {
    if (report_.first_error.empty()) report_.first_error = MissingProblem(row);
    return kDropRow;
  }
  Fail(ErrorKind::kBadInput, "{}", MissingProblem(row));
}

std::string ValueEncoder::MissingProblem(int64_t row) const {
  return fmt::format(
      "{}: column '{}' has no value in row {}; set null = true or outside = \"drop\" for {}", file_,
      ShownText(attribute_.name), row, SpecKey(attribute_));
}

bool ValueEncoder::Stops(const Cell& cell) const {
  const bool is_number_or_listed = cell.clamped != kNone || cell.fault == Fault::kNotListed;
  return is_number_or_listed ? stopping_.outside : stopping_.not_numbers;
}

void ValueEncoder::Tally(const Cell& cell, std::string_view shown_value, int64_t row) {
  ++report_.num_outside;
  if (const auto known = report_.outside.find(std::string(shown_value));
      known != report_.outside.end()) {
    ++known->second;
  } else if (report_.outside.size() < kMaxTallied) {
    report_.outside.emplace(shown_value, 1);
  }
  if (Stops(cell) && report_.first_error.empty()) {
    report_.first_error = OutsideProblem(cell, shown_value, row);
  }
}

int32_t ValueEncoder::Place(const Cell& cell, std::string_view shown_value, int64_t row) {
  if (outside_values_ == OutsideValues::kTally) Tally(cell, shown_value, row);
  if (Stops(cell)) {
    if (outside_values_ == OutsideValues::kTally) return kDropRow;
    Fail(ErrorKind::kBadInput, "{}", OutsideProblem(cell, shown_value, row));
  }
  if (attribute_.encoding.outside == OutsidePolicy::kDrop) {
    ++report_.num_dropped;
    return kDropRow;
  }
  if (attribute_.encoding.outside == OutsidePolicy::kClamp && cell.clamped != kNone) {
    ++report_.num_clamped;
    return cell.clamped;
  }
  RESIDUA_CHECK(attribute_.encoding.null_cell);
  ++report_.num_nulled;
  return static_cast<int32_t>(attribute_.size - 1);
}

std::string ValueEncoder::OutsideProblem(const Cell& cell, std::string_view shown_value,
                                         int64_t row) const {
  const bool is_coded = std::holds_alternative<std::monostate>(attribute_.encoding.cells);
  std::string problem;
  std::string other_remedy;
  switch (cell.fault) {
    case Fault::kBelow:
    case Fault::kAbove:
      problem = fmt::format("outside {}..{}", first_, last_);
      other_remedy = is_coded ? "give it more cells" : "widen integers";
      break;
    case Fault::kNotInteger:
      problem = "not an integer";
      other_remedy = "give it cuts or values instead of integers";
      break;
    case Fault::kNotNumber:
      problem = "not a number";
      other_remedy = "give it values instead of cuts";
      break;
    case Fault::kNotListed:
      problem = "not among its values";
      other_remedy = "add it to values";
      break;
  }
  const std::string place = fmt::format("{}: column '{}' has the value {} (row {}), {}", file_,
                                        ShownText(attribute_.name), shown_value, row, problem);
  if (attribute_.encoding.outside == OutsidePolicy::kClamp) {
    return fmt::format("{}; set null = true or outside = \"drop\" for {}, or {}", place,
                       SpecKey(attribute_), other_remedy);
  }
  return fmt::format("{}; set outside = {}\"drop\" or \"null\"{} for {}, or {}", place,
                     cell.clamped != kNone ? "\"clamp\", " : "",
                     attribute_.encoding.null_cell ? "" : " (with null = true)",
                     SpecKey(attribute_), other_remedy);
}

}  // namespace residua
