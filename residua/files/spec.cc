#include "residua/files/spec.h"

#include <algorithm>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"
#include "residua/data/database_url.h"
#include "residua/data/null_values.h"
#include "residua/data/push_down_check.h"
#include "residua/files/file.h"
#include "residua/files/nesting.h"
#include "residua/files/spec_attributes.h"
#include "residua/files/toml_reader.h"
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
    spec.domain = ReadSpecAttributes(*attributes, name());
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

bool IsNamedAsData(std::string_view name) {
  constexpr std::string_view kEndings[] = {".csv", ".tsv", ".parquet", ".json", ".jsonl"};
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

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
    if (IsNamedAsData(name)) {
      Fail(ErrorKind::kBadInput,
           "{}: is data, not a spec; name a spec, which is a TOML file whose [data] names the data",
           name);
    }
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
