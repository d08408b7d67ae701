#include "residua/model/encoding.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "residua/model/domain.h"
#include "residua/model/text_places.h"

namespace residua {
namespace {

EncodingFault FaultOf(std::string_view setting, std::optional<size_t> item,
                      std::string_view problem) {
  return {setting, item, ErrorOf(ErrorKind::kBadInput, "{}", problem)};
}

struct FaultOfCells {
  std::optional<EncodingFault> operator()(std::monostate) const { return std::nullopt; }

  std::optional<EncodingFault> operator()(const IntegerEncoding& integers) const {
    int64_t span = 0;
    const bool is_too_wide = __builtin_sub_overflow(integers.last, integers.first, &span);
    if (!is_too_wide && span >= 0 && span < Domain::kMaxAttributeSize) return std::nullopt;
    return FaultOf("integers", std::nullopt,
                   fmt::format("[{}, {}] is not an increasing range of at most 2^40 integers",
                               integers.first, integers.last));
  }

  std::optional<EncodingFault> operator()(const CutEncoding& bins) const {
    const auto& cuts = bins.cuts;
    if (cuts.empty()) return FaultOf("cuts", std::nullopt, "must hold at least one number");
    for (size_t k = 0; k < cuts.size(); ++k) {
      if (!std::isfinite(cuts[k])) return FaultOf("cuts", k, "must hold finite numbers");
      if (k > 0 && cuts[k] <= cuts[k - 1]) return FaultOf("cuts", k, "must increase strictly");
    }
    return std::nullopt;
  }

  std::optional<EncodingFault> operator()(const ValueEncoding& list) const {
    const TextPlaces places(list.values);
    if (places.size() == list.values.size()) return std::nullopt;
    size_t item = 0;
    while (places.Find(list.values[item]) == static_cast<int32_t>(item)) ++item;
    return FaultOf("values", item, fmt::format("lists '{}' twice", list.values[item]));
  }

  std::optional<EncodingFault> operator()(const DateEncoding& dates) const {
    if (dates.first_day < kFirstDay || dates.last_day > kLastDay) {
      return FaultOf("dates", std::nullopt, "must hold days of the years 1 to 9999");
    }
    if (dates.first_day <= dates.last_day) return std::nullopt;
    return FaultOf("dates", std::nullopt,
                   fmt::format("[{}, {}] is not an increasing range of dates",
                               DayText(dates.first_day), DayText(dates.last_day)));
  }

  std::optional<EncodingFault> operator()(const PartEncoding&) const { return std::nullopt; }

