#include "residua/files/parquet_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "residua/base/error.h"
#include "residua/base/version.h"

namespace residua {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

constexpr std::string_view kParquetMagic = "PAR1";

// Longer texts are not worth their place in the footer.
constexpr size_t kMaxBoundBytes = 64;

// The numbers that the Parquet format gives to what is used here.
enum class PhysicalType { kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum class PageType { kData = 0, kDictionary = 2 };
enum class PageEncoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
constexpr int kUncompressed = 0;
constexpr int kUtf8 = 0;

// Parquet's headers and footer are structs in Thrift's compact protocol.
class ThriftText {
 public:
  void Number(int field, int64_t value, bool is_64_bits = false) {
    Header(field, is_64_bits ? kI64 : kI32);
    Varint(ZigZag(value));
  }
  void Long(int field, int64_t value) { Number(field, value, /*is_64_bits=*/true); }
  void Text(int field, std::string_view text) {
    Header(field, kBinary);
    Bytes(text);
  }
  template <typename Fields>
  void Struct(int field, const Fields& fields) {
    Header(field, kStruct);
    Nested(fields);
  }
  // Calls element(k) for each, which writes its fields.
  template <typename Element>
  void Structs(int field, size_t count, const Element& element) {
    List(field, count, kStruct);
    for (size_t k = 0; k < count; ++k) Nested([&] { element(k); });
  }
  void Numbers(int field, std::span<const int> values) {
    List(field, values.size(), kI32);
    for (const int value : values) Varint(ZigZag(value));
  }
  void OneText(int field, std::string_view text) {
    List(field, 1, kBinary);
    Bytes(text);
  }
  // The whole, when all its fields are written.
  std::string Take() {
    text_ += '\0';
    return std::move(text_);
  }

