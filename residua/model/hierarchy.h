#pragma once

#include <map>
#include <string>
#include <vector>

#include "residua/model/attribute.h"

namespace residua {

// Makes the groups of an attribute's hierarchy while somebody reads it, from the values up. A
// message follows the name of what was read: "lists 'N1' twice, in 'north' and 'south'".
class HierarchyBuilder {
 public:
  // A value, of height 0, or a group: the cells below it, increasing.
  struct Node {
    int height = 0;
    std::vector<int64_t> cells;
  };

  // Groups within groups, at most. Real ones have fewer than ten; a reader that goes deeper may be
  // in a group that holds itself.
  static constexpr int kMaxLevels = 64;

  explicit HierarchyBuilder(const Attribute& attribute);

  // Error{kBadInput} for a group inside kMaxLevels others, before what it holds is read.
  static void CheckLevel(int num_outside);

  // A value that `group` lists. Error{kBadInput} unless the attribute has it and no group listed it
  // before.
  Node AddValue(const std::string& value, const std::string& group);
  // A group of values and groups that were added before it. Error{kBadInput} if there are none.
  Node AddGroup(const std::string& name, const std::vector<Node>& parts);
  // All groups, level by level, the lowest first. Error{kBadInput} unless every value is in a group
  // and every name is used once; "null" is that of missing values.
  std::vector<CellGroup> Groups() const;

 private:
  struct NamedNode {
    std::string name;
    Node node;
  };
  bool has_null_;
  std::map<std::string, int64_t> cell_of_;
  std::map<int64_t, std::string> group_of_;
  std::vector<NamedNode> groups_;
};

}  // namespace residua
