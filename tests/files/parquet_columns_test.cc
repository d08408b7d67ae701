// Files of every shape, read back with DuckDB and compared with the rows written out one by one.
#include "residua/files/parquet/parquet_columns.h"

#include <cstring>
#include <optional>
#include <random>

#include "residua/base/error.h"
#include "residua/files/parquet/parquet_reader.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

using Kind = ParquetColumnType::Kind;
using Rows = std::vector<std::string>;  // of one column, as text; "none" where there is no value

// What EntryStretch's comment says.
std::vector<std::optional<int64_t>> EntriesOneByOne(const std::vector<EntryStretch>& stretches) {
  std::vector<std::optional<int64_t>> entries;
  for (const EntryStretch& s : stretches) {
    for (int64_t j = 0; j < s.count; ++j) {
      entries.push_back(s.size == 0 ? std::nullopt
                                    : std::optional(s.offset + (s.first + j) / s.repeat % s.size));
    }
  }
  return entries;
}

Rows TextRows(const std::vector<EntryStretch>& stretches, const std::vector<std::string>& texts) {
  Rows rows;
  for (const std::optional<int64_t> entry : EntriesOneByOne(stretches)) {
    rows.push_back(entry ? texts[static_cast<size_t>(*entry)] : "none");
  }
  return rows;
}

std::vector<std::string> TextsOf(int64_t size, const std::string& start) {
  std::vector<std::string> texts;
  for (int64_t k = 0; k < size; ++k) texts.push_back(start + std::to_string(k));
  return texts;
}

class ParquetColumnsTest : public FolderTest {
 protected:
  static Rows Read(const std::string& column) {
    Rows rows;
    DuckDbConnection connection = DuckDbConnection::InMemory("t.parquet", "t.parquet");
    connection.Stream(
        "SELECT coalesce(" + SqlName(column) + "::VARCHAR, 'none') FROM read_parquet('t.parquet')",
        [&](const DuckDbChunk& chunk) {
          for (int64_t row = 0; row < chunk.num_rows(); ++row) {
            rows.emplace_back(TextOf(chunk.Values<duckdb_string_t>(0)[row]));
          }
        });
    return rows;
  }

  // One column of texts in one row group.
  static void ExpectTexts(const std::vector<EntryStretch>& stretches,
                          const std::vector<std::string>& texts, bool is_nullable) {
    ParquetColumnsFile file("t.parquet", {{"c", Kind::kText, is_nullable}}, {});
    const ParquetDictionary dictionary = DictionaryOf(texts);
    int64_t num_rows = 0;
    for (const EntryStretch& stretch : stretches) num_rows += stretch.count;
    file.WriteRowGroup(num_rows, {{DictionaryColumn{&dictionary, stretches}}});
    file.Finish(Durability::kLater);
    ReadParquetFooter(OpenBytes("t.parquet"));
    EXPECT_TRUE(Read("c") == TextRows(stretches, texts))
        << num_rows << " rows, " << texts.size() << " texts";
  }
};

TEST_F(ParquetColumnsTest, RandomShapes) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 100; ++k) {
    const bool is_nullable = random() % 2 == 0;
    const auto size = static_cast<int64_t>(1 + random() % (k % 3 == 0 ? 300 : 9));
    std::vector<EntryStretch> stretches;
    const size_t num_stretches = 1 + random() % 6;
    while (stretches.size() < num_stretches) {
      const auto count = static_cast<int64_t>(1 + random() % (k % 2 == 0 ? 40 : 3000));
      if (is_nullable && random() % 3 == 0) {
        stretches.push_back({.count = count, .size = 0});
        continue;
      }
      const auto used = static_cast<int64_t>(1 + random() % static_cast<uint64_t>(size));
      stretches.push_back({.count = count,
                           .size = used,
                           .repeat = static_cast<int64_t>(1 + random() % 20),
                           .first = static_cast<int64_t>(random() % 1000),
                           .offset = size - used});
    }
    ExpectTexts(stretches, TextsOf(size, "t"), is_nullable);
  }
}

TEST_F(ParquetColumnsTest, EdgesOfWidths) {
  for (const int64_t size : {1, 2, 3, 255, 256, 257, 65535, 65536, 65537, 100000}) {
    ExpectTexts({{.count = size + 3, .size = size}}, TextsOf(size, ""), false);
    ExpectTexts({{.count = 5, .size = 0}, {.count = 2 * size, .size = size, .repeat = 2}},
                TextsOf(size, ""), true);
  }
  // A single row; a column without any value.
  ExpectTexts({{.count = 1, .size = 1}}, {"only"}, false);
  ExpectTexts({{.count = 1000, .size = 0}}, {"never"}, true);
}