 private:
  enum Type { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  static uint64_t ZigZag(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  }
  void Varint(uint64_t value) {
    for (; value >= 128; value >>= 7) text_ += static_cast<char>(value | 128);
    text_ += static_cast<char>(value);
  }
  void Bytes(std::string_view text) {
    Varint(text.size());
    text_ += text;
  }
  // Fields come in the order of their numbers, at most 15 apart.
  void Header(int field, Type type) {
    text_ += static_cast<char>((field - last_field_) << 4 | type);
    last_field_ = field;
  }
  void List(int field, size_t count, Type type) {
    Header(field, kList);
    if (count < 15) {
      text_ += static_cast<char>(count << 4 | type);
    } else {
      text_ += static_cast<char>(15 << 4 | type);
      Varint(count);
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

void AppendBytes(std::string* bytes, uint64_t value, size_t count) {
  for (size_t k = 0; k < count; ++k) bytes->push_back(static_cast<char>(value >> 8 * k));
}

// Small numbers in Parquet's mixture of runs, each a count and a value, and of stretches of eight
// and more that are packed bit by bit.
class HybridRuns {
 public:
  explicit HybridRuns(int bit_width) : bit_width_(bit_width) {}

  void Add(const EntryStretch& stretch) {
    for (int64_t j = 0; j < stretch.count;) {
      const int64_t place = stretch.first + j;
      const int64_t left = stretch.count - j;
      const int64_t entry = place / stretch.repeat % stretch.size;
      const int64_t run =
          stretch.size == 1 ? left : std::min(left, stretch.repeat - place % stretch.repeat);
      if (run >= 8 || left < 8) {
        Run(run, stretch.offset + entry);
        j += run;
      } else if (stretch.repeat >= 8) {
        // The end of a long run: with what comes next it makes eight.
        Pack(stretch, place, 8);
        j += 8;
      } else {
        Pack(stretch, place, left / 8 * 8);
        j += left / 8 * 8;
      }
    }
  }

  std::string bytes;

 private:
  void Varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }
  void Run(int64_t count, int64_t entry) {
    Varint(static_cast<uint64_t>(count) << 1);
    AppendBytes(&bytes, static_cast<uint64_t>(entry), static_cast<size_t>(bit_width_ + 7) / 8);
  }
  // `count` is a multiple of 8.
  void Pack(const EntryStretch& stretch, int64_t place, int64_t count) {
    Varint(static_cast<uint64_t>(count / 8) << 1 | 1);
    int64_t entry = place / stretch.repeat % stretch.size;
    int64_t repeats_left = stretch.repeat - place % stretch.repeat;
    const auto num_bytes = static_cast<size_t>(count / 8 * bit_width_);
    const size_t old_size = bytes.size();
    bytes.resize(old_size + num_bytes);
    char* out = bytes.data() + old_size;
    uint64_t word = 0;
    int bits = 0;
    for (int64_t k = 0; k < count; ++k) {
      word |= static_cast<uint64_t>(stretch.offset + entry) << bits;
      bits += bit_width_;
      for (; bits >= 8; bits -= 8, word >>= 8) *out++ = static_cast<char>(word);
      if (--repeats_left == 0) {
        repeats_left = stretch.repeat;
        if (++entry == stretch.size) entry = 0;
      }
    }
  }

  int bit_width_;
};

std::string_view BytesOf(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

// Pages state their size in 32 bits.
int64_t PageSize(size_t size) {
  RESIDUA_CHECK(size <= static_cast<size_t>(std::numeric_limits<int32_t>::max()));
  return static_cast<int64_t>(size);
}

std::string PageHeader(PageType type, size_t size, int64_t num_values, PageEncoding encoding) {
  ThriftText header;
  header.Number(1, static_cast<int>(type));
  header.Number(2, PageSize(size));
  header.Number(3, PageSize(size));
  header.Struct(type == PageType::kData ? 5 : 7, [&] {
    header.Number(1, num_values);
    header.Number(2, static_cast<int>(encoding));
    if (type == PageType::kDictionary) return;
    header.Number(3, static_cast<int>(PageEncoding::kRle));
    header.Number(4, static_cast<int>(PageEncoding::kRle));
  });
  return header.Take();
}

// Which rows have a value: a run of ones or zeros for each stretch, after its size.
std::string ValidityOf(std::span<const EntryStretch> stretches) {
  HybridRuns runs(1);
  for (const EntryStretch& stretch : stretches) {
    runs.Add({.count = stretch.count, .size = 1, .offset = stretch.size > 0 ? 1 : 0});
  }
  std::string bytes;
  AppendBytes(&bytes, runs.bytes.size(), 4);
  return bytes + runs.bytes;
}

// The entries of the rows that have one, after the number of bits of each.
std::string EntriesOf(const DictionaryColumn& column) {
  const auto largest = static_cast<uint64_t>(std::max<int64_t>(column.dictionary->size - 1, 1));
  const auto bit_width = static_cast<int>(std::bit_width(largest));
  HybridRuns runs(bit_width);
  runs.bytes += static_cast<char>(bit_width);
  for (const EntryStretch& stretch : column.stretches) {
    if (stretch.size > 0) runs.Add(stretch);
  }
  return std::move(runs.bytes);
}

PhysicalType PhysicalTypeOf(ParquetColumnType::Kind kind) {
  switch (kind) {
    case ParquetColumnType::Kind::kText:
      return PhysicalType::kByteArray;
    case ParquetColumnType::Kind::kDouble:
      return PhysicalType::kDouble;
    case ParquetColumnType::Kind::kInteger:
      return PhysicalType::kInt64;
  }
  RESIDUA_CHECK(false);
}

}  // namespace

ParquetDictionary DictionaryOf(std::span<const std::string> texts) {
  ParquetDictionary dictionary;
  dictionary.size = std::ssize(texts);
  for (const std::string& text : texts) {
    AppendBytes(&dictionary.bytes, text.size(), 4);
    dictionary.bytes += text;
  }
  if (texts.empty()) return dictionary;
  // Bytes are compared as numbers without a sign, as std::string does.
  const auto [least, greatest] = std::minmax_element(texts.begin(), texts.end());
  if (least->size() <= kMaxBoundBytes && greatest->size() <= kMaxBoundBytes) {
    dictionary.least = *least;
    dictionary.greatest = *greatest;
  }
  return dictionary;
}

ParquetDictionary DictionaryOf(std::span<const double> numbers) {
  return {std::string(BytesOf(numbers.data(), numbers.size_bytes())), std::ssize(numbers), "", ""};
}

ParquetColumnsFile::ParquetColumnsFile(const std::filesystem::path& path,
                                       std::vector<ParquetColumnType> columns,
                                       std::map<std::string, std::string> metadata)
    : file_(path), columns_(std::move(columns)), metadata_(std::move(metadata)) {
  Append(kParquetMagic);
}

void ParquetColumnsFile::Append(std::string_view bytes) {
  file_.Write(bytes);
  num_bytes_ += std::ssize(bytes);
}

ParquetColumnsFile::Chunk ParquetColumnsFile::WriteColumn(int64_t num_rows,
                                                          const ParquetColumnType& type,
                                                          const ParquetColumnValues& values) {
  Chunk chunk;
  const int64_t start = num_bytes_;
  const auto write_data = [&](std::string_view bytes, PageEncoding encoding) {
    chunk.data_offset = num_bytes_;
    Append(PageHeader(PageType::kData, bytes.size(), num_rows, encoding));
    Append(bytes);
  };
  if (const auto* column = std::get_if<DictionaryColumn>(&values)) {
    for (const EntryStretch& stretch : column->stretches) {
      if (stretch.size == 0) chunk.num_nulls += stretch.count;
    }
    RESIDUA_CHECK(type.is_nullable || chunk.num_nulls == 0);
    std::string bytes = type.is_nullable ? ValidityOf(column->stretches) : "";
    if (chunk.num_nulls == num_rows) {
      write_data(bytes, PageEncoding::kPlain);
    } else {
      const ParquetDictionary& dictionary = *column->dictionary;
      chunk.dictionary_offset = num_bytes_;
      Append(PageHeader(PageType::kDictionary, dictionary.bytes.size(), dictionary.size,
                        PageEncoding::kPlain));
      Append(dictionary.bytes);
      chunk.least = dictionary.least;
      chunk.greatest = dictionary.greatest;
      bytes += EntriesOf(*column);
      write_data(bytes, PageEncoding::kRleDictionary);
    }
  } else if (const auto* doubles = std::get_if<std::span<const double>>(&values)) {
    RESIDUA_CHECK(std::ssize(*doubles) == num_rows);
    write_data(BytesOf(doubles->data(), doubles->size_bytes()), PageEncoding::kPlain);
  } else {
    const auto& integers = std::get<std::span<const int64_t>>(values);
    RESIDUA_CHECK(std::ssize(integers) == num_rows);
    write_data(BytesOf(integers.data(), integers.size_bytes()), PageEncoding::kPlain);
  }
  chunk.num_bytes = num_bytes_ - start;
  return chunk;
}

void ParquetColumnsFile::WriteRowGroup(int64_t num_rows,
                                       std::span<const ParquetColumnValues> columns) {
  RESIDUA_CHECK(columns.size() == columns_.size() && num_rows > 0);
  RowGroup group{num_rows, {}};
  for (size_t k = 0; k < columns.size(); ++k) {
    group.chunks.push_back(WriteColumn(num_rows, columns_[k], columns[k]));
  }
  row_groups_.push_back(std::move(group));
}

std::string ParquetColumnsFile::Footer() const {
  ThriftText footer;
  footer.Number(1, 2);  // the format's version
  footer.Structs(2, columns_.size() + 1, [&](size_t k) {
    if (k == 0) {
      footer.Text(4, "tables");
      footer.Number(5, std::ssize(columns_));
      return;
    }
    const ParquetColumnType& column = columns_[k - 1];
    footer.Number(1, static_cast<int>(PhysicalTypeOf(column.kind)));
    footer.Number(3, column.is_nullable ? 1 : 0);
    footer.Text(4, column.name);
    if (column.kind != ParquetColumnType::Kind::kText) return;
    footer.Number(6, kUtf8);
    footer.Struct(10, [&] { footer.Struct(1, [] {}); });  // the same for newer readers
  });
  const auto total_rows = [](int64_t sum, const RowGroup& group) { return sum + group.num_rows; };
  footer.Long(3, std::accumulate(row_groups_.begin(), row_groups_.end(), int64_t{0}, total_rows));
  footer.Structs(4, row_groups_.size(), [&](size_t g) {
    const RowGroup& group = row_groups_[g];
    int64_t num_bytes = 0;
    footer.Structs(1, columns_.size(), [&](size_t k) {
      const Chunk& chunk = group.chunks[k];
      const bool has_dictionary = chunk.dictionary_offset >= 0;
      num_bytes += chunk.num_bytes;
      footer.Long(2, has_dictionary ? chunk.dictionary_offset : chunk.data_offset);
      footer.Struct(3, [&] {
        footer.Number(1, static_cast<int>(PhysicalTypeOf(columns_[k].kind)));
        std::vector<int> encodings = {static_cast<int>(PageEncoding::kPlain)};
        if (columns_[k].is_nullable) encodings.push_back(static_cast<int>(PageEncoding::kRle));
        if (has_dictionary) encodings.push_back(static_cast<int>(PageEncoding::kRleDictionary));
        footer.Numbers(2, encodings);
        footer.OneText(3, columns_[k].name);
        footer.Number(4, kUncompressed);
        footer.Long(5, group.num_rows);
        footer.Long(6, chunk.num_bytes);
        footer.Long(7, chunk.num_bytes);
        footer.Long(9, chunk.data_offset);
        if (has_dictionary) footer.Long(11, chunk.dictionary_offset);
        if (columns_[k].kind != ParquetColumnType::Kind::kText) return;
        footer.Struct(12, [&] {
          footer.Long(3, chunk.num_nulls);
          if (chunk.greatest.empty()) return;
          footer.Text(5, chunk.greatest);
          footer.Text(6, chunk.least);
        });
      });
    });
    footer.Long(2, num_bytes);
    footer.Long(3, group.num_rows);
  });
  std::vector<std::pair<std::string, std::string>> metadata(metadata_.begin(), metadata_.end());
  footer.Structs(5, metadata.size(), [&](size_t k) {
    footer.Text(1, metadata[k].first);
    footer.Text(2, metadata[k].second);
  });
  footer.Text(6, fmt::format("residua version {}", Version()));
  // What the least and greatest values are by: the order that belongs to the type.
  footer.Structs(7, columns_.size(), [&](size_t) { footer.Struct(1, [] {}); });
  return footer.Take();
}

void ParquetColumnsFile::Finish(Durability durability) {
  std::string footer = Footer();
  const size_t size = footer.size();
  RESIDUA_CHECK(size <= std::numeric_limits<uint32_t>::max());
  AppendBytes(&footer, size, 4);
  Append(footer);
  Append(kParquetMagic);
  file_.Commit(durability);
}

}  // namespace residua
