#pragma once

#include <string>

#include <toml++/toml.h>

#include "residua/model/domain.h"

namespace residua {

// The attributes of a spec, from its table [attributes]; `name` is the file's, and matrices that it
// refers to lie beside it. Error{kBadInput} with the line and the key of the first fault.
Domain ReadSpecAttributes(const toml::table& table, const std::string& name);

}  // namespace residua
