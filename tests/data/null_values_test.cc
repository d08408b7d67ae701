#include "residua/data/null_values.h"

#include <gtest/gtest.h>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class NullValuesTest : public SourceTest {};

TEST_F(NullValuesTest, NullValuesAreMissingInEveryColumn) {
  Write("t.csv", "a,b,c,d\nNA,NA,2013-01-05,1\n3,x,-,NA\n-,-,NA,2\n");
  DataSource source{"t.csv", "", ""};
  source.null_values = {"NA", "-"};
  const Domain domain({Integers("a", 0, 9, kError, true), Values("b", {"x", "y"}, kError, true),
                       Dates("c", "2013-01-01", "2013-12-31", DateStep::kMonth, kError, true),
                       Cuts("d", {1}, kError, true)});
  const ReadResult read = ReadEncodedTable(source, domain);
  EXPECT_EQ(CodesOf(read.table, 0), (Codes{10, 3, 10}));
  EXPECT_EQ(CodesOf(read.table, 1), (Codes{2, 0, 2}));
  EXPECT_EQ(CodesOf(read.table, 2), (Codes{0, 12, 12}));
  EXPECT_EQ(CodesOf(read.table, 3), (Codes{0, 2, 1}));
  EXPECT_EQ(read.report.attributes[0].num_missing, 2);
  Sql("", {"COPY (SELECT * FROM (VALUES (-9, -9.0::DOUBLE, -9.00::DECIMAL(9,2)), (1, 1.0, 1.00)) "
           "t(i, f, m)) TO 't.parquet'"});
  source = {"t.parquet", "", ""};
  source.null_values = {"-9"};
  for (const std::string name : {"i", "f", "m"}) {
    EXPECT_EQ(ReadOne(source, Integers(name, 0, 9, kError, true)), (Codes{10, 1})) << name;
    EXPECT_EQ(ReadOne(source, Cuts(name, {0}, kError, true)), (Codes{2, 1})) << name;
    EXPECT_EQ(ReadOne(source, Values(name, {"1", "2"}, kError, true)), (Codes{2, 0})) << name;
  }
  // Files of text write a column of floating-point numbers so.
  Write("f.csv", "n\n-9.0\n-9\n1\n");
  DataSource floats{"f.csv", "", ""};
  floats.null_values = {"-9"};
  EXPECT_EQ(ReadOne(floats, Integers("n", 0, 9, kError, true)), (Codes{10, 10, 1}));
  EXPECT_EQ(ReadOne(floats, Values("n", {"1", "2"}, kError, true)), (Codes{2, 2, 0}));
  source.null_values = {"x", "1"};
  EXPECT_EQ(MessageOf(source, Values("i", {"2", "1"})),
            "data: null_values and attributes.i.values both list '1', which would never be counted "
            "as a value; keep one");
}

// Rows that nobody owns may belong to anyone.
TEST_F(NullValuesTest, NullValuesAreNoIdentifiers) {
  Write("t.csv", "who,a\nNA,1\nann,2\nNA,3\n");
  DataSource source{"t.csv", "", ""};
  source.null_values = {"NA"};
  Protection protection;
  protection.identifier = "who";
  const ReadReport report = SurveyTable(source, Domain({Integers("a", 0, 9)}), protection);
  EXPECT_EQ(report.num_rows_without_identifier, 2);
  EXPECT_EQ(report.num_rows_over, 0);
  Sql("", {"COPY (SELECT * FROM (VALUES ('nan'::DOUBLE, 1), (-9.0, 2), (7.0, 3), ('nan', 4)) "
           "t(who, a)) TO 't.parquet'"});
  source = {"t.parquet", "", ""};
  source.null_values = {"-9"};
  const ReadReport of_numbers = SurveyTable(source, Domain({Integers("a", 0, 9)}), protection);
  EXPECT_EQ(of_numbers.num_rows_without_identifier, 3);
  EXPECT_EQ(of_numbers.num_rows_over, 0);
}

}  // namespace
}  // namespace residua
