#include "residua/files/parquet_footer.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "residua/base/error.h"

namespace residua {
namespace {

constexpr std::string_view kMagic = "PAR1";
// After the footer: its length in four bytes, little-endian, and the magic.
constexpr std::streamoff kTailBytes = 8;

// Walks over a struct in Thrift's compact protocol, which footers are written in, and keeps
// nothing.
class ThriftWalk {
 public:
  explicit ThriftWalk(std::string_view bytes) : bytes_(bytes) {}

  // False if it claims more than there is.
  bool SkipStruct(int depth = 0) {
    // A footer has seven at most.
    if (depth > 32) return false;
    while (true) {
      uint8_t header = 0;
      if (!Byte(&header)) return false;
      const int type = header & 15;
      if (type == kStop) return true;
      uint64_t ignored = 0;
      if (header >> 4 == 0 && !Varint(&ignored)) return false;
      if (type != kTrue && type != kFalse && !SkipValue(type, depth)) return false;
    }
  }

 private:
  enum Type {
    kStop,
    kTrue,
    kFalse,
    kByte,
    kI16,
    kI32,
    kI64,
    kDouble,
    kBinary,
    kList,
    kSet,
    kMap,
    kStruct
  };

  // The fewest bytes that an element takes; structs that say nothing are not stored.
  static uint64_t LeastBytes(int type) {
    if (type == kDouble) return 8;
    return type == kStruct ? 3 : 1;
  }

  bool SkipValue(int type, int depth) {
    uint64_t number = 0;
    switch (type) {
      case kTrue:
      case kFalse:
      case kByte:
        return Skip(1);
      case kI16:
      case kI32:
      case kI64:
        return Varint(&number);
      case kDouble:
        return Skip(8);
      case kBinary:
        return Varint(&number) && Skip(number);
      case kList:
      case kSet:
        return SkipList(depth);
      case kStruct:
        return SkipStruct(depth + 1);
      default:
        return false;  // footers have no maps
    }
  }

  bool SkipList(int depth) {
    uint8_t header = 0;
    if (!Byte(&header)) return false;
    const int type = header & 15;
    uint64_t size = header >> 4;
    if (size == 15 && !Varint(&size)) return false;
    if (size > bytes_.size() / LeastBytes(type)) return false;
    for (uint64_t k = 0; k < size; ++k) {
      if (!SkipValue(type, depth + 1)) return false;
    }
    return true;
  }

  bool Byte(uint8_t* value) {
    if (bytes_.empty()) return false;
    *value = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return true;
  }

  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t next = 0;
      if (!Byte(&next)) return false;
      *value |= static_cast<uint64_t>(next & 127) << shift;
      if (next < 128) return true;
    }
    return false;
  }

  bool Skip(uint64_t count) {
    if (count > bytes_.size()) return false;
    bytes_.remove_prefix(count);
    return true;
  }

  std::string_view bytes_;
};

[[noreturn]] void FailNotWhole(const std::filesystem::path& path) {
  Fail(ErrorKind::kBadInput, "{}: the measurement file is not whole: get it again", path.string());
}

}  // namespace

void CheckParquetFooter(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  unsigned char tail[kTailBytes] = {};
  stream.seekg(size - kTailBytes);
  stream.read(reinterpret_cast<char*>(tail), kTailBytes);
  const std::string_view magic(reinterpret_cast<const char*>(tail) + 4, 4);
  if (size < kTailBytes || !stream || magic != kMagic) FailNotWhole(path);
  std::streamoff length = 0;
  for (int k = 3; k >= 0; --k) length = length << 8 | tail[k];
  if (length > size - kTailBytes) FailNotWhole(path);
  std::string footer(static_cast<size_t>(length), '\0');
  stream.seekg(size - kTailBytes - length);
  stream.read(footer.data(), length);
  if (!stream || !ThriftWalk(footer).SkipStruct()) FailNotWhole(path);
}

}  // namespace residua
