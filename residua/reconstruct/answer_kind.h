#pragma once

namespace residua {

// What a table asks along its attributes: their own queries, prefixes in place of all ranges, or
// the cells.
enum class AnswerKind { kPlanned, kPrefixes, kCells };

}  // namespace residua
