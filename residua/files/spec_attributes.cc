#include "residua/files/spec_attributes.h"

#include <filesystem>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/basis/query_limits.h"
#include "residua/files/matrix_file.h"
#include "residua/files/spec.h"
#include "residua/files/toml_reader.h"
#include "residua/model/answer_weights.h"
#include "residua/model/date.h"
#include "residua/model/hierarchy.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua {
namespace {

class AttributesReader : TomlReader {
 public:
  explicit AttributesReader(std::string name) : TomlReader(std::move(name)) {}

  Domain Read(const toml::table& table) const {
    std::vector<Attribute> attributes;
    for (const auto& [name, node] : InFileOrder(table)) {
      if (!node->is_table()) {
        const std::string path = Join("attributes", name);
        FailAt(*node, path, "must be a table; write [{}]", path);
      }
      attributes.push_back(ReadAttribute(name, *node->as_table()));
    }
    return At(table, "attributes", [&] { return Domain(std::move(attributes)); });
  }

 private:
  Attribute ReadAttribute(const std::string& name, const toml::table& table) const {
    const std::string path = Join("attributes", name);
    CheckKeys(
        table, path,
        {"integers", "numbers", "step", "cuts", "values", "dates", "every", "part", "size",
         "column", "null", "outside", "queries", "hierarchy", "level_weights", "custom", "check"});
    Attribute attribute;
    attribute.name = name;
    Encoding& encoding = attribute.encoding;
    int num_encodings = 0;
    if (const auto* node = table.get("integers")) {
      encoding.cells = ReadIntegers(*node, path + ".integers");
      ++num_encodings;
    }
    if (const auto* node = table.get("numbers")) {
      encoding.cells = ReadNumbers(*node, path + ".numbers", table.get("step"), path + ".step");
      ++num_encodings;
    } else if (const auto* step = table.get("step")) {
      FailAt(*step, path + ".step", "needs numbers = [LOW, HIGH] beside it");
    }
    if (const auto* node = table.get("cuts")) {
      encoding.cells = ReadCuts(*node, path + ".cuts");
      ++num_encodings;
    }
    if (const auto* node = table.get("values")) {
      encoding.cells = ReadValues(*node, path + ".values");
      ++num_encodings;
    }
    if (const auto* node = table.get("dates")) {
      encoding.cells = ReadDates(*node, path + ".dates", table.get("every"), path + ".every");
      ++num_encodings;
    } else if (const auto* every = table.get("every")) {
      FailAt(*every, path + ".every", "needs dates = [\"FIRST\", \"LAST\"] beside it");
    }
    if (const auto* node = table.get("part")) {
      encoding.cells = PartEncoding{ReadChoice(*node, path + ".part", kDateParts)};
      ++num_encodings;
    }
    if (const auto* node = table.get("size")) {
      attribute.size = Whole(*node, path + ".size");
      ++num_encodings;
    }
    if (num_encodings != 1) {
      FailAt(table, path,
             "needs exactly one of integers = [FIRST, LAST], cuts = [...], values = [...], dates "
             "= [\"FIRST\", \"LAST\"], part = \"weekday\", numbers = [LOW, HIGH] or size = N");
    }
    if (const auto* node = table.get("column")) {
      attribute.column = String(*node, path + ".column");
      if (attribute.column.empty()) FailAt(*node, path + ".column", "must name a column");
      if (attribute.column == name) attribute.column.clear();
    }
    if (const auto* node = table.get("null")) encoding.null_cell = Truth(*node, path + ".null");
    if (const auto* node = table.get("outside")) {
      encoding.outside = ReadChoice(*node, path + ".outside", kOutsidePolicies);
    }
    std::string queries;
    if (const auto* node = table.get("queries")) {
      queries = String(*node, path + ".queries");
      if (queries == kMeanQueries) {
        At(*node, path + ".queries", [&] { AskForMean(&encoding); });
      } else if (std::holds_alternative<MeanEncoding>(encoding.cells)) {
        FailAt(*node, path + ".queries", "must be \"mean\" with numbers, or left out");
      }
    }
    CheckEncodingAt(table, path, encoding);
    if (const auto num_cells = NumCells(encoding)) {
      attribute.size = *num_cells;
    } else if (encoding.null_cell && attribute.size <= Domain::kMaxAttributeSize) {
      ++attribute.size;
    }
    if (!queries.empty() && queries != kMeanQueries) {
      attribute.queries =
          At(*table.get("queries"), path + ".queries", [&] { return ParseQueryKind(queries); });
    }
    if (const auto* node = table.get("check")) {
      const std::string key = path + ".check";
      attribute.read_from_data = At(*node, key, [&] { return ParseCheck(String(*node, key)); });
    }
    if (attribute.size < 2) {
      FailAt(table, path, "has size {}; it needs at least 2 cells", attribute.size);
    }
    if (attribute.size > Domain::kMaxAttributeSize) {
      FailAt(table, path, "has more than {} cells", Domain::kMaxAttributeSize);
    }
    ReadQueryDetails(table, path, &attribute);
    return attribute;
  }

