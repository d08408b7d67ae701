#include "residua/files/parquet/parquet_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/files/parquet/packed_integers.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/files/parquet/thrift.h"

namespace residua {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

constexpr std::string_view kParquetMagic = "PAR1";

// Longer texts are not worth their place in the footer.
constexpr size_t kMaxBoundBytes = 64;

// The numbers that the Parquet format gives to what is used here.
enum class PhysicalType { kInt64 = 2, kDouble = 5, kByteArray = 6, kFixedLength = 7 };
constexpr int kUncompressed = 0;
constexpr int kUtf8 = 0;
constexpr int kDecimal = 5;
constexpr int kDecimalDigits = 38;

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
  void Run(int64_t count, int64_t entry) {
    AppendVarint(static_cast<uint64_t>(count) << 1, &bytes);
    AppendBytes(&bytes, static_cast<uint64_t>(entry), static_cast<size_t>(bit_width_ + 7) / 8);
  }
  // `count` is a multiple of 8.
  void Pack(const EntryStretch& stretch, int64_t place, int64_t count) {
    AppendVarint(static_cast<uint64_t>(count / 8) << 1 | 1, &bytes);
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

// 128 bits each, the highest byte first.
std::string BigEndian(std::span<const Int128> values) {
  std::string bytes(values.size_bytes(), '\0');
  char* out = bytes.data();
  for (const Int128 value : values) {
    for (int shift = 120; shift >= 0; shift -= 8) *out++ = static_cast<char>(value >> shift);
  }
  return bytes;
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
    case ParquetColumnType::Kind::kDecimal:
      return PhysicalType::kFixedLength;
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

ParquetDictionary DictionaryOf(std::span<const int64_t> numbers) {
  ParquetDictionary dictionary{std::string(BytesOf(numbers.data(), numbers.size_bytes())),
                               std::ssize(numbers), "", ""};
  if (numbers.empty()) return dictionary;
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  dictionary.least = BytesOf(&*least, sizeof *least);
  dictionary.greatest = BytesOf(&*greatest, sizeof *greatest);
  return dictionary;
}

ParquetColumnsFile::ParquetColumnsFile(const std::filesystem::path& path,
                                       std::vector<ParquetColumnType> columns,
                                       std::map<std::string, std::string> metadata,
                                       ParquetSeal seal)
    : file_(path), columns_(std::move(columns)), metadata_(std::move(metadata)), seal_(seal) {
  file_.Write(kParquetMagic);
  num_bytes_ = std::ssize(kParquetMagic);
}

void ParquetColumnsFile::Append(std::string_view bytes) {
  if (seal_ == ParquetSeal::kDigests) digest_.Add(bytes);
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
  // Of a column that is not a dictionary's, all rows have a value or none.
  const auto validity = [&](bool has_values) {
    if (!type.is_nullable) return std::string();
    const EntryStretch all{.count = num_rows, .size = has_values ? 1 : 0};
    return ValidityOf(std::span(&all, 1));
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
  } else if (const auto* integers = std::get_if<std::span<const int64_t>>(&values)) {
    RESIDUA_CHECK(std::ssize(*integers) == num_rows);
    write_data(BytesOf(integers->data(), integers->size_bytes()), PageEncoding::kPlain);
  } else if (const auto* packed = std::get_if<PackedColumn>(&values)) {
    RESIDUA_CHECK(std::ssize(packed->values) == num_rows);
    std::string bytes = validity(true);
    AppendPacked(packed->values, &bytes);
    write_data(bytes, PageEncoding::kDeltaBinaryPacked);
    chunk.is_packed = true;
  } else if (const auto* wide = std::get_if<std::span<const Int128>>(&values)) {
    RESIDUA_CHECK(std::ssize(*wide) == num_rows);
    write_data(validity(true) + BigEndian(*wide), PageEncoding::kPlain);
  } else {
    RESIDUA_CHECK(type.is_nullable);
    chunk.num_nulls = num_rows;
    write_data(validity(false), PageEncoding::kPlain);
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
  if (seal_ == ParquetSeal::kNone) return;
  if (!group_digests_.empty()) group_digests_ += ' ';
  group_digests_ += digest_.Take();
}

std::string ParquetColumnsFile::Footer() const {
  ThriftText footer;
  footer.Number(1, 2);  // the format's version
  footer.Structs(2, columns_.size() + 1, [&](size_t k) {
    if (k == 0) {
      footer.Text(4, "residua");
      footer.Number(5, std::ssize(columns_));
      return;
    }
    const ParquetColumnType& column = columns_[k - 1];
    const bool is_decimal = column.kind == ParquetColumnType::Kind::kDecimal;
    footer.Number(1, static_cast<int>(PhysicalTypeOf(column.kind)));
    if (is_decimal) footer.Number(2, sizeof(Int128));
    footer.Number(3, column.is_nullable ? 1 : 0);
    footer.Text(4, column.name);
    if (is_decimal) {
      footer.Number(6, kDecimal);
      footer.Number(7, 0);
      footer.Number(8, kDecimalDigits);
      footer.Struct(10, [&] {  // the same for newer readers
        footer.Struct(5, [&] {
          footer.Number(1, 0);
          footer.Number(2, kDecimalDigits);
        });
      });
    }
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
        std::vector<int> encodings = {static_cast<int>(
            chunk.is_packed ? PageEncoding::kDeltaBinaryPacked : PageEncoding::kPlain)};
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
        const bool is_text = columns_[k].kind == ParquetColumnType::Kind::kText;
        if (!is_text && !columns_[k].is_nullable && chunk.greatest.empty()) return;
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
  if (seal_ == ParquetSeal::kDigests) {
    metadata.emplace_back(kRowGroupDigestsKey, group_digests_);
    metadata.emplace_back(kFooterDigestKey, NoFooterDigest());
  }
  footer.Structs(5, metadata.size(), [&](size_t k) {
    footer.Text(1, metadata[k].first);
    footer.Text(2, metadata[k].second);
  });
  footer.Text(6, fmt::format("residua version {}", Version()));
  // What the least and greatest values are by: the order that belongs to the type.
  footer.Structs(7, columns_.size(), [&](size_t) { footer.Struct(1, [] {}); });
  return footer.Take();
}

void ParquetColumnsFile::WriteFooter() {
  std::string footer = Footer();
  if (seal_ == ParquetSeal::kDigests) {
    const size_t place = footer.rfind(NoFooterDigest());
    RESIDUA_CHECK(place != std::string::npos);
    const std::string digest = Sha256(footer);
    footer.replace(place, digest.size(), digest);
  }
  const size_t size = footer.size();
  RESIDUA_CHECK(size <= std::numeric_limits<uint32_t>::max());
  AppendBytes(&footer, size, 4);
  file_.Write(footer);
  file_.Write(kParquetMagic);
}

void ParquetColumnsFile::Finish(Durability durability) {
  WriteFooter();
  file_.Commit(durability);
}

void ParquetColumnsFile::Complete() {
  WriteFooter();
  file_.Complete();
}

}  // namespace residua
