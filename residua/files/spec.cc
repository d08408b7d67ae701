#include "residua/files/spec.h"

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"
#include "residua/basis/query_matrix.h"
#include "residua/data/database_url.h"
#include "residua/data/null_values.h"
#include "residua/data/push_down_check.h"
#include "residua/files/file.h"
#include "residua/files/matrix_file.h"
#include "residua/files/nesting.h"
#include "residua/files/toml_reader.h"
#include "residua/model/answer_weights.h"
#include "residua/model/hierarchy.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

class SpecReader : TomlReader {
 public:
  explicit SpecReader(std::string name) : TomlReader(std::move(name)) {}

  Spec Read(const toml::table& root) {
    CheckKeys(root, "", {"release", "data", "privacy", "attributes", "workload"});
    Spec spec;
    if (const auto* release = Table(root, "release")) spec.release = ReadReleaseText(*release);
    if (const auto* data = Table(root, "data")) {
      spec.data = ReadData(*data);
      spec.public_rows = ReadPublicRows(*data);
    }
    const auto* attributes = Table(root, "attributes");
    if (attributes == nullptr) {
      FailAt(root, "attributes",
             "is missing; describe each column, e.g. [attributes.sex] values = [...]");
    }
    spec.domain = ReadAttributes(*attributes);
    if (const auto* data = Table(root, "data")) {
      At(*data, "data", [&] { CheckNullValues(spec.data.null_values, spec.domain); });
    }
    if (const auto* workload = Table(root, "workload")) ReadWorkload(*workload, &spec);
    if (const auto* privacy = Table(root, "privacy")) ReadPrivacy(*privacy, &spec);
    if (spec.data.push_down) {
      At(*Table(root, "data")->get("push_down"), "data.push_down",
         [&] { CheckPushDown(spec.data.database, spec.domain, spec.protection); });
    }
    return spec;
  }

 private:
  DataReference ReadData(const toml::table& table) const {
    CheckKeys(table, "data",
              {"source", "database", "query", "ledger", "null_values", "push_down", "rows"});
    DataReference data;
    if (const auto* node = table.get("source")) data.source = String(*node, "data.source");
    if (const auto* node = table.get("database")) data.database = String(*node, "data.database");
    if (const auto* node = table.get("query")) data.query = String(*node, "data.query");
    if (data.empty()) {
      FailAt(table, "data",
             "needs source = \"FILE\", or database = \"FILE.duckdb\" and query = \"SELECT ...\"");
    }
    if (!data.source.empty() && !data.database.empty()) {
      FailAt(table, "data", "has both source and database; keep one");
    }
    if (!data.database.empty() && data.query.empty()) {
      FailAt(table, "data.database", "needs a query = \"SELECT ...\" beside it");
    }
    CheckDatabaseUrl(data.database);
    if (!data.query.empty() && data.database.empty() && data.source.empty()) {
      FailAt(table, "data.query",
             "needs source = \"FILE\" or database = \"FILE.duckdb\" beside it");
    }
    if (const auto* node = table.get("null_values")) {
      for (const toml::node& item : Array(*node, "data.null_values")) {
        data.null_values.push_back(Number(item, "data.null_values"));
      }
    }
    if (const auto* node = table.get("ledger")) data.ledger = String(*node, "data.ledger");
    if (const auto* node = table.get("push_down")) {
      data.push_down = Truth(*node, "data.push_down");
    }
    return data;
  }

  std::optional<int64_t> ReadPublicRows(const toml::table& data) const {
    const auto* node = data.get("rows");
    if (node == nullptr) return std::nullopt;
    const int64_t rows = Whole(*node, "data.rows");
    if (rows < 1) {
      FailAt(*node, "data.rows",
             "is {}; it must be at least 1: about how many rows there are, as is publicly known",
             rows);
    }
    return rows;
  }

