#include "residua/files/readable_bytes.h"

#include <algorithm>
#include <fstream>
#include <memory>

namespace residua {

ReadableBytes OpenBytes(const std::filesystem::path& path) {
  const auto stream = std::make_shared<std::ifstream>(path, std::ios::binary | std::ios::ate);
  const auto size = std::max<int64_t>(0, stream->tellg());
  return {path, size, [stream](int64_t offset, std::span<char> bytes) {
            stream->clear();
            stream->seekg(offset);
            stream->read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            return static_cast<bool>(*stream);
          }};
}

}  // namespace residua
