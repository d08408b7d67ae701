#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "residua/base/error.h"
#include "residua/model/attribute.h"

namespace residua::python {

// What a caller passed, as the library takes it. `place` is the argument's name, such as
// "domain['age'].cuts"; Error{kBadInput} carries it. The package has made numpy's numbers and texts
// Python's own before (_plain.py).
std::string TextOf(nanobind::handle item, std::string_view place);
bool TruthOf(nanobind::handle item, std::string_view place);
int64_t WholeOf(nanobind::handle item, std::string_view place);
double DoubleOf(nanobind::handle item, std::string_view place);
// A number as a person would type it, or a text such as "1/3", which nobody has read yet.
std::string NumberTextOf(nanobind::handle item, std::string_view place);
// A value of the data as text: True is "true", as in data.
std::string ValueTextOf(nanobind::handle item, std::string_view place);
nanobind::list ListOf(nanobind::handle item, std::string_view place);
nanobind::dict DictOf(nanobind::handle item, std::string_view place);
// A numpy array of at least one row, with one column per cell.
CellMatrix MatrixOf(nanobind::handle item, int64_t num_cells, std::string_view place);

// "PLACE['age']".
std::string ItemPlace(std::string_view place, std::string_view key);

// The item of a dictionary; null if it has none.
nanobind::object Find(const nanobind::dict& dict, std::string_view key);

// Error{kBadInput} "PLACE PROBLEM" for an error of the work that says what the place does wrong:
// "domain['age'].cuts must increase strictly".
template <typename Work>
auto About(std::string_view place, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBroken) throw;
    throw error.About(place);
  }
}

}  // namespace residua::python
