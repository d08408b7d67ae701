#pragma once

#include <string>

namespace residua::python {

// The library's messages speak of the command line where a remedy is a command; here it is a call.
std::string PythonWords(std::string message);

}  // namespace residua::python
