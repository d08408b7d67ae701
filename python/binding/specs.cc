#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "python/binding/arguments.h"
#include "python/binding/arrays.h"
#include "python/binding/attributes.h"
#include "python/binding/bindings.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/push_down_check.h"
#include "residua/files/spec.h"
#include "residua/model/symmetry.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

std::string TextAt(const nb::dict& settings, std::string_view name) {
  const nb::object item = Find(settings, name);
  return item.is_valid() ? TextOf(item, name) : "";
}

std::optional<std::string> NumberTextAt(const nb::dict& settings, std::string_view name) {
  const nb::object item = Find(settings, name);
  if (!item.is_valid()) return std::nullopt;
  return NumberTextOf(item, name);
}

DataReference DataOf(const nb::dict& settings) {
  DataReference data{TextAt(settings, "source"), TextAt(settings, "database"),
                     TextAt(settings, "query"), TextAt(settings, "ledger")};
  if (const nb::object item = Find(settings, "null_values"); item.is_valid()) {
    for (const nb::handle text : ListOf(item, "null_values")) {
      data.null_values.push_back(ValueTextOf(text, "null_values"));
    }
  }
  if (const nb::object item = Find(settings, "push_down"); item.is_valid()) {
    data.push_down = TruthOf(item, "push_down");
  }
  if (!data.source.empty() && !data.database.empty()) {
    Fail(ErrorKind::kBadInput, "both source and database are given; keep one");
  }
  if (!data.database.empty() && data.query.empty()) {
    Fail(ErrorKind::kBadInput, "database is given without query; add the query that reads it");
  }
  if (!data.query.empty() && data.database.empty() && data.source.empty()) {
    Fail(ErrorKind::kBadInput,
         "query is given without source or database; name the file that it reads");
  }
  if (!data.ledger.empty() && data.empty()) {
    Fail(ErrorKind::kBadInput,
         "ledger is given without data; add source, or name the ledger when you measure");
  }
  return data;
}

// A list of names, or a text as in spec files: "age,sex", or "total" for the table without
// attributes.
AttributeSet SetOf(nb::handle names, const Domain& domain) {
  if (PyUnicode_Check(names.ptr())) return ParseAttributeSet(TextOf(names, "tables"), domain);
  std::vector<int> indices;
  for (const nb::handle name : ListOf(names, "tables")) {
    indices.push_back(FindAttribute(domain, TextOf(name, "tables")));
  }
  return domain.MakeSet(std::move(indices));
}

// As of SetOf, or {"attributes": names, "weight": number}.
WeightedMarginal TableOf(nb::handle item, const Domain& domain) {
  if (!PyDict_Check(item.ptr())) return {SetOf(item, domain)};
  const auto table = nb::borrow<nb::dict>(item);
  const nb::object names = Find(table, "attributes");
  WeightedMarginal marginal{SetOf(names.is_valid() ? names : nb::none(), domain)};
  if (const nb::object weight = Find(table, "weight"); weight.is_valid()) {
    marginal.weight = NearestDouble(ParseRational(NumberTextOf(weight, "tables"), "weight"));
  }
  return marginal;
}

Workload WorkloadOf(const nb::dict& settings, const Domain& domain) {
  Workload workload;
  if (const auto marginals = NumberTextAt(settings, "marginals")) {
    workload.rules = ParseMarginalRules(*marginals);
    AtPlace("marginals", [&] { CheckWorkload(domain, {workload.rules, {}}); });
  }
  if (const nb::object tables = Find(settings, "tables"); tables.is_valid()) {
    AtPlace("tables", [&] {
      for (const nb::handle item : ListOf(tables, "tables")) {
        workload.marginals.push_back(TableOf(item, domain));
      }
      if (workload.rules.empty() || !workload.marginals.empty()) {
        CheckWorkload(domain, {{}, workload.marginals});
      }
    });
  }
  return workload;
}

Objective ObjectiveOf(const nb::dict& settings) {
  Objective objective;
  if (Find(settings, "objective").is_valid()) {
    objective = ParseObjective(TextAt(settings, "objective"));
  }
  if (Find(settings, "weights").is_valid()) {
    objective.weighting = ParseWeighting(TextAt(settings, "weights"));
  }
  return objective;
}

