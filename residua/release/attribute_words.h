#pragma once

#include <string>

#include "residua/model/attribute.h"

namespace residua {

// What readers of a release are told of an attribute, in Markdown: its cells, what was counted,
// and what became of values that have no cell. It follows from the attribute alone and says
// nothing of the data.
std::string DescribeAttribute(const Attribute& attribute);
// The same without its name in front.
std::string DescribeValues(const Attribute& attribute);

// Text from outside as Markdown code on one line.
std::string MarkdownCode(std::string_view text);

}  // namespace residua
