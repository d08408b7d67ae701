#include "residua/data/value_outcomes.h"

#include <gtest/gtest.h>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class ValueOutcomesTest : public SourceTest {};

TEST_F(ValueOutcomesTest, OutsideIntegersFollowThePolicy) {
  Write("people.csv", "age\n5\n130\n-1\n\nx\n");
  const DataSource source{"people.csv", "", ""};
  EXPECT_EQ(
      MessageOf(source, Integers("age", 0, 99)),
      "people.csv: column 'age' has the value 130 (row 2), outside 0..99; set outside = "
      "\"clamp\", \"drop\" or \"null\" (with null = true) for attributes.age, or widen integers");
  EXPECT_EQ(
      MessageOf(source, Integers("age", -1, 130)),
      "people.csv: column 'age' has no value in row 4; set null = true or outside = \"drop\" for "
      "attributes.age");
  EXPECT_EQ(MessageOf(source, Integers("age", 0, 99, kClamp)),
            "people.csv: column 'age' has no value in row 4; set null = true or outside = \"drop\" "
            "for attributes.age");
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kDrop)), (Codes{5}));
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kDrop, true)), (Codes{5, 100}));
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kNull, true)), (Codes{5, 100, 100, 100, 100}));

  Write("ends.csv", "age\n130\n-1\n99999999999999999999\n-1e300\n7\n");
  const ReadResult clamped =
      ReadEncodedTable({"ends.csv", "", ""}, Domain({Integers("age", 5, 9, kClamp)}));
  EXPECT_EQ(CodesOf(clamped.table, 0), (Codes{4, 0, 4, 0, 2}));
  EXPECT_EQ(clamped.report.attributes[0].num_clamped, 4);
}

// A policy that promises never to stop does not stop, whatever a row contains: in text, and in each
// type.
TEST_F(ValueOutcomesTest, TotalPoliciesNeverStop) {
  const std::vector<std::string> odd = {"x",
                                        "nan",
                                        "-nan",
                                        "inf",
                                        "-inf",
                                        "1.5",
                                        "-0.5",
                                        "9.5",
                                        "1e999",
                                        "-1e999",
                                        "true",
                                        "0x10",
                                        "\"1,5\"",
                                        "12 3",
                                        "\"\"",
                                        "\"two\nlines\"",
                                        "2024-02-29",
                                        "99999999999999999999",
                                        "-99999999999999999999.5",
                                        "\xc3\xbc",
                                        "1e-999",
                                        "+7",
                                        " 8 "};
  std::string csv = "v\n3\n\n";
  for (const std::string& value : odd) csv += value + "\n";
  Write("odd.csv", csv);
  Sql("odd.duckdb",
      {"CREATE TABLE doubles AS SELECT * FROM (VALUES (3.0::DOUBLE), (1.5), ('nan'), ('inf'), "
       "('-inf'), (-0.5), (1e300), (NULL)) t(v)",
       "CREATE TABLE wide AS SELECT * FROM (VALUES (3::HUGEINT), "
       "(-170141183460469231731687303715884105727), (NULL)) t(v)",
       "CREATE TABLE longer AS SELECT ('1' || repeat('0', 400))::BIGNUM AS v",
       "CREATE TABLE decimals AS SELECT * FROM (VALUES (3.00::DECIMAL(20,2)), (1.50), (-0.01), "
       "(123456789012345678.99), (NULL)) t(v)",
       "CREATE TABLE flags AS SELECT * FROM (VALUES (true), (false), (NULL)) t(v)",
       "CREATE TABLE nothing AS SELECT NULL AS v"});
  std::vector<DataSource> sources = {{"odd.csv", "", ""}};
  for (const std::string table : {"doubles", "wide", "longer", "decimals", "flags", "nothing"}) {
    sources.push_back({"", "odd.duckdb", "SELECT v FROM " + table});
  }
  const std::vector<Attribute> total = {
      Integers("v", 0, 9, kDrop),
      Integers("v", 0, 9, kDrop, true),
      Integers("v", 0, 9, kNull, true),
      Integers("v", 0, 9, kClamp, true),
      Cuts("v", {1, 5}, kDrop),
      Cuts("v", {1, 5}, kDrop, true),
      Cuts("v", {1, 5}, kNull, true),
      Values("v", {"3", "x"}, kDrop),
      Values("v", {"3"}, kDrop, true),
      Values("v", {"3"}, kNull, true),
      Made("v", 3, {ValueEncoding{{"3"}}, true, kOther}),
      Bare("v", 10, kDrop),
      Bare("v", 10, kNull, true),
  };
  for (const Attribute& attribute : total) {
    EXPECT_FALSE(StoppingValuesOf(attribute.encoding).any());
    for (const DataSource& source : sources) {
      EXPECT_EQ(MessageOf(source, attribute), "") << source.source << source.query;
      const ReadReport report = SurveyTable(source, Domain({attribute}), {});
      EXPECT_FALSE(report.attributes[0].first_error);
      if (attribute.encoding.outside != kDrop) {
        EXPECT_EQ(report.num_rows_dropped, 0);
      }
    }
  }
}

