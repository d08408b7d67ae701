#include "residua/data/mass_drop.h"

#include "residua/base/counted.h"
#include "residua/base/shown_text.h"

namespace residua {

std::optional<Error> FindMassDrop(const ReadReport& report, const Domain& domain,
                                  const DataSource& source) {
  const std::string& file = source.source.empty() ? source.database : source.source;
  for (int i = 0; i < domain.size(); ++i) {
    const int64_t num_dropped = report.attributes[static_cast<size_t>(i)].num_dropped;
    if (10 * num_dropped <= 9 * report.num_rows_read) continue;
    return ErrorOf(ErrorKind::kRefused,
                   "{}: column '{}' leaves out {} of {}, whose values have no cell; write the "
                   "values of {} as the data does, or add {} if this is meant",
                   source.is_given() ? "the data" : ShownText(file), ShownText(ColumnOf(domain[i])),
                   num_dropped, Counted(report.num_rows_read, "row"), SpecKey(domain[i]),
                   Phrase{Phrase::Kind::kOption, {"allow-drops"}});
  }
  return std::nullopt;
}

}  // namespace residua
