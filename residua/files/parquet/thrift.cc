#include "residua/files/parquet/thrift.h"

namespace residua {

int ThriftReader::Byte() {
  const std::string_view byte = Bytes(1);
  return byte.empty() ? 0 : static_cast<unsigned char>(byte.front());
}

uint64_t ThriftReader::Varint() {
  uint64_t value = 0;
  return Expect(TakeVarint(&bytes_, &value)) ? value : 0;
}

int64_t ThriftReader::Signed() { return static_cast<int64_t>(UnZigZag(Varint())); }

std::string_view ThriftReader::Bytes(uint64_t count) {
  if (!Expect(count <= bytes_.size())) return {};
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

int64_t ThriftReader::Number(ThriftType type) {
  if (!Expect(type == ThriftType::kI16 || type == ThriftType::kI32 || type == ThriftType::kI64)) {
    return 0;
  }
  return Signed();
}

std::string_view ThriftReader::Text(ThriftType type) {
  if (!Expect(type == ThriftType::kBinary)) return {};
  return Bytes(Varint());
}

void ThriftReader::Skip(ThriftType type) {
  if (type != ThriftType::kTrue && type != ThriftType::kFalse) SkipElement(type);
}

void ThriftReader::SkipElement(ThriftType type) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
    case ThriftType::kByte:
      Bytes(1);
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      Varint();
      return;
    case ThriftType::kDouble:
      Bytes(8);
      return;
    case ThriftType::kBinary:
      Bytes(Varint());
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      List(type, [&](ThriftType element) { SkipElement(element); });
      return;
    case ThriftType::kStruct:
      Struct([&](int64_t, ThriftType field) { Skip(field); });
      return;
    default:
      Expect(false);  // footers have no maps
  }
}

}  // namespace residua
