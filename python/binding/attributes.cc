#include "python/binding/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "python/binding/arguments.h"
#include "residua/base/number_text.h"
#include "residua/base/rational.h"
#include "residua/basis/query_matrix.h"
#include "residua/files/spec.h"
#include "residua/model/answer_weights.h"
#include "residua/model/hierarchy.h"
#include "residua/text/choice_text.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

constexpr std::array<std::string_view, 17> kEntries = {
    "integers", "numbers",   "step",          "cuts",   "values", "dates",
    "every",    "part",      "size",          "column", "null",   "outside",
    "queries",  "hierarchy", "level_weights", "custom", "check"};

// Reads the entries of one attribute; `place_` is its name in messages.
class AttributeReader {
 public:
  AttributeReader(std::string_view name, const nb::dict& entries)
      : place_(ItemPlace("domain", name)), entries_(entries) {
    attribute_.name = name;
  }

  Attribute Read() {
    CheckNames();
    ReadCells();
    ReadQueries();
    return std::move(attribute_);
  }

 private:
  std::string PlaceOf(std::string_view entry) const { return fmt::format("{}.{}", place_, entry); }

  void CheckNames() const {
    for (const auto& [key, value] : entries_) {
      const std::string name = TextOf(key, place_);
      if (std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end()) continue;
      Fail(ErrorKind::kBadInput, "{}: '{}' is not known; known are {}", place_, name,
           fmt::join(kEntries, ", "));
    }
  }

  void ReadCells() {
    Encoding& encoding = attribute_.encoding;
    int num_encodings = 0;
    if (const nb::object item = Find(entries_, "integers"); item.is_valid()) {
      encoding.cells = IntegersOf(item, PlaceOf("integers"));
      ++num_encodings;
    }
    if (const nb::object item = Find(entries_, "cuts"); item.is_valid()) {
      CutEncoding bins;
      for (const nb::handle cut : ListOf(item, PlaceOf("cuts"))) {
        bins.cuts.push_back(DoubleOf(cut, PlaceOf("cuts")));
      }
      encoding.cells = std::move(bins);
      ++num_encodings;
    }
    if (const nb::object item = Find(entries_, "values"); item.is_valid()) {
      ValueEncoding list;
      for (const nb::handle value : ListOf(item, PlaceOf("values"))) {
        list.values.push_back(ValueTextOf(value, PlaceOf("values")));
      }
      encoding.cells = std::move(list);
      ++num_encodings;
    }
    const nb::object step = Find(entries_, "step");
    if (const nb::object item = Find(entries_, "numbers"); item.is_valid()) {
      encoding.cells = NumbersOf(item, step);
      ++num_encodings;
    } else if (step.is_valid()) {
      Fail(ErrorKind::kBadInput, "{}: it is given without numbers; add them", PlaceOf("step"));
    }
    const nb::object every = Find(entries_, "every");
    if (const nb::object item = Find(entries_, "dates"); item.is_valid()) {
      encoding.cells = DatesOf(item, every);
      ++num_encodings;
    } else if (every.is_valid()) {
      Fail(ErrorKind::kBadInput, "{}: it is given without dates; add them", PlaceOf("every"));
    }
    if (const nb::object item = Find(entries_, "part"); item.is_valid()) {
      encoding.cells = PartEncoding{ChoiceOf(item, "part", kDateParts)};
      ++num_encodings;
    }
    if (const nb::object item = Find(entries_, "size"); item.is_valid()) {
      attribute_.size = WholeOf(item, PlaceOf("size"));
      ++num_encodings;
    }
    if (num_encodings != 1) {
      Fail(ErrorKind::kBadInput,
           "{}: it needs exactly one of integers, cuts, values, dates, part, numbers and size",
           place_);
    }
    if (const nb::object item = Find(entries_, "queries"); item.is_valid()) {
      const std::string place = PlaceOf("queries");
      asks_for_mean_ = TextOf(item, place) == kMeanQueries;
      if (asks_for_mean_) AtPlace(place, [&] { AskForMean(&encoding); });
      if (!asks_for_mean_ && MeanOf(attribute_) != nullptr) {
        Fail(ErrorKind::kBadInput, "{}: it must be \"mean\" with numbers, or left out", place);
      }
    }
    if (const nb::object item = Find(entries_, "column"); item.is_valid()) {
      attribute_.column = TextOf(item, PlaceOf("column"));
      if (attribute_.column == attribute_.name) attribute_.column.clear();
    }
    if (const nb::object item = Find(entries_, "null"); item.is_valid()) {
      encoding.null_cell = TruthOf(item, PlaceOf("null"));
    }
    if (const nb::object item = Find(entries_, "outside"); item.is_valid()) {
      encoding.outside = ChoiceOf(item, "outside", kOutsidePolicies);
    }
    if (const auto fault = FindFault(encoding)) throw fault->error.About(PlaceOf(fault->setting));
    if (const auto num_cells = NumCells(encoding)) {
      attribute_.size = *num_cells;
    } else if (encoding.null_cell && attribute_.size <= Domain::kMaxAttributeSize) {
      ++attribute_.size;
    }
    if (const nb::object item = Find(entries_, "check"); item.is_valid()) {
      const std::string place = PlaceOf("check");
      attribute_.read_from_data = AtPlace(place, [&] { return ParseCheck(TextOf(item, place)); });
    }
    // A domain of this attribute alone has a sensible name and size.
    Domain({attribute_});
  }

