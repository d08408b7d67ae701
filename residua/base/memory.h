#pragma once

#include <cstdint>

namespace residua {

// The memory of the machine, or what its container allows, in bytes.
int64_t MemoryOfMachine();

}  // namespace residua
