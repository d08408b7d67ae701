#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// One table counted from the rows, over `attributes`, and the requested sets summed from it:
// `sets` are indices into the request, each with its attributes among `attributes`.
struct CountedTable {
  AttributeSet attributes;
  int64_t num_cells = 0;
  std::vector<int> sets;  // by decreasing number of attributes, then as requested
  // The attribute that rows are sorted by to count this table and others with it (SlicePlan), or -1.
  int slice = -1;
};

// Covers the requested sets with tables to count, so that every set is in `sets` of exactly one of
// them (a set requested twice, once). A table is a maximal requested set, widened by further
// attributes as long as one count of the wider table is cheaper than the counts it replaces: among
// attributes of few cells, one table of six attributes replaces twenty of three. Tables of three
// attributes, one of which has many values, are sliced instead where that is estimated to be faster:
// those with the same slice attribute follow each other. A set is summed from the smallest table
// that has it.
// Sets with an attribute whose mean is asked are summed from tables with this attribute, and other
// sets from tables without any: along such an attribute, cells do not add up to rows.
// No table is widened beyond `max_widened_cells`. Depends on its arguments alone, which are public:
// the rows may not be there yet, and how they are counted says nothing about them.
std::vector<CountedTable> PlanCounting(const Domain& domain, std::span<const AttributeSet> sets,
                                       int64_t max_widened_cells);

// How many additions to memory a row takes, wide ones included.
int64_t AdditionsPerRow(const Domain& domain, std::span<const CountedTable> plan);

}  // namespace residua
