#pragma once

#include <cstdint>

namespace residua {

// Of the machine, or what its container allows, in bytes.
int64_t MemoryOfMachine();

}  // namespace residua
