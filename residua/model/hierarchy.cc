#include "residua/model/hierarchy.h"

#include <algorithm>
#include <set>

#include "residua/base/error.h"

namespace residua {

HierarchyBuilder::HierarchyBuilder(const Attribute& attribute)
    : has_null_(attribute.encoding.null_cell) {
  const int64_t num_values = NumValueCells(attribute);
  for (int64_t cell = 0; cell < num_values; ++cell) cell_of_[CellLabel(attribute, cell)] = cell;
}

void HierarchyBuilder::CheckLevel(int num_outside) {
  if (num_outside < kMaxLevels) return;
  Fail(ErrorKind::kBadInput,
       "is more than {} levels deep; use fewer levels, and let no group hold itself", kMaxLevels);
}

HierarchyBuilder::Node HierarchyBuilder::AddValue(const std::string& value,
                                                  const std::string& group) {
  const auto place = cell_of_.find(value);
  if (place == cell_of_.end()) {
    Fail(ErrorKind::kBadInput,
         "lists '{}', which is not a value of the attribute; list values only, and write a group "
         "inside the group that holds it",
         value);
  }
  const auto [other, added] = group_of_.emplace(place->second, group);
  if (!added && other->second == group) {
    Fail(ErrorKind::kBadInput, "lists '{}' twice; keep one", value);
  }
  if (!added) {
    Fail(ErrorKind::kBadInput, "lists '{}' twice, in '{}' and '{}'; keep one", value, other->second,
         group);
  }
  return {0, {place->second}};
}

HierarchyBuilder::Node HierarchyBuilder::AddGroup(const std::string& name,
                                                  const std::vector<Node>& parts) {
  if (parts.empty()) Fail(ErrorKind::kBadInput, "is empty; list values, or leave the group out");
  Node group{1, {}};
  for (const Node& part : parts) {
    group.height = std::max(group.height, part.height + 1);
    group.cells.insert(group.cells.end(), part.cells.begin(), part.cells.end());
  }
  std::sort(group.cells.begin(), group.cells.end());
  groups_.push_back({name, group});
  return group;
}

std::vector<CellGroup> HierarchyBuilder::Groups() const {
  for (const auto& [value, cell] : cell_of_) {
    if (!group_of_.contains(cell)) {
      Fail(ErrorKind::kBadInput, "lacks the value '{}'; put it in a group", value);
    }
  }
  std::vector<NamedNode> levels = groups_;
  std::stable_sort(levels.begin(), levels.end(), [](const NamedNode& a, const NamedNode& b) {
    return a.node.height < b.node.height;
  });
  std::set<std::string> names;
  std::vector<CellGroup> groups;
  for (NamedNode& level : levels) {
    if (has_null_ && level.name == "null") {
      Fail(ErrorKind::kBadInput, "has a group named '{}', as missing values are; rename it",
           level.name);
    }
    if (cell_of_.contains(level.name) || !names.insert(level.name).second) {
      Fail(ErrorKind::kBadInput, "has two groups or values named '{}'; rename one", level.name);
    }
    groups.push_back({std::move(level.name), std::move(level.node.cells)});
  }
  return groups;
}

}  // namespace residua
