#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/noise/bit_source.h"

namespace residua {

// Which rows are counted, so that every owner has at most `max_rows`: all rows of an owner with no
// more, and of another that many, every choice of them equally likely. `owners[r]` >= 0 says whose
// row r is. What is kept of one owner does not depend on the rows of any other, nor on what rows
// hold: leaving out one owner changes the table by that owner's kept rows alone.
std::vector<char> ChooseRows(std::span<const int64_t> owners, int64_t max_rows, BitSource& bits);

}  // namespace residua
