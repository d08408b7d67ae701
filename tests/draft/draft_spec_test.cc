#include "residua/draft/draft_spec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/files/spec.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

using Names = std::vector<std::string>;

class DraftSpecTest : public FolderTest {
 protected:
  // The draft of a file, read back as a spec: every attribute is marked, and the file fits its
  // domain without a row dropped.
  static Spec Drafted(const std::string& path) {
    const Spec spec = ParseSpec(DraftSpec(path, path), "draft.toml");
    EXPECT_EQ(spec.data.source, path);
    for (const Attribute& attribute : spec.domain.attributes()) {
      EXPECT_TRUE(attribute.read_from_data) << attribute.name;
    }
    DataSource source{path, "", ""};
    source.null_values = spec.data.null_values;
    EXPECT_EQ(ReadEncodedTable(source, spec.domain).report.num_rows_dropped, 0);
    return spec;
  }

  static Spec DraftedCsv(const std::string& text) {
    Write("t.csv", text);
    return Drafted("t.csv");
  }

  static std::string DraftOfCsv(const std::string& text) {
    Write("t.csv", text);
    return DraftSpec("t.csv", "t.csv");
  }

  static std::string MessageOf(const std::string& path) {
    try {
      DraftSpec(path, path);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }
};

Names NamesOf(const Spec& spec) {
  Names names;
  for (const Attribute& attribute : spec.domain.attributes()) names.push_back(attribute.name);
  return names;
}

const Encoding& EncodingOf(const Spec& spec, std::string_view name) {
  return spec.domain[spec.domain.Find(name).value()].encoding;
}

IntegerEncoding IntegersOf(const Spec& spec, std::string_view name) {
  return std::get<IntegerEncoding>(EncodingOf(spec, name).cells);
}

std::vector<double> CutsOf(const Spec& spec, std::string_view name) {
  return std::get<CutEncoding>(EncodingOf(spec, name).cells).cuts;
}

Names ValuesOf(const Spec& spec, std::string_view name) {
  return std::get<ValueEncoding>(EncodingOf(spec, name).cells).values;
}

// A header, then a row for each number up to `count`.
template <typename Row>
std::string Csv(std::string_view header, int count, const Row& row) {
  std::string text = fmt::format("{}\n", header);
  for (int k = 0; k < count; ++k) text += row(k) + "\n";
  return text;
}

TEST_F(DraftSpecTest, WritesTheWholeSpec) {
  EXPECT_EQ(
      DraftOfCsv("age,sex\n3,m\n9,f\n3,\n"),
      R"(# Drafted by residua init: a start, to be edited. It was read from the data; do not publish it.
#
# The domain must be public knowledge, because its cells can reveal the data: the age of the oldest
# person, a rare illness. Replace each domain by what is known without looking at the data, then
# remove its line check = "read from the data". residua release and residua measure refuse the spec
# until then.

[data]
source = "t.csv"

[privacy]
epsilon = 1.0  # less is more private and noisier; residua plan shows the errors beforehand
delta = 1e-9   # far below 1 / the number of people
# What is protected is one row. If one person may have several, name the column that says whose row
# it is, and how many rows of one person to count at most. That cannot be told from the data for
# certain:
# identifier = "COLUMN"
# max_rows = 1

[attributes.age]
integers = [3, 9]
check = "read from the data"

[attributes.sex]
values = ["f", "m"]
null = true
check = "read from the data"

[workload]
# "<=2" asks for the total, the table of each attribute and the table of each pair; "<=3" adds the
# triples, and "cells<=1000" asks for every table of at most 1000 cells.
# Single tables, in addition or instead: tables = [["age", "sex"]]
marginals = "<=2"
)");
}

TEST_F(DraftSpecTest, ListsIntegersUpToAThousandOfThem) {
  const Spec spec = DraftedCsv("a,b,c,d\n1,1,-5, +7\n1000,1001,5.0,7e0\n1,1,0,8\n");
  EXPECT_EQ(IntegersOf(spec, "a"), (IntegerEncoding{1, 1000}));
  EXPECT_EQ(CutsOf(spec, "b"), (std::vector<double>{1})) << "all that separates two values";
  EXPECT_EQ(IntegersOf(spec, "c"), (IntegerEncoding{-5, 5})) << "5.0 is read as an integer";
  EXPECT_EQ(IntegersOf(spec, "d"), (IntegerEncoding{7, 8}));
}

TEST_F(DraftSpecTest, IntegersBeyond64BitsAreCut) {
  const Spec spec =
      DraftedCsv("a,b\n9223372036854775807,99999999999999999999\n-9223372036854775808,0\n");
  EXPECT_GE(CutsOf(spec, "a").size(), 1);
  EXPECT_GE(CutsOf(spec, "b").size(), 1);
}

TEST_F(DraftSpecTest, CutsNumbersAtReadablePlaces) {
  const Spec spec = DraftedCsv(Csv("income,share", 999, [](int k) {
    return fmt::format("{},{}", k % 500 * 200, (k % 500 + 0.5) / 500);
  }));
  EXPECT_EQ(CutsOf(spec, "income"), (std::vector<double>{10000, 20000, 25000, 50000, 100000}));
  EXPECT_EQ(CutsOf(spec, "share"), (std::vector<double>{0.1, 0.2, 0.25, 0.5, 1}));
}

TEST_F(DraftSpecTest, NanAndInfinitiesBreakNothing) {
  const Spec spec = DraftedCsv(
      "a,b,c,d\n1,1.5,nan,1\n2,inf,inf,-inf\nnan,NaN,nan,2\n3,-Infinity,inf,3\n,2.5,nan,2\n");
  EXPECT_EQ(IntegersOf(spec, "a"), (IntegerEncoding{1, 3}));
  EXPECT_TRUE(EncodingOf(spec, "a").null_cell);
  EXPECT_EQ(EncodingOf(spec, "a").outside, OutsidePolicy::kError) << "NaN is missing";
  EXPECT_GE(CutsOf(spec, "b").size(), 1);
  EXPECT_TRUE(EncodingOf(spec, "b").null_cell) << "for the NaN";
  EXPECT_EQ(ValuesOf(spec, "c"), (Names{"inf"})) << "no finite number: a word";
  EXPECT_EQ(spec.data.null_values, (Names{"NaN", "nan"}));
  EXPECT_GE(CutsOf(spec, "d").size(), 1);
  EXPECT_FALSE(EncodingOf(spec, "d").null_cell) << "an infinity has a cell";
}

TEST_F(DraftSpecTest, ListsUpToFiftyTexts) {
  const auto text = [](int k) { return fmt::format("v{:02}", k); };
  const auto row = [&](int num_values) {
    return [&, num_values](int k) { return text(k % num_values) + ",x" + (k % 2 ? "1" : ""); };
  };
  const Spec fifty = DraftedCsv(Csv("a,b", 120, row(50)));
  Names expected;
  for (int k = 0; k < 50; ++k) expected.push_back(text(k));
  EXPECT_EQ(ValuesOf(fifty, "a"), expected);
  const std::string draft = DraftOfCsv(Csv("a,b", 120, row(51)));
  EXPECT_NE(draft.find("# a is left out: text with more than 50 different values. List"),
            std::string::npos)
      << draft;
  EXPECT_EQ(NamesOf(ParseSpec(draft, "t.toml")), (Names{"b"}));
}

TEST_F(DraftSpecTest, SaysWhenMostOfATextIsNumbers) {
  const std::string draft = DraftOfCsv(Csv("a,b", 120, [](int k) {
    return fmt::format("{},{}", k % 60 == 7 ? "unknown" : std::to_string(k % 60), k % 2);
  }));
  EXPECT_NE(draft.find("# a is left out: most values are numbers and some are text."),
            std::string::npos)
      << draft;
}

// Whose row it is says a column of many values with several rows each. Where every row has a value
// of its own, it neither identifies people with several rows nor makes a table.
TEST_F(DraftSpecTest, SuggestsIdentifiers) {
  const std::string draft = DraftOfCsv(Csv("row,key,name,person_id,amount,few,sex", 300, [](int k) {
    return fmt::format("{},k{},n{},{},{},f{},{}", k, k, k % 100, k % 120, k * 7 % 120, k % 9,
                       k % 2);
  }));
  EXPECT_NE(draft.find("# identifier = \"name\"\n# identifier = \"person_id\"\n# max_rows = 1\n"),
            std::string::npos)
      << draft;
  EXPECT_NE(draft.find("# row is left out: every row has a different value, so that a table would "
                       "count single rows. If it\n# is a quantity, give it cuts.\n"),
            std::string::npos)
      << draft;
  EXPECT_EQ(NamesOf(ParseSpec(draft, "t.toml")), (Names{"amount", "few", "sex"}));
  EXPECT_NE(draft.find("# person_id is left out: it seems to say whose row it is."),
            std::string::npos)
      << draft;
  const auto models = [](int k) { return fmt::format("{},m{}", k, k % 100); };
  EXPECT_NE(DraftOfCsv(Csv("row,model", 300, models)).find("# identifier = \"COLUMN\"\n"),
            std::string::npos)
      << "rows that are numbered, and no name that fits";
  // Where most have one row, the name has to fit.
  const auto visits = [](int k) { return fmt::format("p{},m{},{}", k % 250, k % 251, k % 2); };
  const std::string visited = DraftOfCsv(Csv("patient,model,sex", 300, visits));
  EXPECT_NE(visited.find("# identifier = \"patient\"\n# max_rows"), std::string::npos) << visited;
  const auto few = [](int k) { return fmt::format("{},n{},{}", k, k, k % 2); };
  EXPECT_EQ(NamesOf(DraftedCsv(Csv("id,name,sex", 10, few))), (Names{"sex"}));
  EXPECT_EQ(NamesOf(DraftedCsv(Csv("id,name,sex", 9, few))), (Names{"id", "name", "sex"}))
      << "few rows differ by chance";
}

TEST_F(DraftSpecTest, ReadsTextsThatMeanMissing) {
  const std::string text = Csv("age,sex,note", 60, [](int k) {
    return fmt::format("{},{},{}", k % 7 == 0 ? "NA" : std::to_string(k % 30),
                       k % 5 == 0 ? "N/A" : (k % 2 == 0 ? "f" : "m"), k % 3 == 0 ? "-" : "null");
  });
  const Spec spec = DraftedCsv(text);
  EXPECT_EQ(spec.data.null_values, (Names{"NA", "N/A", "null", "-"}));
  EXPECT_EQ(IntegersOf(spec, "age"), (IntegerEncoding{0, 29}));
  EXPECT_TRUE(EncodingOf(spec, "age").null_cell);
  EXPECT_EQ(ValuesOf(spec, "sex"), (Names{"f", "m"}));
  EXPECT_NE(DraftOfCsv(text).find("# note is left out: every value is missing.\n"),
            std::string::npos);
  EXPECT_EQ(DraftOfCsv("a,b\n1,x\n2,y\n").find("null_values"), std::string::npos);
}

TEST_F(DraftSpecTest, SortsNumbersInTextByTheirSize) {
  const Spec spec = DraftedCsv("a,b\n100+,10\n5-9,9\n10-14,unknown\n0-4,-1\n5-9,100\n0-4,2.5\n");
  EXPECT_EQ(ValuesOf(spec, "a"), (Names{"0-4", "5-9", "10-14", "100+"}));
  EXPECT_EQ(ValuesOf(spec, "b"), (Names{"-1", "2.5", "9", "10", "100", "unknown"}));
}

TEST_F(DraftSpecTest, DraftsDates) {
  const Spec spec = DraftedCsv(Csv("day,at,late,born,slash,moment", 400, [](int k) {
    return fmt::format(
        "2013-{:02}-{:02},2013-01-{:02} {:02}:30:00,{},{}-05-01,{}/2/2013,"
        "2013-01-01T{:02}:00",
        k % 12 + 1, k % 28 + 1, k % 20 + 1, k % 24, k % 3 ? "2013-01-05" : "NA", 1930 + k % 90,
        k % 28 + 1, k % 24);
  }));
  const auto dates = [&](std::string_view name) {
    return std::get<DateEncoding>(EncodingOf(spec, name).cells);
  };
  EXPECT_EQ(dates("day").every, DateStep::kWeek);
  EXPECT_EQ(DayText(dates("day").first_day), "2013-01-01");
  EXPECT_EQ(DayText(dates("day").last_day), "2013-12-28");
  EXPECT_EQ(dates("at").every, DateStep::kDay);
  EXPECT_EQ(dates("born").every, DateStep::kYear);
  EXPECT_EQ(EncodingOf(spec, "moment").cells, Encoding{PartEncoding{DatePart::kHour}}.cells)
      << "a single day";
  EXPECT_EQ(NamesOf(spec), (Names{"day", "at", "late", "born", "moment"}));
  EXPECT_NE(
      DraftSpec("t.csv", "t.csv").find("# slash is left out: it seems to hold dates that are"),
      std::string::npos);
}

TEST_F(DraftSpecTest, LeavesOutWhatHasOneValueOrNone) {
  const std::string draft = DraftOfCsv("one,none,gap,number,sex\nx,,x,5,m\nx,,,5.0,f\n");
  EXPECT_NE(draft.find("# one is left out: it has one value, which needs no attribute.\n"),
            std::string::npos);
  EXPECT_NE(draft.find("# none is left out: every value is missing.\n"), std::string::npos);
  EXPECT_NE(draft.find("# number is left out: it has one value"), std::string::npos);
  const Spec spec = DraftedCsv("one,none,gap,number,sex\nx,,x,5,m\nx,,,5.0,f\n");
  EXPECT_EQ(NamesOf(spec), (Names{"gap", "sex"}));
  EXPECT_EQ(spec.domain[0].size, 2) << "a value, and missing";
}

TEST_F(DraftSpecTest, QuotesHostileNamesAndValues) {
  // The names and values of the data, each as CSV has it.
  const Names hostile = {"a b",
                         "a.b",
                         "it's",
                         "a\"b",
                         "back\\slash",
                         "[x]",
                         "# hash",
                         "\xc3\xa9",
                         "\x02\x1f\x7f",
                         "tab\there",
                         "\xf0\x9f\x98\x80",
                         "= true",
                         "'''",
                         "\"\"\"",
                         "\\u0041",
                         "{}",
                         "%s",
                         "\xe2\x80\xa8",
                         "\xc2\x85",
                         " lead",
                         "attributes",
                         "end\\"};
  const auto quoted = [](const std::string& text) {
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + "\"";
  };
  std::string header;
  std::string rows;
  for (const std::string& name : hostile) {
    header += quoted(name) + ",";
    std::string row;
    for (size_t k = 0; k < hostile.size(); ++k) row += quoted(name) + ",";
    rows += row + quoted("line\n\r\nbreak " + name) + "\n";
  }
  rows += rows;
  const Spec spec = DraftedCsv(header + "last\n" + rows);
  Names expected = hostile;
  expected.emplace_back("last");
  EXPECT_EQ(NamesOf(spec), expected);
  Names sorted = hostile;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(ValuesOf(spec, "a b"), sorted);
}

TEST_F(DraftSpecTest, EveryByteOfTextSurvives) {
  Sql("", {"COPY (SELECT chr(k::INTEGER) || 'x' || chr(0) || chr(k::INTEGER) AS v FROM range(1, 40)"
           " t(k), range(2)) TO 't.parquet'",
           "COPY (SELECT '\\xAA\\x00\\xFF'::BLOB AS v UNION ALL SELECT 'b'::BLOB) TO "
           "'blob.parquet'"});
  const Spec spec = Drafted("t.parquet");
  EXPECT_EQ(ValuesOf(spec, "v").front(), std::string("\x01x\0\x01", 4));
  EXPECT_EQ(ValuesOf(spec, "v").size(), 39);
  EXPECT_EQ(ValuesOf(Drafted("blob.parquet"), "v").size(), 2);
}

TEST_F(DraftSpecTest, SaysWhichNamesCannotBeUsed) {
  const std::string draft = DraftOfCsv(",a,b,a,\n1,2,3,4,5\n2,3,4,5,6\n");
  EXPECT_NE(draft.find("# Column 1 is left out: it has no name; give it one in the data.\n"),
            std::string::npos)
      << draft;
  EXPECT_NE(draft.find("# Column 5 is left out"), std::string::npos);
  const std::string twice = "# a is left out: 2 columns have this name; rename all but one.\n";
  EXPECT_NE(draft.find(twice), std::string::npos);
  EXPECT_EQ(draft.find(twice), draft.rfind(twice)) << "said once";
  EXPECT_EQ(NamesOf(ParseSpec(draft, "t.toml")), (Names{"b"}));
}

TEST_F(DraftSpecTest, ReadsCsvAsMeasuringDoes) {
  const Spec spec = DraftedCsv(
      "\xef\xbb\xbfname;age;\"net; income\"\r\n\"a;\"\"b\"\"\";3;1,5\r\n\"two\nlines\";4;\r\n");
  EXPECT_EQ(NamesOf(spec), (Names{"name", "age", "net; income"}));
  EXPECT_EQ(ValuesOf(spec, "name"), (Names{"a;\"b\"", "two\nlines"}));
  Write("t.tsv", "a\tb\n1\tx y\n2\tz\n");
  EXPECT_EQ(ValuesOf(Drafted("t.tsv"), "b"), (Names{"x y", "z"}));
}

TEST_F(DraftSpecTest, ReadsTypedColumns) {
  Sql("",
      {"COPY (SELECT (k % 7)::UTINYINT AS small, k * 1000 AS large, (k % 9)::DOUBLE AS whole, "
       "(k % 9 + 0.5)::DECIMAL(9,2) AS money, k % 2 = 0 AS truth, DATE '2024-01-01' + (k % "
       "3)::INTEGER AS day, (k % 5)::HUGEINT * 10::HUGEINT ** 20 AS huge, [k] AS list, {'a': k} "
       "AS pair, (CASE k % 3 WHEN 0 THEN NULL ELSE 'a' || (k % 3) END) AS label, "
       "'10'::BIT AS bits, ['lo', 'hi'][k % 2 + 1]::ENUM('lo', 'hi') AS level, k AS id FROM "
       "range(60) t(k), range(1)) TO 't.parquet'"});
  const std::string draft = DraftSpec("t.parquet", "t.parquet");
  const Spec spec = Drafted("t.parquet");
  EXPECT_EQ(NamesOf(spec),
            (Names{"small", "whole", "money", "truth", "day", "huge", "label", "level"}))
      << draft;
  EXPECT_EQ(IntegersOf(spec, "small"), (IntegerEncoding{0, 6}));
  EXPECT_EQ(IntegersOf(spec, "whole"), (IntegerEncoding{0, 8}));
  EXPECT_GE(CutsOf(spec, "money").size(), 5);
  EXPECT_EQ(ValuesOf(spec, "truth"), (Names{"false", "true"}));
  EXPECT_EQ(std::get<DateEncoding>(EncodingOf(spec, "day").cells),
            (DateEncoding{*ParseDay("2024-01-01"), *ParseDay("2024-01-03"), DateStep::kDay}));
  EXPECT_EQ(ValuesOf(spec, "level"), (Names{"hi", "lo"}));
  EXPECT_TRUE(EncodingOf(spec, "label").null_cell);
  EXPECT_NE(draft.find("# list is left out: of type BIGINT[]"), std::string::npos) << draft;
  EXPECT_NE(draft.find("# pair is left out: of type STRUCT("), std::string::npos) << draft;
}

TEST_F(DraftSpecTest, ReadsJson) {
  std::string lines;
  for (int k = 0; k < 30000; ++k) {
    lines += fmt::format("{{\"age\": {}, \"sex\": {}, \"tags\": [1]{}}}\n", k % 90,
                         k % 3 ? "\"f\"" : "null", k < 29999 ? "" : ", \"late\": true");
  }
  Write("t.jsonl", lines);
  const Spec spec = Drafted("t.jsonl");
  EXPECT_EQ(NamesOf(spec), (Names{"age", "sex", "late"})) << "also what only the last row has";
  EXPECT_EQ(IntegersOf(spec, "age"), (IntegerEncoding{0, 89}));
  EXPECT_TRUE(EncodingOf(spec, "sex").null_cell);
  Write("t.json", R"([{"a": 1, "b": "x"}, {"a": 2.5, "b": "y"}])");
  EXPECT_EQ(NamesOf(Drafted("t.json")), (Names{"a", "b"}));
}

TEST_F(DraftSpecTest, SaysWhenPairsAreTooManyCells) {
  const auto row = [](int k) {
    std::string fields = std::to_string(k % 999);
    for (int column = 1; column < 6; ++column) fields += fmt::format(",{}", k * column % 999);
    return fields;
  };
  const std::string draft = DraftOfCsv(Csv("a,b,c,d,e,f", 1998, row));
  EXPECT_NE(draft.find("# As drafted these are 1"), std::string::npos) << draft;
  EXPECT_EQ(DraftOfCsv("a,b\n1,2\n2,1\n").find("As drafted"), std::string::npos);
}

TEST_F(DraftSpecTest, RefusesWhatHasNothingToDraftFrom) {
  Write("empty.csv", "");
  EXPECT_EQ(MessageOf("empty.csv"),
            "empty.csv: the file is empty; its first line must name the columns");
  Write("header.csv", "a,b\n");
  const std::string no_rows =
      ": there are no rows to look at; name a file that has some, or write the spec by hand";
  EXPECT_EQ(MessageOf("header.csv"), "header.csv" + no_rows);
  Sql("", {"COPY (SELECT 1 AS a WHERE false) TO 'empty.parquet'"});
  EXPECT_EQ(MessageOf("empty.parquet"), "empty.parquet" + no_rows);
  Write("a.xlsx", "x");
  EXPECT_EQ(MessageOf("a.xlsx"),
            "a.xlsx: files of this kind cannot be read; use .csv, .tsv, .parquet, .json, .jsonl or "
            ".ndjson");
  EXPECT_EQ(MessageOf("none.csv"), "none.csv: no such file; check the path");
  EXPECT_EQ(MessageOf("."), ".: a directory; name one file in it");
  Write("same.csv", "a,a\n1,2\n");
  EXPECT_EQ(MessageOf("same.csv"),
            "same.csv: no column can be read; each needs a name of its own and plain values");
  Write("ragged.csv", "a,b\n1,2\n3\n");
  EXPECT_NE(MessageOf("ragged.csv"), "");
}

TEST_F(DraftSpecTest, ADraftWithoutAttributesSaysSo) {
  const std::string draft = DraftOfCsv("a\nx\nx\n");
  EXPECT_NE(draft.find("# No column can be drafted; describe at least one"), std::string::npos);
}

// Whatever the columns hold, the draft is a spec that the data fits.
TEST_F(DraftSpecTest, RandomFilesFitTheirDraft) {
  std::mt19937 random(7);
  const Names pool = {"",        "0",    "1",     "-3",     "2.5", "1e300",
                      "-1e-300", "nan",  "inf",   "x",      "y y", "007",
                      " 4 ",     "1e5",  "12345", "\"q,\"", "+8",  "9007199254740993",
                      "1e400",   "0x10", "true",  "NULL",   "1,5", "-0"};
  int num_attributes = 0;
  for (int file = 0; file < 40; ++file) {
    const size_t num_columns = 1 + random() % 5;
    std::vector<Names> choices(num_columns);
    std::string text;
    for (size_t c = 0; c < num_columns; ++c) {
      text += fmt::format("{}c{}", c ? "," : "", c);
      const size_t num_choices = 1 + random() % 6;
      for (size_t k = 0; k < num_choices; ++k) choices[c].push_back(pool[random() % pool.size()]);
    }
    text += ",last\n";
    const size_t num_rows = 1 + random() % 80;
    for (size_t row = 0; row < num_rows; ++row) {
      for (const Names& choice : choices) {
        std::string value = choice[random() % choice.size()];
        if (value.find(',') != std::string::npos && value[0] != '"') value = "\"" + value + "\"";
        text += value + ",";
      }
      text += row % 2 ? "a\n" : "b\n";
    }
    if (num_rows < 2) continue;
    num_attributes += DraftedCsv(text).domain.size();
    if (HasFailure()) FAIL() << text << DraftSpec("t.csv", "t.csv");
  }
  EXPECT_GT(num_attributes, 80);
}

TEST_F(DraftSpecTest, NumbersOfWhichNoneIsFinite) {
  Sql("", {"COPY (SELECT i % 2 AS a, 'inf'::DOUBLE AS x, 'nan'::DOUBLE AS y, "
           "CASE i % 3 WHEN 0 THEN '-inf'::FLOAT WHEN 1 THEN 'nan'::FLOAT END AS z "
           "FROM range(20) r(i)) TO 't.parquet'"});
  EXPECT_EQ(NamesOf(Drafted("t.parquet")), Names{"a"});
  const std::string draft = DraftSpec("t.parquet", "t.parquet");
  for (const std::string_view comment :
       {"# x is left out: it has infinities and no finite number.", "# y is left out: every value",
        "# z is left out: it has infinities and no finite number."}) {
    EXPECT_NE(draft.find(comment), std::string::npos) << draft;
  }
}

}  // namespace
}  // namespace residua
