#pragma once

#include <string>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// What the columns and files of tables are called. It follows from the names of the attributes
// alone, so that a table has the same name whichever others are made with it.
struct TableNames {
  // The column of each attribute. An attribute whose name is one of kNumberColumns or kTableColumn
  // (and, if the mean of some attribute is asked, of kMeanNumberColumns or kMeanNoteColumn), or that of an attribute before it, gets as many "_" at its end as make it different from all
  // columns and all other attributes. Capital and small letters count as the same.
  std::vector<std::string> columns;

  // The column beside it that has the levels of the attribute's answers: its name and "_level", made
  // different from all other columns in the same way. Empty unless the attribute is a hierarchy.
  std::vector<std::string> level_columns;
  // Likewise those with the bounds of its answers, "_lower" and "_upper". Empty unless HasBounds.
  std::vector<std::string> lower_columns;
  std::vector<std::string> upper_columns;

  // What each attribute contributes to the name of a table. Characters that file systems or shells
  // mind become %XX. Two attributes that differ in capitals alone, or one called "total", get "~2",
  // "~3"; and in a name such as a_x_b, beside an attribute a, "_x" becomes "%5Fx": it could be the
  // table of a and b. No two tables have the same name then, even where capitals do not count.
  std::vector<std::string> parts;

  // "age_x_sex", "total" for no attributes; a long name is cut and gets "~" and a digest.
  std::string TableName(const AttributeSet& table) const;
};

TableNames NamesOf(const Domain& domain);

// Whether the attribute's answers are prefix sums or ranges of numbers or dates.
bool HasBounds(const Attribute& attribute);

// The columns beside the attributes.
inline constexpr const char* kTableColumn = "table";
inline constexpr const char* kNumberColumns[] = {"estimate", "std_dev", "ci_lower", "ci_upper",
                                                 "adjusted"};
// Beside these, in tables with an attribute whose mean is asked.
inline constexpr const char* kMeanNumberColumns[] = {
    "sum",  "sum_std_dev",  "sum_ci_lower",  "sum_ci_upper",
    "mean", "mean_std_dev", "mean_ci_lower", "mean_ci_upper"};
inline constexpr const char* kMeanNoteColumn = "mean_note";

}  // namespace residua
