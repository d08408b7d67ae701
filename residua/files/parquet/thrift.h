#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace residua {

// Numbers in as many bytes as they need, seven bits each, the lowest first.

inline void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 128; value >>= 7) *bytes += static_cast<char>(value | 128);
  *bytes += static_cast<char>(value);
}

// Takes one off the front; false if there is none.
inline bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto next = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(next & 127) << shift;
    if (next < 128) return true;
  }
  return false;
}

// Small numbers of either sign as small numbers without one.
inline uint64_t ZigZag(uint64_t value) { return value << 1 ^ (0 - (value >> 63)); }
inline uint64_t UnZigZag(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

// Thrift's compact protocol, as far as the headers and footers of Parquet files use it: a struct is
// a list of numbered fields.

enum class ThriftType {
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

// Writes a struct. Fields come in the order of their numbers, at most 15 apart.
class ThriftText {
 public:
  void Number(int field, int64_t value) { Integer(field, ThriftType::kI32, value); }
  void Long(int field, int64_t value) { Integer(field, ThriftType::kI64, value); }
  void Text(int field, std::string_view text) {
    Header(field, ThriftType::kBinary);
    Bytes(text);
  }
  template <typename Fields>
  void Struct(int field, const Fields& fields) {
    Header(field, ThriftType::kStruct);
    Nested(fields);
  }
  // Calls element(k) for each, which writes its fields.
  template <typename Element>
  void Structs(int field, size_t count, const Element& element) {
    List(field, count, ThriftType::kStruct);
    for (size_t k = 0; k < count; ++k) Nested([&] { element(k); });
  }
  void Numbers(int field, std::span<const int> values) {
    List(field, values.size(), ThriftType::kI32);
    for (const int value : values) Signed(value);
  }
  void OneText(int field, std::string_view text) {
    List(field, 1, ThriftType::kBinary);
    Bytes(text);
  }
  // The whole, when all its fields are written.
  std::string Take() {
    text_ += '\0';
    return std::move(text_);
  }

 private:
  void Integer(int field, ThriftType type, int64_t value) {
    Header(field, type);
    Signed(value);
  }
  void Signed(int64_t value) { AppendVarint(ZigZag(static_cast<uint64_t>(value)), &text_); }
  void Bytes(std::string_view text) {
    AppendVarint(text.size(), &text_);
    text_ += text;
  }
  void Header(int field, ThriftType type) {
    text_ += static_cast<char>((field - last_field_) << 4 | static_cast<int>(type));
    last_field_ = field;
  }
  void List(int field, size_t count, ThriftType type) {
    Header(field, ThriftType::kList);
    const int code = static_cast<int>(type);
    if (count < 15) {
      text_ += static_cast<char>(static_cast<int>(count) << 4 | code);
    } else {
      text_ += static_cast<char>(15 << 4 | code);
      AppendVarint(count, &text_);
    }
  }
  template <typename Fields>
  void Nested(const Fields& fields) {
    const int outer = std::exchange(last_field_, 0);
    fields();
    text_ += '\0';
    last_field_ = outer;
  }

  std::string text_;
  int last_field_ = 0;
};

// Reads structs from bytes that nobody vouches for. What is cut off, of another type than asked
// for, nested too deeply, or claims to be longer than the bytes makes `ok` false for good; from
// then on nothing is read, and numbers are 0 and texts empty.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  // What has not been read.
  std::string_view rest() const { return bytes_; }

  // Calls field(number, type) for each field, which reads it or skips it.
  template <typename Field>
  void Struct(const Field& field) {
    Deeper deeper(this);
    int64_t number = 0;
    while (ok_) {
      const int header = Byte();
      const auto type = static_cast<ThriftType>(header & 15);
      if (!ok_ || type == ThriftType::kStop) return;
      number = header >> 4 != 0 ? number + (header >> 4) : Signed();
      field(number, type);
    }
  }
  // The same where a struct is expected.
  template <typename Field>
  void Struct(ThriftType type, const Field& field) {
    if (Expect(type == ThriftType::kStruct)) Struct(field);
  }
  // Calls element(type) for each element, which reads it or skips it.
  template <typename Element>
  void List(ThriftType type, const Element& element) {
    if (!Expect(type == ThriftType::kList || type == ThriftType::kSet)) return;
    Deeper deeper(this);
    const int header = Byte();
    const auto element_type = static_cast<ThriftType>(header & 15);
    const uint64_t size = header >> 4 == 15 ? Varint() : static_cast<uint64_t>(header >> 4);
    if (!Expect(size <= bytes_.size() / LeastBytes(element_type))) return;
    for (uint64_t k = 0; k < size && ok_; ++k) element(element_type);
  }
  int64_t Number(ThriftType type);
  std::string_view Text(ThriftType type);
  // A field, or an element of a list: a truth value takes a byte only there.
  void Skip(ThriftType type);
  void SkipElement(ThriftType type);

 private:
  // A footer has seven levels at most.
  static constexpr int kMaxDepth = 32;

  struct Deeper {
    explicit Deeper(ThriftReader* reader) : reader_(reader) {
      reader_->Expect(++reader_->depth_ <= kMaxDepth);
    }
    ~Deeper() { --reader_->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ThriftReader* reader_;
  };

  // The fewest bytes that an element takes; structs that say nothing are not stored.
  static uint64_t LeastBytes(ThriftType type) {
    if (type == ThriftType::kDouble) return 8;
    return type == ThriftType::kStruct ? 3 : 1;
  }

  bool Expect(bool condition) {
    if (!condition) {
      ok_ = false;
      bytes_ = {};
    }
    return ok_;
  }
  int Byte();
  uint64_t Varint();
  int64_t Signed();
  std::string_view Bytes(uint64_t count);

  std::string_view bytes_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace residua
