#pragma once

#include "residua/model/attribute.h"
#include "residua/text/json_text.h"

namespace residua {

// An attribute as plan files have it: docs/formats.md. What is read is complete, and is for Domain to
// check.
Json AttributeToJson(const Attribute& attribute);
Attribute AttributeFromJson(const Json& json);

}  // namespace residua
