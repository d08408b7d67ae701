#include "residua/files/parquet/parquet_reader.h"

#include <algorithm>
#include <limits>

#include "residua/base/error.h"
#include "residua/files/digest.h"
#include "residua/files/parquet/parquet_columns.h"
#include "residua/files/parquet/thrift.h"

namespace residua {
namespace {

constexpr std::string_view kMagic = "PAR1";
// After the footer: its length in four bytes, little-endian, and the magic.
constexpr int64_t kTailBytes = 8;

[[noreturn]] void FailNotWhole(const std::filesystem::path& path) {
  Fail(ErrorKind::kBadInput, "{}: the measurement file is not whole: get it again", path.string());
}

ParquetChunkPlace ReadChunk(ThriftReader& reader, ThriftType type) {
  ParquetChunkPlace chunk;
  int64_t dictionary_offset = 0;
  const auto read_metadata = [&](int64_t field, ThriftType of_field) {
    switch (field) {
      case 3:
        reader.List(of_field, [&](ThriftType element) {
          if (!chunk.column.empty()) chunk.column += '.';
          chunk.column += reader.Text(element);
        });
        return;
      case 5:
        chunk.num_values = reader.Number(of_field);
        return;
      case 7:
        chunk.num_bytes = reader.Number(of_field);
        return;
      case 9:
        chunk.offset = reader.Number(of_field);
        return;
      case 11:
        dictionary_offset = reader.Number(of_field);
        return;
      case 12:
        reader.Struct(of_field, [&](int64_t of_statistics, ThriftType statistic) {
          if (of_statistics == 3) {
            chunk.num_nulls = reader.Number(statistic);
          } else {
            reader.Skip(statistic);
          }
        });
        return;
      default:
        reader.Skip(of_field);
    }
  };
  reader.Struct(type, [&](int64_t field, ThriftType of_field) {
    if (field == 3) {
      reader.Struct(of_field, read_metadata);
    } else {
      reader.Skip(of_field);
    }
  });
  if (dictionary_offset > 0) chunk.offset = std::min(chunk.offset, dictionary_offset);
  return chunk;
}

ParquetRowGroupPlace ReadRowGroup(ThriftReader& reader, ThriftType type) {
  ParquetRowGroupPlace group;
  reader.Struct(type, [&](int64_t field, ThriftType of_field) {
    switch (field) {
      case 1:
        reader.List(of_field, [&](ThriftType element) {
          group.chunks.push_back(ReadChunk(reader, element));
        });
        return;
      case 3:
        group.num_rows = reader.Number(of_field);
        return;
      default:
        reader.Skip(of_field);
    }
  });
  return group;
}

std::pair<std::string, std::string> ReadPair(ThriftReader& reader, ThriftType type) {
  std::pair<std::string, std::string> pair;
  reader.Struct(type, [&](int64_t field, ThriftType of_field) {
    switch (field) {
      case 1:
        pair.first = reader.Text(of_field);
        return;
      case 2:
        pair.second = reader.Text(of_field);
        return;
      default:
        reader.Skip(of_field);
    }
  });
  return pair;
}

// Little-endian.
bool TakeNumber(std::string_view* bytes, size_t num_bytes, uint64_t* value) {
  if (bytes->size() < num_bytes) return false;
  *value = 0;
  for (size_t k = num_bytes; k-- > 0;) {
    *value = *value << 8 | static_cast<unsigned char>((*bytes)[k]);
  }
  bytes->remove_prefix(num_bytes);
  return true;
}

}  // namespace

ParquetFooter ReadParquetFooter(const ReadableBytes& file) {
  char tail[kTailBytes] = {};
  if (file.size < kTailBytes || !file.read(file.size - kTailBytes, tail)) FailNotWhole(file.path);
  std::string_view rest(tail, kTailBytes);
  uint64_t length = 0;
  if (!TakeNumber(&rest, 4, &length) || rest != kMagic ||
      static_cast<int64_t>(length) > file.size - kTailBytes) {
    FailNotWhole(file.path);
  }
  ParquetFooter footer;
  footer.bytes.resize(length);
  footer.offset = file.size - kTailBytes - static_cast<int64_t>(length);
  if (!file.read(footer.offset, footer.bytes)) FailNotWhole(file.path);
  ThriftReader reader(footer.bytes);
  reader.Struct([&](int64_t field, ThriftType type) {
    switch (field) {
      case 4:
        reader.List(type, [&](ThriftType element) {
          footer.row_groups.push_back(ReadRowGroup(reader, element));
        });
        return;
      case 5:
        reader.List(type,
                    [&](ThriftType element) { footer.metadata.insert(ReadPair(reader, element)); });
        return;
      default:
        reader.Skip(type);
    }
  });
  if (!reader.ok()) FailNotWhole(file.path);
  return footer;
}

std::string NoFooterDigest() {
  std::string digest = Sha256("");
  std::fill(digest.begin() + static_cast<std::ptrdiff_t>(digest.find(':')) + 1, digest.end(), '0');
  return digest;
}

bool HasRightDigest(const ParquetFooter& footer) {
  const auto found = footer.metadata.find(kFooterDigestKey);
  const std::string none = NoFooterDigest();
  if (found == footer.metadata.end() || found->second.size() != none.size()) return false;
  std::string bytes = footer.bytes;
  const size_t place = bytes.rfind(found->second);
  if (place == std::string::npos) return false;
  bytes.replace(place, none.size(), none);
  return Sha256(bytes) == found->second;
}

std::optional<ParquetPage> TakePage(std::string_view* bytes) {
  ThriftReader reader(*bytes);
  ParquetPage page;
  int64_t type = -1, size = -1, stored_size = -1, encoding = -1;
  const auto read_header = [&](int64_t field, ThriftType of_field) {
    switch (field) {
      case 1:
        page.num_values = reader.Number(of_field);
        return;
      case 2:
        encoding = reader.Number(of_field);
        return;
      default:
        reader.Skip(of_field);
    }
  };
  reader.Struct([&](int64_t field, ThriftType of_field) {
    switch (field) {
      case 1:
        type = reader.Number(of_field);
        return;
      case 2:
        size = reader.Number(of_field);
        return;
      case 3:
        stored_size = reader.Number(of_field);
        return;
      case 5:
      case 7:
        reader.Struct(of_field, read_header);
        return;
      default:
        reader.Skip(of_field);
    }
  });
  const std::string_view rest = reader.rest();
  if (!reader.ok() || size < 0 || size != stored_size ||
      static_cast<uint64_t>(size) > rest.size() || page.num_values < 0 ||
      (type != static_cast<int>(PageType::kData) &&
       type != static_cast<int>(PageType::kDictionary))) {
    return std::nullopt;
  }
  page.type = static_cast<PageType>(type);
  page.encoding = static_cast<PageEncoding>(encoding);
  page.body = rest.substr(0, static_cast<size_t>(size));
  *bytes = rest.substr(static_cast<size_t>(size));
  return page;
}

std::optional<std::vector<ParquetRun>> ReadRuns(std::string_view bytes, int bit_width) {
  std::vector<ParquetRun> runs;
  while (!bytes.empty()) {
    ParquetRun run;
    uint64_t header = 0;
    if (!TakeVarint(&bytes, &header) || (header & 1) != 0 ||
        header >> 1 > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) ||
        !TakeNumber(&bytes, static_cast<size_t>(bit_width + 7) / 8, &run.value)) {
      return std::nullopt;
    }
    run.count = static_cast<int64_t>(header >> 1);
    runs.push_back(run);
  }
  return runs;
}

std::optional<bool> TakeValidity(std::string_view* body, int64_t num_rows) {
  uint64_t size = 0;
  if (!TakeNumber(body, 4, &size) || size > body->size()) return std::nullopt;
  const auto runs = ReadRuns(body->substr(0, size), 1);
  body->remove_prefix(size);
  if (!runs || runs->size() != 1 || runs->front().count != num_rows || runs->front().value > 1) {
    return std::nullopt;
  }
  return runs->front().value == 1;
}

std::optional<std::vector<std::string_view>> ReadTexts(std::string_view body, int64_t count) {
  std::vector<std::string_view> texts;
  while (!body.empty()) {
    uint64_t size = 0;
    if (!TakeNumber(&body, 4, &size) || size > body.size()) return std::nullopt;
    texts.push_back(body.substr(0, size));
    body.remove_prefix(size);
  }
  if (std::ssize(texts) != count) return std::nullopt;
  return texts;
}

}  // namespace residua