Protection ProtectionOf(const nb::dict& settings, const Domain& domain) {
  Protection protection;
  if (Find(settings, "neighbours").is_valid()) {
    AtPlace("neighbours",
            [&] { protection.neighbours = ParseNeighbours(TextAt(settings, "neighbours")); });
  }
  const nb::object max_rows = Find(settings, "max_rows");
  if (Find(settings, "identifier").is_valid() != max_rows.is_valid()) {
    Fail(ErrorKind::kBadInput, "identifier and max_rows go together; give both or neither");
  }
  if (max_rows.is_valid()) {
    protection.identifier = TextAt(settings, "identifier");
    if (protection.identifier.empty()) {
      Fail(ErrorKind::kBadInput, "identifier is empty; it must name a column");
    }
    protection.max_rows = WholeOf(max_rows, "max_rows");
  }
  CheckProtection(protection, domain);
  return protection;
}

std::optional<ParsedPrivacy> PrivacyOf(const nb::dict& settings) {
  return ParsePrivacy({NumberTextAt(settings, "pcost"), NumberTextAt(settings, "rho"),
                       NumberTextAt(settings, "mu"), NumberTextAt(settings, "epsilon"),
                       NumberTextAt(settings, "delta"), NumberTextAt(settings, "max_std_dev"),
                       NumberTextAt(settings, "target_loss")});
}

// The spec with other settings, by the names of residua.Spec's arguments, and only those: what is
// not among them has its default.
Spec WithSettings(Spec spec, const nb::dict& settings) {
  spec.data = DataOf(settings);
  spec.workload = WorkloadOf(settings, spec.domain);
  spec.objective = ObjectiveOf(settings);
  spec.protection = ProtectionOf(settings, spec.domain);
  if (spec.data.push_down) {
    AtPlace("push_down", [&] { CheckPushDown(spec.data.database, spec.domain, spec.protection); });
  }
  spec.target.reset();
  if (const auto privacy = PrivacyOf(settings)) {
    spec.target = privacy->target;
    if (privacy->bounds_every_answer) spec.objective = kEveryAnswer;
  }
  return spec;
}

Spec SpecOfDomain(const nb::dict& attributes) {
  Spec spec;
  spec.domain = DomainOf(attributes);
  return spec;
}

// By name, smaller tables first.
std::vector<std::vector<std::string>> TableNames(const Spec& spec) {
  const WorkloadOrbits orbits = FindSymmetry(spec.domain, spec.workload);
  std::vector<AttributeSet> tables;
  for (int64_t j = 0; j < orbits.orbits.size(); ++j) {
    ForEachMember(orbits.classes, orbits.orbits[j],
                  [&](const AttributeSet& set) { tables.push_back(set); });
  }
  std::sort(tables.begin(), tables.end(), ListedBefore);
  std::vector<std::vector<std::string>> names(tables.size());
  for (size_t k = 0; k < tables.size(); ++k) {
    for (const int i : tables[k]) names[k].push_back(spec.domain[i].name);
  }
  return names;
}

NumpyArray<double> ArrayOf(const CellMatrix& matrix, int64_t num_cells) {
  return ToNumpy(std::vector<double>(matrix.entries),
                 {static_cast<size_t>(matrix.num_rows), static_cast<size_t>(num_cells)});
}

// The matrices of attributes with custom queries, by name.
nb::dict MatricesOf(const Spec& spec) {
  nb::dict matrices;
  for (const Attribute& attribute : spec.domain.attributes()) {
    if (attribute.queries != QueryKind::kCustom) continue;
    nb::dict custom;
    custom["matrix"] = ArrayOf(attribute.custom, attribute.size);
    if (attribute.strategy.num_rows > 0) {
      custom["strategy"] = ArrayOf(attribute.strategy, attribute.size);
    }
    matrices[nb::str(attribute.name.data(), attribute.name.size())] = custom;
  }
  return matrices;
}

}  // namespace

void BindSpecs(nb::module_& module) {
  nb::class_<Spec>(module, "Spec")
      .def("with_settings", &WithSettings, nb::arg("settings"))
      .def("tables", &TableNames)
      .def("matrices", &MatricesOf);
  module.def("spec_of_domain", &SpecOfDomain, nb::arg("attributes"));
  module.def("parse_spec", &ParseSpec, nb::arg("text"), nb::arg("name"));
}

}  // namespace residua::python