  static IntegerEncoding IntegersOf(nb::handle item, const std::string& place) {
    const nb::list ends = ListOf(item, place);
    if (ends.size() != 2) Fail(ErrorKind::kBadInput, "{}: give the first and the last", place);
    return {WholeOf(ends[0], place), WholeOf(ends[1], place)};
  }

  // `step` may be invalid: 1.
  MeanEncoding NumbersOf(nb::handle item, const nb::object& step) const {
    const std::string place = PlaceOf("numbers");
    const nb::list ends = ListOf(item, place);
    if (ends.size() != 2) Fail(ErrorKind::kBadInput, "{}: give the lowest and the highest", place);
    const auto number = [](nb::handle value, const std::string& of) {
      return ParseRational(NumberTextOf(value, of), of);
    };
    const Rational by = step.is_valid() ? number(step, PlaceOf("step")) : Rational(1);
    const Rational low = number(ends[0], place);
    const Rational high = number(ends[1], place);
    return About(place, [&] { return MakeMeanEncoding(low, high, by); });
  }

  // `every` may be invalid: days.
  DateEncoding DatesOf(nb::handle item, const nb::object& every) const {
    const std::string place = PlaceOf("dates");
    const nb::list ends = ListOf(item, place);
    if (ends.size() != 2) Fail(ErrorKind::kBadInput, "{}: give the first and the last", place);
    const auto day_of = [&](nb::handle end) {
      const std::string text = TextOf(end, place);
      if (const auto day = ParseDay(text)) return *day;
      Fail(ErrorKind::kBadInput, "{}: '{}' is not a day such as 2013-01-31", place, text);
    };
    DateEncoding dates{day_of(ends[0]), day_of(ends[1]), DateStep::kDay};
    if (every.is_valid()) dates.every = ChoiceOf(every, "every", kDateSteps);
    return dates;
  }

  template <typename Enum, size_t size>
  Enum ChoiceOf(nb::handle item, std::string_view entry,
                const EnumTexts<Enum, size>& choices) const {
    const std::string place = PlaceOf(entry);
    const std::string text = TextOf(item, place);
    if (const auto value = ValueOf(choices, text)) return *value;
    Fail(ErrorKind::kBadInput, "{}: '{}' is not known; choose {}", place, text, Choices(choices));
  }

  void ReadQueries() {
    const std::string place = PlaceOf("queries");
    if (const nb::object item = Find(entries_, "queries"); item.is_valid() && !asks_for_mean_) {
      attribute_.queries = AtPlace(place, [&] { return ParseQueryKind(TextOf(item, place)); });
    }
    const nb::object hierarchy = Find(entries_, "hierarchy");
    if (hierarchy.is_valid() != (attribute_.queries == QueryKind::kHierarchy)) {
      Fail(ErrorKind::kBadInput,
           "{}: hierarchy={{group: [values], ...}} goes with queries=\"hierarchy\"; give both or "
           "neither",
           place_);
    }
    const nb::object custom = Find(entries_, "custom");
    if (custom.is_valid() != (attribute_.queries == QueryKind::kCustom)) {
      Fail(ErrorKind::kBadInput, "{}: custom queries need a matrix; pass it as queries", place_);
    }
    if (hierarchy.is_valid()) ReadHierarchy(hierarchy);
    if (const nb::object weights = Find(entries_, "level_weights"); weights.is_valid()) {
      ReadLevelWeights(weights);
    }
    if (custom.is_valid()) {
      ReadCustom(DictOf(custom, place));
    } else {
      AtPlace(hierarchy.is_valid() ? PlaceOf("hierarchy") : place,
              [&] { CheckQueries(attribute_); });
    }
  }

