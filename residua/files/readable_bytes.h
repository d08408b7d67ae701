#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace residua {

// A file to read, wherever it is: on the disk, or with whoever gives its bytes when they are asked
// for.
struct ReadableBytes {
  std::filesystem::path path;  // as messages call it
  int64_t size = 0;
  // Fills `bytes` with what is in the file from `offset` on; false if that cannot be read.
  std::function<bool(int64_t offset, std::span<char> bytes)> read;
};

// A file on the disk, which is read as it is asked for. One that cannot be opened has no bytes. It
// belongs to one thread at a time.
ReadableBytes OpenBytes(const std::filesystem::path& path);

}  // namespace residua