  ReleaseText ReadReleaseText(const toml::table& table) const {
    CheckKeys(table, "release",
              {"title", "description", "publisher", "date", "contact", "licence"});
    ReleaseText text;
    const auto read = [&](const char* name, bool is_line, std::string* value) {
      const auto* node = table.get(name);
      if (node == nullptr) return;
      const std::string key = Join("release", name);
      *value = String(*node, key);
      if (is_line && value->find_first_of("\r\n") != std::string::npos) {
        FailAt(*node, key, "must be one line; put more into description");
      }
    };
    read("title", true, &text.title);
    read("description", false, &text.description);
    read("publisher", true, &text.publisher);
    if (const auto* node = table.get("date")) {
      const auto day = node->value_exact<toml::date>();
      text.date = day ? DayOf(*day) : String(*node, "release.date");
      At(*node, "release.date", [&] { CheckReleaseDate(text.date); });
    }
    read("contact", true, &text.contact);
    read("licence", true, &text.licence);
    return text;
  }

  Domain ReadAttributes(const toml::table& table) const {
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

  static std::string DayOf(const toml::date& date) {
    return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
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

  // A list of names, or one text with commas between them; "total" is the table without attributes.
  AttributeSet ReadSet(const toml::node& node, const Domain& domain) const {
    return At(node, "workload.tables", [&] {
      if (node.is_string()) {
        return ParseAttributeSet(String(node, "workload.tables"), domain);
      }
      std::vector<int> indices;
      for (const toml::node& item : Array(node, "workload.tables")) {
        indices.push_back(FindAttribute(domain, String(item, "workload.tables")));
      }
      return domain.MakeSet(std::move(indices));
    });
  }

  WeightedMarginal ReadMarginal(const toml::node& node, const Domain& domain) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) return {ReadSet(node, domain), 1.0};
    CheckKeys(*table, "workload.tables", {"attributes", "weight"});
    const toml::node* attributes = table->get("attributes");
    if (attributes == nullptr) FailAt(node, "workload.tables", "needs attributes = [...]");
    WeightedMarginal marginal{ReadSet(*attributes, domain), 1.0};
    if (const toml::node* weight = table->get("weight")) {
      const std::string key = "workload.tables.weight";
      marginal.weight = At(*weight, key, [&] {
        return NearestDouble(ParseRational(Number(*weight, key), "weight"));
      });
    }
    return marginal;
  }

  void ReadWorkload(const toml::table& table, Spec* spec) const {
    CheckKeys(table, "workload", {"marginals", "tables", "objective", "weights"});
    if (const auto* node = table.get("marginals")) {
      const std::string text = Number(*node, "workload.marginals");
      spec->workload.rules =
          At(*node, "workload.marginals", [&] { return ParseMarginalRules(text); });
    }
    if (const auto* node = table.get("tables")) {
      for (const toml::node& item : Array(*node, "workload.tables")) {
        spec->workload.marginals.push_back(ReadMarginal(item, spec->domain));
      }
    }
    if (const auto* node = table.get("objective")) {
      const std::string text = String(*node, "workload.objective");
      spec->objective = At(*node, "workload.objective", [&] { return ParseObjective(text); });
    }
    if (const auto* node = table.get("weights")) {
      const std::string text = String(*node, "workload.weights");
      spec->objective.weighting =
          At(*node, "workload.weights", [&] { return ParseWeighting(text); });
    }
    At(table, "workload", [&] { CheckWorkload(spec->domain, spec->workload); });
  }

  void ReadPrivacy(const toml::table& table, Spec* spec) const {
    CheckKeys(table, "privacy",
              {"pcost", "rho", "mu", "epsilon", "delta", "max_std_dev", "target_loss", "unit",
               "neighbours", "identifier", "max_rows"});
    PrivacyText text;
    const auto read = [&](std::string_view key, std::optional<std::string>* value) {
      if (const auto* node = table.get(key)) *value = Number(*node, Join("privacy", key));
    };
    read("pcost", &text.pcost);
    read("rho", &text.rho);
    read("mu", &text.mu);
    read("epsilon", &text.epsilon);
    read("delta", &text.delta);
    read("max_std_dev", &text.max_std_dev);
    read("target_loss", &text.target_loss);
    ReadProtection(table, spec);
    const auto privacy = At(table, "privacy", [&] { return ParsePrivacy(text); });
    if (privacy) spec->target = privacy->target;
    if (privacy && privacy->bounds_every_answer) spec->objective = kEveryAnswer;
  }

