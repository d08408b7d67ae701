#include "residua/model/cell_finder.h"

namespace residua {

CellFinder::CellFinder(const Attribute& attribute) : last_(NumValueCells(attribute) - 1) {
  const auto& cells = attribute.encoding.cells;
  if (const auto* integers = std::get_if<IntegerEncoding>(&cells)) {
    first_ = integers->first;
    last_ = integers->last;
  } else if (const MeanEncoding* mean = MeanOf(attribute); mean != nullptr && mean->is_integers) {
    first_ = mean->low;
    last_ = mean->high;
  } else if (mean != nullptr) {
    numbers_of_mean_ = mean;
    last_ = mean->num_steps();
    low_ = DecimalValue(mean->low, mean->decimals);
    high_ = DecimalValue(mean->high, mean->decimals);
    units_ = DecimalValue(1, -mean->decimals);
  } else if (const auto* bins = std::get_if<CutEncoding>(&cells)) {
    cuts_ = &bins->cuts;
  } else if (const auto* list = std::get_if<ValueEncoding>(&cells)) {
    places_.emplace(list->values);
    if (attribute.encoding.outside == OutsidePolicy::kOther) {
      other_cell_ = static_cast<int64_t>(list->values.size());
    }
    for (size_t k = 0; k < list->values.size(); ++k) {
      auto number = CanonicalDecimal(list->values[k]);
      if (!number) continue;
      numbers_.push_back(*std::move(number));
      number_cells_.push_back(static_cast<int64_t>(k));
    }
    number_places_.emplace(numbers_);
  } else if ((dates_ = std::get_if<DateEncoding>(&cells)) != nullptr) {
    first_period_ = PeriodOf(dates_->first_day, dates_->every);
  } else {
    part_ = std::get_if<PartEncoding>(&cells);
  }
}

// Which of two steps is nearest may be rounded wrongly, a hair from the middle; what is found is
// always a step.
FoundCell CellFinder::FindStep(double value) const {
  if (value < low_) return {0, Fault::kBelow};
  if (value > high_) return {last_, Fault::kAbove};
  const auto& mean = *numbers_of_mean_;
  const double place =
      (value * units_ - static_cast<double>(mean.low)) / static_cast<double>(mean.step);
  return {std::clamp<int64_t>(std::llround(place), 0, last_)};
}

FoundCell CellFinder::FindNumberIn(std::string_view text) const {
  const std::string_view number_text = TrimmedNumber(text);
  if (is_integral()) {
    if (const auto integer = ParseInteger(number_text)) return FindInteger(*integer);
  }
  if (const auto number = ParseNumber(number_text)) return Find(*number);
  return {FoundCell::kNoCell, is_integral() ? Fault::kNotInteger : Fault::kNotNumber};
}

FoundCell CellFinder::FindDateIn(std::string_view text) const {
  const auto moment = ParseMoment(text);
  if (!moment) return {FoundCell::kNoCell, Fault::kNotDate};
  if (part_ != nullptr) {
    const auto cell = PartOf(*moment, part_->part);
    return cell ? FoundCell{*cell} : FoundCell{FoundCell::kNoCell, Fault::kNoTime};
  }
  if (moment->day < dates_->first_day) return {0, Fault::kBelow};
  if (moment->day > dates_->last_day) return {last_, Fault::kAbove};
  return {PeriodOf(moment->day, dates_->every) - first_period_};
}

std::optional<CellRange> CellFinder::FindPeriod(std::string_view text) const {
  RESIDUA_CHECK(dates_ != nullptr);
  const auto days = ParsePeriod(text);
  if (!days) return std::nullopt;
  const DateStep every = dates_->every;
  const int64_t first = PeriodOf(days->first, every);
  const int64_t last = PeriodOf(days->last, every);
  if (DaysOf(first, every).first != days->first || DaysOf(last, every).last != days->last) {
    Fail(ErrorKind::kBadInput,
         "'{}' begins or ends within a {}, and each {} is counted as a whole; write it like {}",
         text, TextOf(kDateSteps, every), TextOf(kDateSteps, every), PeriodLabel(first, every));
  }
  const CellRange cells{first - first_period_, last - first_period_};
  if (cells.first < 0 || cells.last > last_) return std::nullopt;
  return cells;
}

FoundCell CellFinder::FindUnlisted(std::string_view text) const {
  if (other_cell_ && text == kOtherLabel) return {*other_cell_};
  if (text.find('.') == std::string_view::npos) return {FoundCell::kNoCell, Fault::kNotListed};
  return FindDecimal(text);
}

FoundCell CellFinder::FindDecimal(std::string_view text) const {
  const auto number = CanonicalDecimal(text);
  const int32_t place = number ? number_places_->Find(*number) : TextPlaces::kNone;
  if (place == TextPlaces::kNone) return {FoundCell::kNoCell, Fault::kNotListed};
  return {number_cells_[static_cast<size_t>(place)]};
}

FoundCell CellFinder::FindListedNumber(std::string_view value) const {
  RESIDUA_CHECK(places_);
  if (value == "nan") return {FoundCell::kNoCell, Fault::kNan};
  const FoundCell found = FindListed(value);
  return found.is_found() ? found : FindDecimal(value);
}

}  // namespace residua
