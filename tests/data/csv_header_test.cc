#include "residua/data/csv_header.h"

#include <gtest/gtest.h>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class CsvHeaderTest : public SourceTest {};

TEST_F(CsvHeaderTest, ReadsCsvDialectsByTheirHeader) {
  Write("semi.csv",
        "\xef\xbb\xbf"
        "a;b\r\n1;\"x;y\"\r\n2;\"z\"\r\n");
  EXPECT_EQ(ReadOne({"semi.csv", "", ""}, Integers("a", 0, 3)), (Codes{1, 2}));
  EXPECT_EQ(ReadOne({"semi.csv", "", ""}, Values("b", {"z", "x;y"})), (Codes{1, 0}));
  Write("t.tsv", "a\tb,c\td\n1\t2\t3\n");
  EXPECT_EQ(ReadOne({"t.tsv", "", ""}, Integers("b,c", 0, 3)), (Codes{2}));
  Write("one.csv", "a\n007\n7\n");
  EXPECT_EQ(ReadOne({"one.csv", "", ""}, Values("a", {"7", "007"})), (Codes{1, 0}));
  Write("header.csv", "a,b\n");
  EXPECT_EQ(ReadOne({"header.csv", "", ""}, Integers("a", 0, 3)), (Codes{}));
}

TEST_F(CsvHeaderTest, ReadsTabsAndCompressedFiles) {
  Write("t.tsv", "a,b,c\td\n1\t2\n");
  EXPECT_EQ(ReadOne({"t.tsv", "", ""}, Integers("d", 0, 3)), (Codes{2})) << "tabs, by its ending";
  const std::string rows = "(SELECT i AS a FROM range(3) r(i))";
  Sql("", {"COPY " + rows + " TO 't.csv.gz' (FORMAT csv, COMPRESSION gzip)",
           "COPY " + rows + " TO 't.csv.zst' (FORMAT csv, COMPRESSION zstd)",
           "COPY " + rows + " TO 't.tsv.gz' (FORMAT csv, DELIMITER '\t', COMPRESSION gzip)",
           "COPY " + rows + " TO 't.jsonl.gz' (FORMAT json, COMPRESSION gzip)"});
  for (const std::string file : {"t.csv.gz", "t.csv.zst", "t.tsv.gz", "t.jsonl.gz"}) {
    EXPECT_EQ(ReadOne({file, "", ""}, Integers("a", 0, 3)), (Codes{0, 1, 2})) << file;
    EXPECT_EQ(ReadOne({file, "", "SELECT a FROM data"}, Integers("a", 0, 3)), (Codes{0, 1, 2}))
        << file;
  }
}

TEST_F(CsvHeaderTest, FindsDelimiterAndNames) {
  EXPECT_EQ(ParseCsvHeader("a").names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(ParseCsvHeader("a").delimiter, ',');
  EXPECT_EQ(ParseCsvHeader("\"a;b;c\",d").names, (std::vector<std::string>{"a;b;c", "d"}));
  EXPECT_EQ(ParseCsvHeader("\"a\"\"b\"|c").names, (std::vector<std::string>{"a\"b", "c"}));
  EXPECT_EQ(ParseCsvHeader("a|b,c|d").delimiter, '|');
}

}  // namespace
}  // namespace residua
