#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/measure/remote/sealed_bytes.h"
#include "residua/noise/bit_source.h"

namespace residua {

// Which rows are counted, so that every identifier has at most `max_rows`: all rows of an
// identifier that has no more, and otherwise that many, every choice equally likely.
// `identifiers[r]` >= 0 is the identifier of row r. What is kept of one identifier does not depend
// on the rows of any other, nor on what the rows contain: leaving out one identifier changes the
// table by the kept rows of that identifier alone.
std::vector<char> ChooseRows(std::span<const int64_t> identifiers, int64_t max_rows,
                             BitSource& bits);

// The same, chosen by a secret: a pseudorandom function of the identifier's name, what its row
// contains and how many equal rows it had before. The same rows give the same choice, in whatever
// order they come, up to equal rows, which count alike. `names[i]` is the name of identifier i, and
// `columns` have the codes of the rows.
std::vector<char> ChooseRows(std::span<const int64_t> identifiers,
                             std::span<const std::string_view> names,
                             std::span<const CodeColumn* const> columns, int64_t max_rows,
                             const SealingKey& key);

}  // namespace residua
