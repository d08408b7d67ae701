#include "residua/files/attribute_json.h"

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/files/json_values.h"
#include "residua/files/spec.h"
#include "residua/model/date.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua {
namespace {

CellMatrix CellMatrixFromJson(const Json& json, int64_t num_columns, std::string_view what) {
  return {static_cast<int64_t>(json.size()), MatrixFromJson<double>(json, num_columns, what)};
}

int64_t DayFromJson(const Json& json) {
  const auto text = json.get<std::string>();
  if (const auto day = ParseDay(text)) return *day;
  Fail(ErrorKind::kBadInput, "'{}' is not a date", ShownText(text));
}

}  // namespace

Json AttributeToJson(const Attribute& attribute) {
  Json json;
  json["name"] = attribute.name;
  json["size"] = attribute.size;
  json["queries"] = QueriesText(attribute);
  if (const auto* integers = std::get_if<IntegerEncoding>(&attribute.encoding.cells)) {
    json["integers"] = {integers->first, integers->last};
  } else if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
    json["cuts"] = bins->cuts;
  } else if (const auto* list = std::get_if<ValueEncoding>(&attribute.encoding.cells)) {
    json["values"] = list->values;
  } else if (const auto* dates = std::get_if<DateEncoding>(&attribute.encoding.cells)) {
    json["dates"] = {DayText(dates->first_day), DayText(dates->last_day)};
    json["every"] = TextOf(kDateSteps, dates->every);
  } else if (const auto* part = std::get_if<PartEncoding>(&attribute.encoding.cells)) {
    json["part"] = TextOf(kDateParts, part->part);
  } else if (const MeanEncoding* mean = MeanOf(attribute); mean != nullptr && mean->is_integers) {
    json["integers"] = {mean->low, mean->high};
  } else if (mean != nullptr) {
    const auto text = [&](int64_t value) { return DecimalText(value, mean->decimals); };
    json["numbers"] = {text(mean->low), text(mean->high)};
    json["step"] = text(mean->step);
  }
  if (!attribute.column.empty()) json["column"] = attribute.column;
  if (attribute.queries == QueryKind::kHierarchy) {
    json["groups"] = Json::array();
    for (const CellGroup& group : attribute.groups) {
      json["groups"].push_back({{"name", group.name}, {"cells", group.cells}});
    }
    if (!attribute.level_weights.empty()) json["level_weights"] = attribute.level_weights;
  }
  if (attribute.queries == QueryKind::kCustom) {
    json["matrix"] =
        MatrixToJson(attribute.custom.num_rows, attribute.size, attribute.custom.entries);
    if (attribute.strategy.num_rows > 0) {
      json["strategy"] =
          MatrixToJson(attribute.strategy.num_rows, attribute.size, attribute.strategy.entries);
    }
  }
  json["null"] = attribute.encoding.null_cell;
  json["outside"] = TextOf(kOutsidePolicies, attribute.encoding.outside);
  if (attribute.read_from_data) json["check"] = kReadFromData;
  return json;
}

Attribute AttributeFromJson(const Json& json) {
  Attribute attribute;
  attribute.name = json.at("name").get<std::string>();
  attribute.size = WholeNumber<int64_t>(json.at("size"));
  const auto queries = json.at("queries").get<std::string>();
  if (queries != kMeanQueries) attribute.queries = ParseQueryKind(queries);
  Encoding& encoding = attribute.encoding;
  if (json.contains("integers")) {
    encoding.cells = IntegerEncoding{WholeNumber<int64_t>(json["integers"].at(0)),
                                     WholeNumber<int64_t>(json["integers"].at(1))};
  } else if (json.contains("cuts")) {
    encoding.cells = CutEncoding{json["cuts"].get<std::vector<double>>()};
  } else if (json.contains("values")) {
    encoding.cells = ValueEncoding{json["values"].get<std::vector<std::string>>()};
  } else if (json.contains("dates")) {
    encoding.cells =
        DateEncoding{DayFromJson(json["dates"].at(0)), DayFromJson(json["dates"].at(1)),
                     ValueFromJson(kDateSteps, json.at("every"))};
  } else if (json.contains("part")) {
    encoding.cells = PartEncoding{ValueFromJson(kDateParts, json["part"])};
  } else if (json.contains("numbers")) {
    const auto number = [](const Json& item) {
      return ParseRational(item.get<std::string>(), "numbers");
    };
    encoding.cells = MakeMeanEncoding(number(json["numbers"].at(0)), number(json["numbers"].at(1)),
                                      number(json.at("step")));
  }
  if (queries == kMeanQueries) AskForMean(&encoding);
  if (json.contains("column")) attribute.column = json["column"].get<std::string>();
  encoding.null_cell = json.at("null").get<bool>();
  encoding.outside = ValueFromJson(kOutsidePolicies, json.at("outside"));
  if (json.contains("check")) {
    attribute.read_from_data = ParseCheck(json["check"].get<std::string>());
  }
  if (attribute.queries == QueryKind::kHierarchy) {
    for (const Json& group : json.at("groups")) {
      attribute.groups.push_back(
          {group.at("name").get<std::string>(), WholeNumbers<int64_t>(group.at("cells"))});
    }
    if (json.contains("level_weights")) {
      attribute.level_weights = json["level_weights"].get<std::vector<double>>();
    }
  }
  if (attribute.queries == QueryKind::kCustom) {
    attribute.custom = CellMatrixFromJson(json.at("matrix"), attribute.size, "a query matrix");
    if (json.contains("strategy")) {
      attribute.strategy =
          CellMatrixFromJson(json["strategy"], attribute.size, "a strategy matrix");
    }
  }
  return attribute;
}

}  // namespace residua
