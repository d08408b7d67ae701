#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>

#include "python/binding/bindings.h"
#include "python/binding/described.h"
#include "residua/base/error.h"
#include "residua/files/spec.h"
#include "residua/model/symmetry.h"

namespace residua::python {

namespace nb = nanobind;

Spec ParseDescribed(const DescribedSpec& described) {
  try {
    return ParseSpec(described.text, described.name);
  } catch (const Error& error) {
    if (described.is_file) throw;
    // Nobody has seen the text, nor the files of its matrices: their names and lines mean nothing.
    std::string place = PlainWords(error.place());
    const size_t end = place.starts_with(described.name) ? place.find(": ") : std::string::npos;
    place = end == std::string::npos ? "" : place.substr(end + 2);
    const std::string folder = std::filesystem::path(described.name).parent_path().string();
    if (const size_t file = place.find(folder + "/"); file != std::string::npos) {
      place.replace(file, place.rfind(':') + 1 - file, "row ");
    }
    throw Error(error.kind(), place.empty() ? Words() : Words{place}, error.problem(),
                error.remedy());
  }
}

std::vector<std::string> NamesOf(const Domain& domain, const AttributeSet& set) {
  std::vector<std::string> names;
  names.reserve(set.size());
  for (const int i : set) names.push_back(domain[i].name);
  return names;
}

namespace {

std::vector<AttributeSet> TablesOf(const Domain& domain, const Workload& workload) {
  const WorkloadOrbits orbits = FindSymmetry(domain, workload);
  std::vector<AttributeSet> tables;
  for (int64_t j = 0; j < orbits.orbits.size(); ++j) {
    ForEachMember(orbits.classes, orbits.orbits[j],
                  [&](const AttributeSet& set) { tables.push_back(set); });
  }
  std::sort(tables.begin(), tables.end(), ListedBefore);
  return tables;
}

}  // namespace

void BindSpecs(nb::module_& module) {
  nb::class_<DescribedSpec>(module, "DescribedSpec")
      .def(nb::init<std::string, std::string, bool>(), nb::arg("text"), nb::arg("name"),
           nb::arg("is_file"))
      .def("check", [](const DescribedSpec& described) { ParseDescribed(described); })
      .def("tables", [](const DescribedSpec& described) {
        const Spec spec = ParseDescribed(described);
        std::vector<std::vector<std::string>> tables;
        for (const AttributeSet& set : TablesOf(spec.domain, spec.workload)) {
          tables.push_back(NamesOf(spec.domain, set));
        }
        return tables;
      });
}

}  // namespace residua::python
