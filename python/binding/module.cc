#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <string>

#include "python/binding/bindings.h"
#include "python/binding/words.h"
#include "residua/base/error.h"
#include "residua/base/version.h"

namespace nb = nanobind;

namespace {

// An exception type that the package shows as its own; Python keeps it for as long as it runs.
PyObject* MakeException(nb::module_& module, const char* name, const char* full_name,
                        const char* doc, PyObject* base) {
  PyObject* type = PyErr_NewExceptionWithDoc(full_name, doc, base, nullptr);
  if (type == nullptr) throw nb::python_error();
  module.attr(name) = nb::borrow(type);
  return type;
}

PyObject* error_type = nullptr;
PyObject* input_type = nullptr;
PyObject* not_found_type = nullptr;
PyObject* refused_type = nullptr;

// The type for an error: one that Python's own handlers know, where there is one.
PyObject* TypeOf(const residua::Error& error) {
  switch (error.kind()) {
    case residua::ErrorKind::kRefused:
      return refused_type;
    case residua::ErrorKind::kBadInput:
    case residua::ErrorKind::kTooLarge:
      return input_type;
    case residua::ErrorKind::kIo:
      return residua::PlainWords(error.problem()).find("no such") != std::string::npos
                 ? not_found_type
                 : error_type;
    default:
      return error_type;
  }
}

}  // namespace

NB_MODULE(_residua, module) {
  module.doc() = "The C++ library, as the residua package uses it. Import residua instead.";
  module.attr("version") = std::string(residua::Version());
  error_type = MakeException(module, "Error", "residua.Error",
                             "What residua raises: one line that names the file, the column or the "
                             "argument, and the remedy.\n\n"
                             ">>> import residua as rs\n"
                             ">>> try:\n"
                             "...     rs.load('nothing.parquet')\n"
                             "... except rs.Error as error:\n"
                             "...     print(error)\n"
                             "nothing.parquet: no such file\n",
                             PyExc_Exception);
  refused_type = MakeException(
      module, "Refused", "residua.Refused",
      "An Error on grounds of privacy or safety: the request is well formed, and is not carried "
      "out.\n\n"
      ">>> import residua as rs\n"
      ">>> issubclass(rs.Refused, rs.Error)\n"
      "True\n",
      error_type);
  input_type =
      MakeException(module, "InputError", "residua.InputError",
                    "An Error about what was passed, which is a ValueError too.\n\n"
                    ">>> import residua as rs\n"
                    ">>> issubclass(rs.InputError, ValueError)\n"
                    "True\n",
                    nb::make_tuple(nb::handle(error_type), nb::handle(PyExc_ValueError)).ptr());
  not_found_type = MakeException(
      module, "NotFoundError", "residua.NotFoundError",
      "An Error about a file that is not there, which is a FileNotFoundError too.\n\n"
      ">>> import residua as rs\n"
      ">>> try:\n"
      "...     rs.load_plan('nothing.json')\n"
      "... except FileNotFoundError as error:\n"
      "...     print(error)\n"
      "nothing.json: no such file\n",
      nb::make_tuple(nb::handle(error_type), nb::handle(PyExc_FileNotFoundError)).ptr());
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const residua::Error& error) {
      PyErr_SetString(TypeOf(error), residua::python::Worded(error).c_str());
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(error_type, error.what());
    }
  });
  residua::python::BindSpecs(module);
  residua::python::BindPlans(module);
  residua::python::BindReleases(module);
  residua::python::BindMeasuring(module);
  residua::python::BindLedgers(module);
  residua::python::BindParts(module);
}