  std::optional<EncodingFault> operator()(const MeanEncoding& mean) const {
    const std::string_view setting = mean.is_integers ? "integers" : "numbers";
    const auto text = [&](int64_t value) { return DecimalText(value, mean.decimals); };
    // MakeMeanEncoding keeps numbers far from the ends of 64 bits; other encodings may come from
    // anywhere.
    int64_t span = 0;
    const bool is_too_wide = __builtin_sub_overflow(mean.high, mean.low, &span);
    if (mean.decimals < 0 || mean.decimals > 15 ||
        (mean.is_integers && (mean.decimals != 0 || mean.step != 1))) {
      return FaultOf(setting, std::nullopt, "must be decimals of at most 15 digits");
    }
    if (is_too_wide ? mean.low > 0 : span <= 0) {
      return FaultOf(
          setting, std::nullopt,
          fmt::format("[{}, {}] is not an increasing range", text(mean.low), text(mean.high)));
    }
    if (mean.step <= 0) {
      return FaultOf("step", std::nullopt,
                     fmt::format("is {}; it must be positive", text(mean.step)));
    }
    if (is_too_wide || span / mean.step > kMaxMeanSteps) {
      return FaultOf(setting, std::nullopt,
                     fmt::format("[{}, {}] is more than {} steps; use numbers with a larger step",
                                 text(mean.low), text(mean.high), kMaxMeanSteps));
    }
    if (span % mean.step != 0) {
      return FaultOf("step", std::nullopt,
                     fmt::format("{} does not divide the range [{}, {}] into whole steps",
                                 text(mean.step), text(mean.low), text(mean.high)));
    }
    return std::nullopt;
  }
};

struct NumCellsOf {
  std::optional<int64_t> operator()(std::monostate) const { return std::nullopt; }
  std::optional<int64_t> operator()(const IntegerEncoding& integers) const {
    return integers.last - integers.first + 1;
  }
  std::optional<int64_t> operator()(const CutEncoding& bins) const {
    return static_cast<int64_t>(bins.cuts.size()) + 1;
  }
  std::optional<int64_t> operator()(const ValueEncoding& list) const {
    return static_cast<int64_t>(list.values.size());
  }
  std::optional<int64_t> operator()(const DateEncoding& dates) const {
    return PeriodOf(dates.last_day, dates.every) - PeriodOf(dates.first_day, dates.every) + 1;
  }
  std::optional<int64_t> operator()(const PartEncoding& part) const { return NumParts(part.part); }
  std::optional<int64_t> operator()(const MeanEncoding&) const { return 2; }
};

bool Lists(const ValueEncoding* list, std::string_view value) {
  return list != nullptr &&
         std::find(list->values.begin(), list->values.end(), value) != list->values.end();
}

}  // namespace

std::optional<EncodingFault> FindFault(const Encoding& encoding) {
  if (auto fault = std::visit(FaultOfCells{}, encoding.cells)) return fault;
  const auto* list = std::get_if<ValueEncoding>(&encoding.cells);
  if (encoding.null_cell && Lists(list, "null")) {
    return EncodingFault{
        "null", std::nullopt,
        Error(ErrorKind::kBadInput, {}, {"names missing values null, and values lists 'null' too"},
              {"leave one of them out"})};
  }
  if (encoding.outside == OutsidePolicy::kClamp &&
      !std::holds_alternative<IntegerEncoding>(encoding.cells) &&
      !std::holds_alternative<MeanEncoding>(encoding.cells) &&
      !std::holds_alternative<DateEncoding>(encoding.cells)) {
    return FaultOf("outside", std::nullopt,
                   "\"clamp\" only makes sense with integers, numbers or dates = [FIRST, LAST]");
  }
  if (encoding.outside == OutsidePolicy::kOther && list == nullptr) {
    return FaultOf("outside", std::nullopt, "\"other\" only makes sense with values = [...]");
  }
  if (encoding.outside == OutsidePolicy::kOther && Lists(list, kOtherLabel)) {
    return EncodingFault{"outside", std::nullopt,
                         Error(ErrorKind::kBadInput, {},
                               {"\"other\" adds a cell named other, and values lists 'other' too"},
                               {"rename the value, or choose another policy"})};
  }
  if (encoding.outside == OutsidePolicy::kNull && !encoding.null_cell) {
    return FaultOf("outside", std::nullopt, "\"null\" needs null = true beside it");
  }
  return std::nullopt;
}

std::optional<int64_t> NumCells(const Encoding& encoding) {
  auto num_cells = std::visit(NumCellsOf{}, encoding.cells);
  if (num_cells && encoding.outside == OutsidePolicy::kOther) ++*num_cells;
  if (num_cells && encoding.null_cell) ++*num_cells;
  return num_cells;
}

void CheckEncoding(const Encoding& encoding, int64_t size, std::string_view key) {
  if (const auto fault = FindFault(encoding)) {
    throw fault->error.About(fmt::format("{}.{}", key, fault->setting));
  }
  if (const auto num_cells = NumCells(encoding); num_cells && *num_cells != size) {
    Fail(ErrorKind::kBadInput, "{}.size is {}, and the encoding has {} cells", key, size,
         *num_cells);
  }
}

}  // namespace residua
