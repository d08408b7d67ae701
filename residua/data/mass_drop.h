#pragma once

#include <optional>

#include "residua/base/error.h"
#include "residua/data/data_source.h"

namespace residua {

// Error{kRefused} if one attribute leaves out more than nine tenths of the rows of `source`: its
// values are probably written in another way than those of the data, and a release would spend the
// budget on next to nothing. For the curator's eyes: it contains true counts, and whoever sees a
// measurement refused for it learns that so many rows are left out.
std::optional<Error> FindMassDrop(const ReadReport& report, const Domain& domain,
                                  const DataSource& source);

}  // namespace residua
