#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/noise/bit_source.h"

namespace residua {

// Which rows are counted, so that every identifier has at most `max_rows`: all rows of an
// identifier that has no more, and otherwise that many, every choice equally likely.
// `identifiers[r]` >= 0 is the identifier of row r. What is kept of one identifier does not depend
// on the rows of any other, nor on what the rows contain: leaving out one identifier changes the
// table by the kept rows of that identifier alone.
std::vector<char> ChooseRows(std::span<const int64_t> identifiers, int64_t max_rows,
                             BitSource& bits);

}  // namespace residua
