#pragma once

#include <nanobind/nanobind.h>

#include "residua/model/domain.h"

namespace residua::python {

// The attributes by their names, each with the entries of its section in a spec file. A matrix is a
// numpy array. Error{kBadInput} names the entry: "domain['age'].cuts must increase strictly".
Domain DomainOf(const nanobind::dict& attributes);

}  // namespace residua::python