  void ReadQueryDetails(const toml::table& table, const std::string& path,
                        Attribute* attribute) const {
    const toml::node* hierarchy = table.get("hierarchy");
    if ((hierarchy != nullptr) != (attribute->queries == QueryKind::kHierarchy)) {
      FailAt(table, path,
             "needs both queries = \"hierarchy\" and hierarchy = {{ group = [values], ... }}, or "
             "neither");
    }
    if (hierarchy != nullptr) ReadHierarchy(*hierarchy, path + ".hierarchy", attribute);
    if (const toml::node* weights = table.get("level_weights")) {
      ReadLevelWeights(*weights, path + ".level_weights", attribute);
    }
    const toml::node* custom = table.get("custom");
    if ((custom != nullptr) != (attribute->queries == QueryKind::kCustom)) {
      FailAt(table, path,
             "needs both queries = \"custom\" and custom = {{ matrix = \"FILE\" }}, or neither");
    }
    if (custom != nullptr) ReadCustom(*custom, path + ".custom", attribute);
    At(table, path, [&] { CheckQueries(*attribute); });
  }

  void ReadHierarchy(const toml::node& node, const std::string& key, Attribute* attribute) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      FailAt(node, key, "must be a table such as {{ north = [\"N1\", \"N2\"] }}");
    HierarchyBuilder builder(*attribute);
    for (const auto& [name, child] : InFileOrder(*table)) {
      ReadGroup(name, *child, key, 0, &builder);
    }
    try {
      attribute->groups = builder.Groups();
    } catch (const Error& error) {
      throw Named(error, node, key);
    }
  }

  void ReadLevelWeights(const toml::node& node, const std::string& key,
                        Attribute* attribute) const {
    if (node.is_string()) {
      attribute->level_weights =
          At(node, key, [&] { return ParseLevelWeights(String(node, key), *attribute); });
    } else if (node.is_array()) {
      for (const toml::node& item : *node.as_array()) {
        attribute->level_weights.push_back(At(item, key, [&] {
          return NearestDouble(ParseRational(Number(item, key), "a weight"));
        }));
      }
      if (node.as_array()->empty()) FailAt(node, key, "is empty; give one weight for each level");
    } else {
      FailAt(node, key, "must be \"equal\", \"answers\", or a list with one weight for each level");
    }
    At(node, key, [&] { CheckLevelWeights(*attribute); });
  }

  // A list of values, or a table of groups. `outer` is the key of what holds it, a group inside
  // `num_outside` others or the hierarchy itself.
  HierarchyBuilder::Node ReadGroup(const std::string& name, const toml::node& node,
                                   const std::string& outer, int num_outside,
                                   HierarchyBuilder* builder) const {
    const std::string key = Join(outer, name);
    const auto about = [&](const toml::node& place, const auto& work) {
      try {
        return work();
      } catch (const Error& error) {
        throw Named(error, place, key);
      }
    };
    about(node, [&] { HierarchyBuilder::CheckLevel(num_outside); });
    std::vector<HierarchyBuilder::Node> parts;
    if (const toml::table* table = node.as_table()) {
      for (const auto& [inner_name, inner] : InFileOrder(*table)) {
        parts.push_back(ReadGroup(inner_name, *inner, key, num_outside + 1, builder));
      }
    } else if (!node.is_array()) {
      FailAt(node, key, "must be a list of values, or a table of groups");
    } else {
      for (const toml::node& item : *node.as_array()) {
        if (!item.is_string() && !item.is_number() && !item.is_boolean()) {
          FailAt(item, key, "must list values such as \"N1\" or 17; a group inside it is a table");
        }
        const auto truth = item.value_exact<bool>();
        const std::string value = truth ? (*truth ? "true" : "false") : Number(item, key);
        parts.push_back(about(item, [&] { return builder->AddValue(value, name); }));
      }
    }
    return about(node, [&] { return builder->AddGroup(name, parts); });
  }

