#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/noise/bit_source.h"

namespace residua {

// Which rows are counted, so that every identifier has at most `max_rows`: all rows of an identifier with no
// more, and of another that many, every choice of them equally likely. `identifiers[r]` >= 0 says whose
// row r is. What is kept of one identifier does not depend on the rows of any other, nor on what rows
// hold: leaving out one identifier changes the table by that identifier's kept rows alone.
std::vector<char> ChooseRows(std::span<const int64_t> identifiers, int64_t max_rows,
                             BitSource& bits);

}  // namespace residua
