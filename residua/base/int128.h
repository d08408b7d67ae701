#pragma once

namespace residua {

// 128-bit integers: noisy values of large products of attribute sizes do not fit 64 bits. GCC and
// Clang provide them on every 64-bit target; `__extension__` tells -Wpedantic that we know.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace residua