  void ReadCustom(const toml::node& node, const std::string& key, Attribute* attribute) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      FailAt(node, key, "must be a table such as {{ matrix = \"queries.csv\" }}");
    CheckKeys(*table, key, {"matrix", "strategy"});
    const toml::node* matrix = table->get("matrix");
    if (matrix == nullptr) FailAt(node, key, "needs matrix = \"FILE\"");
    const auto folder = std::filesystem::path(name()).parent_path();
    const auto read = [&](const toml::node& file, const std::string& file_key) {
      return At(file, file_key,
                [&] { return ReadMatrix(folder / String(file, file_key), attribute->size); });
    };
    attribute->custom = read(*matrix, key + ".matrix");
    if (const toml::node* strategy = table->get("strategy")) {
      attribute->strategy = read(*strategy, key + ".strategy");
    }
  }

  IntegerEncoding ReadIntegers(const toml::node& node, const std::string& key) const {
    const toml::array& list = Array(node, key);
    if (list.size() != 2) FailAt(node, key, "must be [FIRST, LAST]");
    return {Whole(list[0], key), Whole(list[1], key)};
  }

  // `step` may be null: 1.
  MeanEncoding ReadNumbers(const toml::node& node, const std::string& key, const toml::node* step,
                           const std::string& step_key) const {
    const toml::array& list = Array(node, key);
    if (list.size() != 2) FailAt(node, key, "must be [LOW, HIGH]");
    const auto read = [&](const toml::node& item, const std::string& item_key) {
      return At(item, item_key, [&] { return ParseRational(Number(item, item_key), "a number"); });
    };
    const Rational by = step == nullptr ? Rational(1) : read(*step, step_key);
    return At(node, key,
              [&] { return MakeMeanEncoding(read(list[0], key), read(list[1], key), by); });
  }

  CutEncoding ReadCuts(const toml::node& node, const std::string& key) const {
    CutEncoding bins;
    for (const toml::node& item : Array(node, key)) {
      const auto value = item.value<double>();
      if (!value || item.is_boolean() || item.is_string()) {
        FailAt(item, key, "must hold finite numbers, whole ones below 2^53");
      }
      bins.cuts.push_back(*value);
    }
    return bins;
  }

  ValueEncoding ReadValues(const toml::node& node, const std::string& key) const {
    ValueEncoding list;
    for (const toml::node& item : Array(node, key)) {
      if (const auto truth = item.value_exact<bool>()) {
        list.values.emplace_back(*truth ? "true" : "false");
      } else if (item.is_integer() || item.is_string()) {
        list.values.push_back(Number(item, key));
      } else {
        FailAt(
            item, key,
            "must hold whole numbers and strings; put anything else in quotes, as the data has it");
      }
    }
    return list;
  }

  // `every` may be null: days.
  DateEncoding ReadDates(const toml::node& node, const std::string& key, const toml::node* every,
                         const std::string& every_key) const {
    const toml::array& list = Array(node, key);
    if (list.size() != 2) FailAt(node, key, "must be [\"FIRST\", \"LAST\"]");
    DateEncoding dates{ReadDay(list[0], key), ReadDay(list[1], key), DateStep::kDay};
    if (every != nullptr) dates.every = ReadChoice(*every, every_key, kDateSteps);
    return dates;
  }

  // A date of TOML, or a string.
  int64_t ReadDay(const toml::node& node, const std::string& key) const {
    const auto date = node.value_exact<toml::date>();
    const std::string text = date ? DayOf(*date) : node.value_exact<std::string>().value_or("");
    if (const auto day = ParseDay(text)) return *day;
    FailAt(node, key, "must hold days such as \"2013-01-31\"");
  }

  template <typename Enum, size_t size>
  Enum ReadChoice(const toml::node& node, const std::string& key,
                  const EnumTexts<Enum, size>& choices) const {
    const std::string text = String(node, key);
    if (const auto value = ValueOf(choices, text)) return *value;
    FailAt(node, key, "'{}' is not known; choose {}", text, Choices(choices));
  }

  // `table` is the attribute's: a fault lies in one of its settings.
  void CheckEncodingAt(const toml::table& table, const std::string& path,
                       const Encoding& encoding) const {
    const auto fault = FindFault(encoding);
    if (!fault) return;
    const toml::node* node = table.get(fault->setting);
    if (node == nullptr) node = table.get("numbers");  // whose step is 1 if none is given
    RESIDUA_CHECK(node != nullptr);
    if (fault->item) node = node->as_array()->get(*fault->item);
    throw Named(fault->error, *node, Join(path, fault->setting));
  }
};

}  // namespace

Domain ReadSpecAttributes(const toml::table& table, const std::string& name) {
  return AttributesReader(name).Read(table);
}

}  // namespace residua
