#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/data/data_source.h"
#include "residua/data/push_down_check.h"

namespace residua {

// Push-down: rows that may not leave their database are counted by it. It is sent one query, which
// finds the cells of every row (cell_sql.h) and counts the rows of each combination of cells; what
// comes back is a number for each combination that a row has, and how many rows have it. These are
// true counts: they go into JointCounts as they come, and nowhere else.

// Counts the rows of `source`, whose `push_down` is set, for `sets`. The report is that of reading
// the rows; errors name no row and no value. Error{kBadInput} names a column with a value that the
// query cannot tell the cell of. The domain must outlive the result.
CountedResult CountWhereTheyAre(const DataSource& source, const Domain& domain,
                                const Protection& protection, std::vector<AttributeSet> sets,
                                const CountingOptions& options, const RowProgress& on_rows);
// What that would find, as SurveyTable does.
ReadReport SurveyWhereTheyAre(const DataSource& source, const Domain& domain,
                              const Protection& protection, const RowProgress& on_rows,
                              const std::stop_token& stop);

// Runs `read`; says of Error{kIo} that the rows broke off, or that they were stopped.
template <typename Read>
auto CheckNotBrokenOff(const std::stop_token& stop, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) throw;
    CheckNotStopped(stop);
    Fail(ErrorKind::kIo,
         "{}; its rows broke off: check the server and the connection, and run it "
         "again",
         error.what());
  }
}

}  // namespace residua