  void ReadProtection(const toml::table& table, Spec* spec) const {
    Protection& protection = spec->protection;
    if (const auto* node = table.get("unit")) {
      if (String(*node, "privacy.unit") != "row") {
        FailAt(*node, "privacy.unit",
               "must be \"row\"; to protect people with several rows, give identifier = "
               "\"COLUMN\" and max_rows = N instead");
      }
    }
    if (const auto* node = table.get("neighbours")) {
      const std::string text = String(*node, "privacy.neighbours");
      protection.neighbours =
          At(*node, "privacy.neighbours", [&] { return ParseNeighbours(text); });
    }
    const toml::node* identifier = table.get("identifier");
    const toml::node* max_rows = table.get("max_rows");
    if ((identifier == nullptr) != (max_rows == nullptr)) {
      FailAt(identifier != nullptr ? *identifier : *max_rows, "privacy",
             "needs both identifier = \"COLUMN\" and max_rows = N, or neither");
    }
    if (identifier != nullptr) {
      if (table.contains("unit")) {
        FailAt(*identifier, "privacy", "has both unit and identifier; keep one");
      }
      protection.identifier = String(*identifier, "privacy.identifier");
      if (protection.identifier.empty()) {
        FailAt(*identifier, "privacy.identifier", "must name a column");
      }
      protection.max_rows = Whole(*max_rows, "privacy.max_rows");
    }
    At(table, "privacy", [&] { CheckProtection(protection, spec->domain); });
  }
};

}  // namespace

SelectRequest RequestOf(const Spec& spec) {
  RESIDUA_CHECK(spec.target.has_value());
  return {spec.domain, spec.workload, spec.objective, *spec.target, spec.protection};
}

Protection::Neighbours ParseNeighbours(const std::string& text) {
  if (text == "add-remove") return Protection::Neighbours::kAddRemove;
  if (text == "replace-one") return Protection::Neighbours::kReplaceOne;
  Fail(ErrorKind::kBadInput, "'{}' is not known; choose add-remove or replace-one", text);
}

Spec ParseSpec(std::string_view text, const std::string& name) {
  AtPlace(name, [&] { CheckTomlKeys(text); });
  try {
    return SpecReader(name).Read(toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    Fail(ErrorKind::kBadInput, "{}: not valid TOML: {}",
         fmt::format("{}:{}", name, error.source().begin.line), error.description());
  }
}

void CheckReleaseDate(const std::string& date) {
  // A month and a year are those of their first day.
  for (const std::string_view rest : {"", "-01", "-01-01"}) {
    if (ParseDay(date + std::string(rest))) return;
  }
  Fail(ErrorKind::kBadInput, "'{}' is not a date; write 2026-05-01, 2026-05 or 2026",
       ShownText(date));
}

bool ParseCheck(std::string_view text) {
  if (text == kReadFromData) return true;
  Fail(ErrorKind::kBadInput,
       "'{}' is not known; check = \"{}\" marks a draft: remove the line once the cells are public "
       "knowledge",
       text, kReadFromData);
}

bool IsDataIdentity(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

DataReference Rebase(const DataReference& data, const std::filesystem::path& from,
                     const std::filesystem::path& to) {
  const auto rebase = [&](const std::string& path) {
    if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
    return std::filesystem::proximate(std::filesystem::absolute(from / path),
                                      std::filesystem::absolute(to))
        .string();
  };
  DataReference rebased = data;
  rebased.source = rebase(data.source);
  rebased.database = RebasedDatabase(data.database, rebase);
  rebased.ledger = rebase(data.ledger);
  rebased.identity.clear();
  return rebased;
}

Spec ReadSpec(const std::filesystem::path& path) {
  return ParseSpec(ReadFile(path), path.string());
}

void CheckReleasable(const Spec& spec, const std::string& name) {
  AtPlace(name, [&] {
    if (!spec.target) {
      Fail(ErrorKind::kBadInput,
           "[privacy] sets no budget; give epsilon and delta, rho, mu or pcost");
    }
    if (spec.data.empty()) {
      Fail(ErrorKind::kBadInput, "[data] names no source; add source = \"FILE\"");
    }
  });
}

Spec ReadReleasableSpec(const std::filesystem::path& path) {
  Spec spec = ReadSpec(path);
  CheckReleasable(spec, path.string());
  return spec;
}

}  // namespace residua