TEST_F(ParquetColumnsTest, AnyText) {
  const std::vector<std::string> texts = {"",
                                          "a,b",
                                          "\"quoted\"",
                                          "line\nbreak",
                                          "\u00e9t\u00e9",
                                          "\u5e74\u9f62",
                                          "\U0001f600",
                                          std::string(100000, 'l'),
                                          "none of these",
                                          "null"};
  ExpectTexts({{.count = 25, .size = std::ssize(texts)}}, texts, false);
  ExpectTexts({{.count = 25, .size = std::ssize(texts)}}, texts, true);
}

TEST_F(ParquetColumnsTest, ManyRowGroupsOfAllKinds) {
  const std::vector<double> numbers = {0.1, -2.5, 1e300, 3, 5e-324, 0.1, 7};
  const std::vector<int64_t> integers = {1, -1, INT64_MAX, INT64_MIN, 0, 5, 6};
  const std::vector<double> distinct = {1.25, 8.5};
  const ParquetDictionary texts = DictionaryOf(TextsOf(3, "v"));
  const ParquetDictionary doubles = DictionaryOf(distinct);
  const std::vector<EntryStretch> of_texts = {{.count = 7, .size = 3, .repeat = 2}};
  const std::vector<EntryStretch> of_doubles = {{.count = 4, .size = 1},
                                                {.count = 3, .size = 1, .offset = 1}};
  ParquetColumnsFile file("t.parquet",
                          {{"text", Kind::kText, false},
                           {"plain", Kind::kDouble, false},
                           {"few", Kind::kDouble, false},
                           {"whole", Kind::kInteger, false}},
                          {{"key", "a value"}, {"other", "\u00e9"}});
  // More than 15, from where on lists state their length otherwise.
  for (int k = 0; k < 40; ++k) {
    file.WriteRowGroup(
        7, {{DictionaryColumn{&texts, of_texts}, std::span<const double>(numbers),
             DictionaryColumn{&doubles, of_doubles}, std::span<const int64_t>(integers)}});
  }
  EXPECT_FALSE(fs::exists("t.parquet"));
  file.Finish(Durability::kSynced);
  ReadParquetFooter(OpenBytes("t.parquet"));
  DuckDbConnection connection = DuckDbConnection::InMemory("t.parquet", "t.parquet");
  const auto first = [&](const std::string& select) {
    return connection.FirstText(select).value();
  };
  EXPECT_EQ(first("SELECT count(*)::VARCHAR FROM read_parquet('t.parquet') WHERE text = 'v1'"),
            "80");
  EXPECT_EQ(first("SELECT count(*)::VARCHAR FROM read_parquet('t.parquet') WHERE few = 8.5"),
            "120");
  EXPECT_EQ(first("SELECT max(row_group_id)::VARCHAR FROM parquet_metadata('t.parquet')"), "39");
  EXPECT_EQ(first("SELECT decode(value) FROM parquet_kv_metadata('t.parquet') WHERE key = "
                  "'other'::BLOB OR decode(key) = 'other'"),
            "\u00e9");
  connection.Stream(
      "SELECT plain, whole FROM read_parquet('t.parquet')", [&](const DuckDbChunk& chunk) {
        for (int64_t row = 0; row < chunk.num_rows(); ++row) {
          EXPECT_EQ(chunk.Values<double>(0)[row], numbers[static_cast<size_t>(row % 7)]);
          EXPECT_EQ(chunk.Values<int64_t>(1)[row], integers[static_cast<size_t>(row % 7)]);
        }
      });
}

TEST_F(ParquetColumnsTest, NoRows) {
  ParquetColumnsFile("t.parquet", {{"c", Kind::kText, true}}, {}).Finish(Durability::kLater);
  ReadParquetFooter(OpenBytes("t.parquet"));
  EXPECT_TRUE(Read("c").empty());
}

TEST_F(ParquetColumnsTest, AnUnfinishedFileLeavesNothing) {
  const std::vector<double> numbers = {1, 2};
  {
    ParquetColumnsFile file("t.parquet", {{"c", Kind::kDouble, false}}, {});
    file.WriteRowGroup(2, {{std::span<const double>(numbers)}});
  }
  EXPECT_TRUE(fs::is_empty("."));
}

}  // namespace
}  // namespace residua