TEST_F(ValueOutcomesTest, ClampingCountsWhatIsNotANumberAsMissing) {
  Write("t.csv", "v\n3\n3.9\n-0.5\n9.5\n12\nx\nnan\n\n-inf\n");
  const ReadResult result =
      ReadEncodedTable({"t.csv", "", ""}, Domain({Integers("v", 0, 9, kClamp, true)}));
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{3, 3, 0, 9, 9, 10, 10, 10, 0}));
  EXPECT_EQ(result.report.attributes[0].num_clamped, 5);
  EXPECT_EQ(result.report.attributes[0].num_nulled, 1);
  EXPECT_EQ(result.report.attributes[0].num_missing, 2) << "NaN is missing";
}

// What StoppingValuesOf says is what reading does.
TEST_F(ValueOutcomesTest, KnowsWhichValuesStopIt) {
  Write("outside.csv", "v\n77\n");
  Write("between.csv", "v\n1.5\n");
  Write("text.csv", "v\nx\n");
  Write("missing.csv", "v\n\n");
  for (const OutsidePolicy policy : {kError, kClamp, kDrop, kNull}) {
    for (const bool null_cell : {false, true}) {
      if (policy == kNull && !null_cell) continue;
      std::vector<Attribute> attributes = {Integers("v", 0, 9, policy, null_cell)};
      if (policy != kClamp) {
        attributes.push_back(Cuts("v", {1, 5}, policy, null_cell));
        attributes.push_back(Values("v", {"a", "b"}, policy, null_cell));
      }
      for (const Attribute& attribute : attributes) {
        const StoppingValues stopping = StoppingValuesOf(attribute.encoding);
        const bool is_listed = std::holds_alternative<ValueEncoding>(attribute.encoding.cells);
        const auto stops = [&](const std::string& file) {
          return !MessageOf({file, "", ""}, attribute).empty();
        };
        EXPECT_EQ(stops("outside.csv"), stopping.outside);
        EXPECT_EQ(stops("between.csv"), stopping.outside);
        EXPECT_EQ(stops("text.csv"), is_listed ? stopping.outside : stopping.unreadable);
        EXPECT_EQ(stops("missing.csv"), stopping.missing);
      }
    }
  }
}

TEST_F(ValueOutcomesTest, ReportsWhatItDid) {
  Write("t.csv", "a,b\n1,x\n9,x\n9,y\n2,y\n,z\n");
  const Domain domain({Integers("a", 0, 3, kDrop), Values("b", {"x"}, kNull, true)});
  const ReadResult result = ReadEncodedTable({"t.csv", "", ""}, domain);
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{1, 2}));
  EXPECT_EQ(CodesOf(result.table, 1), (Codes{0, 1}));
  EXPECT_EQ(result.report.num_rows_read, 5);
  EXPECT_EQ(result.report.num_rows_dropped, 3);
  EXPECT_EQ(result.report.attributes[0].num_dropped, 3);
  EXPECT_EQ(result.report.attributes[1].num_nulled, 3);
}

TEST_F(ValueOutcomesTest, NamesValuesItDoesNotKnow) {
  Write("t.csv", "a\nx\n\"two\nlines\"\n");
  const DataSource source{"t.csv", "", ""};
  EXPECT_EQ(
      MessageOf(source, Values("a", {"x", "y"})),
      "t.csv: column 'a' has the value 'two\\x0alines' (row 2), not among its values; set outside "
      "= \"other\", \"drop\" or \"null\" (with null = true) for attributes.a, or add it to values");
  EXPECT_EQ(MessageOf(source, Cuts("a", {1})),
            "t.csv: column 'a' has the value 'x' (row 1), not a number; set outside = \"drop\" or "
            "\"null\" (with null = true) for attributes.a, or give it values instead of cuts");
  EXPECT_EQ(
      MessageOf(source, Bare("a", 2)),
      "t.csv: column 'a' has the value 'x' (row 1), not an integer; set outside = \"drop\" or "
      "\"null\" (with null = true) for attributes.a, or give it cuts or values instead of "
      "integers");
}

TEST_F(ValueOutcomesTest, OtherValuesHaveACell) {
  Write("t.csv", "v\nDL\nXX\nother\nAA\n\n");
  const Attribute attribute = Made("v", 4, {ValueEncoding{{"AA", "DL"}}, true, kOther});
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, attribute), (Codes{1, 2, 2, 0, 3}));
  const ReadReport report = SurveyTable({"t.csv", "", ""}, Domain({attribute}), {});
  EXPECT_EQ(report.attributes[0].num_outside, 1);
  EXPECT_EQ(report.num_rows_dropped, 0);
}

}  // namespace
}  // namespace residua