  void ReadHierarchy(nb::handle item) {
    const std::string place = PlaceOf("hierarchy");
    HierarchyBuilder builder(attribute_);
    for (const auto& [name, group] : DictOf(item, place)) {
      ReadGroup(TextOf(name, place), group, place, 0, &builder);
    }
    attribute_.groups = About(place, [&] { return builder.Groups(); });
  }

  void ReadLevelWeights(const nb::object& item) {
    const std::string place = PlaceOf("level_weights");
    if (PyUnicode_Check(item.ptr())) {
      attribute_.level_weights =
          AtPlace(place, [&] { return ParseLevelWeights(TextOf(item, place), attribute_); });
    } else {
      const nb::list list = ListOf(item, place);
      if (list.size() == 0) {
        Fail(ErrorKind::kBadInput, "{} is empty; give one weight for each level", place);
      }
      for (const nb::handle weight : list) {
        attribute_.level_weights.push_back(AtPlace(place, [&] {
          return NearestDouble(ParseRational(NumberTextOf(weight, place), "a weight"));
        }));
      }
    }
    AtPlace(place, [&] { CheckLevelWeights(attribute_); });
  }

  // A list of values, or a dictionary of groups, in `outer`, a group inside `num_outside` others or
  // the hierarchy itself.
  HierarchyBuilder::Node ReadGroup(const std::string& name, nb::handle group,
                                   const std::string& outer, int num_outside,
                                   HierarchyBuilder* builder) const {
    const std::string place = ItemPlace(outer, name);
    About(place, [&] { HierarchyBuilder::CheckLevel(num_outside); });
    std::vector<HierarchyBuilder::Node> parts;
    if (PyDict_Check(group.ptr())) {
      for (const auto& [inner_name, inner] : nb::borrow<nb::dict>(group)) {
        parts.push_back(
            ReadGroup(TextOf(inner_name, place), inner, place, num_outside + 1, builder));
      }
    } else {
      for (const nb::handle value : ListOf(group, place)) {
        // 1.0 is the cell 1, as in a spec file.
        const std::string text =
            PyFloat_Check(value.ptr()) ? NumberTextOf(value, place) : ValueTextOf(value, place);
        parts.push_back(About(place, [&] { return builder->AddValue(text, name); }));
      }
    }
    return About(place, [&] { return builder->AddGroup(name, parts); });
  }

  void ReadCustom(const nb::dict& custom) {
    const auto read = [&](const nb::object& item, const std::string& place) {
      return MatrixOf(item.is_valid() ? item : nb::none(), attribute_.size, place);
    };
    const std::string place = PlaceOf("queries");
    attribute_.custom = read(Find(custom, "matrix"), place);
    AtPlace(place, [&] { CheckQueries(attribute_); });
    if (const nb::object strategy = Find(custom, "strategy"); strategy.is_valid()) {
      const std::string strategy_place = PlaceOf("strategy");
      attribute_.strategy = read(strategy, strategy_place);
      AtPlace(strategy_place, [&] { CheckQueries(attribute_); });
    }
  }

  std::string place_;
  nb::dict entries_;
  Attribute attribute_;
  bool asks_for_mean_ = false;
};

}  // namespace

Domain DomainOf(const nb::dict& attributes) {
  std::vector<Attribute> list;
  for (const auto& [key, entries] : attributes) {
    const std::string name = TextOf(key, "domain");
    list.push_back(AttributeReader(name, DictOf(entries, ItemPlace("domain", name))).Read());
  }
  return Domain(std::move(list));
}

}  // namespace residua::python
