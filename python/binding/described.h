#pragma once

#include <string>
#include <vector>

#include "residua/files/spec.h"

namespace residua::python {

// A spec as TOML, under the name that messages call it and that its paths are relative to. Where it
// is no file but was written for Python objects, messages leave out its name and lines.
struct DescribedSpec {
  std::string text;
  std::string name;
  bool is_file = false;
};
Spec ParseDescribed(const DescribedSpec& described);

std::vector<std::string> NamesOf(const Domain& domain, const AttributeSet& set);

}  // namespace residua::python
