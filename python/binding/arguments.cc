#include "python/binding/arguments.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <vector>

#include "residua/base/shown_text.h"

namespace residua::python {

namespace nb = nanobind;

namespace {

// UTF-8; a text with half a surrogate pair, which is no Unicode, has none.
std::string Utf8Of(nb::handle text, std::string_view place) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    Fail(ErrorKind::kBadInput, "{}: the text {} is not valid Unicode; correct it", place,
         std::string(nb::str(nb::steal(PyObject_ASCII(text.ptr()))).c_str()));
  }
  return {bytes, static_cast<size_t>(size)};
}

std::string DigitsOf(nb::handle whole) { return nb::cast<std::string>(nb::str(whole)); }

[[noreturn]] void FailFound(std::string_view place, std::string_view expected, nb::handle item) {
  const nb::object shown = nb::steal(PyObject_ASCII(item.ptr()));
  if (!shown.is_valid()) throw nb::python_error();
  Fail(ErrorKind::kBadInput, "{}: expected {}, found {}", place, expected,
       ShownText(nb::cast<std::string>(shown)));
}

bool IsWhole(nb::handle item) { return PyLong_Check(item.ptr()) && !PyBool_Check(item.ptr()); }

}  // namespace

std::string TextOf(nb::handle item, std::string_view place) {
  if (!PyUnicode_Check(item.ptr())) FailFound(place, "a text", item);
  return Utf8Of(item, place);
}

bool TruthOf(nb::handle item, std::string_view place) {
  if (!PyBool_Check(item.ptr())) FailFound(place, "True or False", item);
  return item.is(Py_True);
}

int64_t WholeOf(nb::handle item, std::string_view place) {
  if (!IsWhole(item)) FailFound(place, "a whole number", item);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(item.ptr(), &overflow);
  if (overflow != 0) FailFound(place, "a whole number of at most 64 bits", item);
  return value;
}

double DoubleOf(nb::handle item, std::string_view place) {
  // Whole numbers above are not all doubles.
  constexpr int64_t kMaxExact = int64_t{1} << 53;
  if (PyFloat_Check(item.ptr())) return PyFloat_AsDouble(item.ptr());
  if (!IsWhole(item)) FailFound(place, "a number", item);
  const int64_t value = WholeOf(item, place);
  if (value < -kMaxExact || value > kMaxExact) {
    FailFound(place, "a float, or a whole number of at most 53 bits", item);
  }
  return static_cast<double>(value);
}

std::string NumberTextOf(nb::handle item, std::string_view place) {
  if (PyUnicode_Check(item.ptr())) return Utf8Of(item, place);
  if (PyFloat_Check(item.ptr())) return fmt::format("{}", PyFloat_AsDouble(item.ptr()));
  if (IsWhole(item)) return DigitsOf(item);
  FailFound(place, "a number, or a text such as \"1/3\"", item);
}

std::string ValueTextOf(nb::handle item, std::string_view place) {
  if (PyUnicode_Check(item.ptr())) return Utf8Of(item, place);
  if (PyBool_Check(item.ptr())) return item.is(Py_True) ? "true" : "false";
  if (IsWhole(item)) return DigitsOf(item);
  FailFound(place, "texts, whole numbers, True or False", item);
}

nb::list ListOf(nb::handle item, std::string_view place) {
  if (!PyList_Check(item.ptr())) FailFound(place, "a list", item);
  return nb::borrow<nb::list>(item);
}

nb::dict DictOf(nb::handle item, std::string_view place) {
  if (!PyDict_Check(item.ptr())) FailFound(place, "a dictionary", item);
  return nb::borrow<nb::dict>(item);
}

CellMatrix MatrixOf(nb::handle item, int64_t num_cells, std::string_view place) {
  using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  Matrix matrix;
  if (!nb::try_cast(item, matrix)) FailFound(place, "a matrix of numbers", item);
  if (static_cast<int64_t>(matrix.shape(1)) != num_cells) {
    Fail(ErrorKind::kBadInput,
         "{}: the matrix has {} {}, and the attribute {} cells; give one for each cell", place,
         matrix.shape(1), matrix.shape(1) == 1 ? "column" : "columns", num_cells);
  }
  if (matrix.shape(0) == 0) {
    Fail(ErrorKind::kBadInput, "{}: the matrix has no rows; give one per query", place);
  }
  return {static_cast<int64_t>(matrix.shape(0)), {matrix.data(), matrix.data() + matrix.size()}};
}

std::string ItemPlace(std::string_view place, std::string_view key) {
  const nb::object name = nb::str(key.data(), key.size());
  return fmt::format("{}[{}]", place, nb::cast<std::string>(nb::repr(name)));
}

nb::object Find(const nb::dict& dict, std::string_view key) {
  const nb::str name(key.data(), key.size());
  return dict.contains(name) ? nb::object(dict[name]) : nb::object();
}

}  // namespace residua::python
