#include "residua/basis/cell_tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "residua/base/error.h"

namespace residua {
namespace {

// Up to this many cells a dense basis takes less than a tenth of a second.
constexpr int64_t kFewestTreeCells = 128;
// Beyond, the problem on the blocks takes seconds.
constexpr int64_t kMostBlocks = 400;

// Adds a node on the children, which are complete.
int64_t AddNode(const std::vector<int64_t>& children, CellTree* tree) {
  const int64_t node = tree->num_nodes();
  for (const int64_t child : children) tree->parent[static_cast<size_t>(child)] = node;
  tree->children.insert(tree->children.end(), children.begin(), children.end());
  tree->begin.push_back(static_cast<int64_t>(tree->children.size()));
  tree->parent.push_back(-1);
  return tree->num_cells + node;
}

CellTree TreeOfCells(const Attribute& attribute, CellTree::Kind kind) {
  CellTree tree;
  tree.kind = kind;
  tree.num_cells = attribute.size;
  tree.parent.assign(static_cast<size_t>(attribute.size), -1);
  return tree;
}

// Blocks numbered by their first cells: each group splits those that it cuts.
std::vector<int64_t> BlockOfCells(const Attribute& attribute, int64_t* num_blocks) {
  std::vector<int64_t> block(static_cast<size_t>(attribute.size), 0);
  int64_t next = 1;
  std::unordered_map<int64_t, int64_t> moved;
  const auto renumber = [&](int64_t* number) {
    const auto [place, is_new] = moved.try_emplace(*number, next);
    if (is_new) ++next;
    *number = place->second;
  };
  for (const CellGroup& group : attribute.groups) {
    moved.clear();
    for (const int64_t cell : group.cells) renumber(&block[static_cast<size_t>(cell)]);
  }
  moved.clear();
  next = 0;
  for (int64_t& number : block) renumber(&number);
  *num_blocks = next;
  return block;
}

}  // namespace

std::optional<CellTree> TreeFor(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kHierarchy || attribute.size <= kFewestTreeCells) return {};
  int64_t num_blocks = 0;
  BlockOfCells(attribute, &num_blocks);
  // One block, or blocks of one cell, are no structure.
  if (num_blocks > 1 && num_blocks <= kMostBlocks && num_blocks < attribute.size) {
    return BlockTree(attribute);
  }
  return GroupTree(attribute);
}

CellTree BlockTree(const Attribute& attribute) {
  int64_t num_blocks = 0;
  const std::vector<int64_t> block = BlockOfCells(attribute, &num_blocks);
  std::vector<std::vector<int64_t>> cells(static_cast<size_t>(num_blocks));
  for (size_t cell = 0; cell < block.size(); ++cell) {
    cells[static_cast<size_t>(block[cell])].push_back(static_cast<int64_t>(cell));
  }
  CellTree tree = TreeOfCells(attribute, CellTree::Kind::kBlocks);
  std::vector<int64_t> top;
  for (const auto& members : cells) {
    top.push_back(members.size() == 1 ? members.front() : AddNode(members, &tree));
  }
  if (top.size() > 1) AddNode(top, &tree);
  return tree;
}

std::optional<CellTree> GroupTree(const Attribute& attribute) {
  CellTree tree = TreeOfCells(attribute, CellTree::Kind::kGroups);
  std::vector<size_t> order(attribute.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return attribute.groups[a].cells.size() < attribute.groups[b].cells.size();
  });
  // Of each cell, the highest vertex so far; of each vertex, its cells.
  std::vector<int64_t> top(static_cast<size_t>(attribute.size));
  std::iota(top.begin(), top.end(), int64_t{0});
  std::vector<int64_t> num_below(top.size(), 1);
  std::vector<int64_t> seen(top.size(), -1);  // by which group
  std::vector<int64_t> below;
  int64_t stamp = 0;
  const auto join = [&](const std::vector<int64_t>& cells) {
    below.clear();
    int64_t covered = 0;
    for (const int64_t cell : cells) {
      const int64_t vertex = top[static_cast<size_t>(cell)];
      if (seen[static_cast<size_t>(vertex)] == stamp) continue;
      seen[static_cast<size_t>(vertex)] = stamp;
      below.push_back(vertex);
      covered += num_below[static_cast<size_t>(vertex)];
    }
    ++stamp;
    if (covered != static_cast<int64_t>(cells.size())) return false;
    if (below.size() == 1) return true;
    const int64_t vertex = AddNode(below, &tree);
    num_below.push_back(covered);
    seen.push_back(-1);
    for (const int64_t cell : cells) top[static_cast<size_t>(cell)] = vertex;
    return true;
  };
  for (const size_t g : order) {
    if (!join(attribute.groups[g].cells)) return std::nullopt;
  }
  std::vector<int64_t> all(top.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  join(all);
  return tree;
}

std::vector<int64_t> VerticesOfGroups(const Attribute& attribute, const CellTree& tree) {
  RESIDUA_CHECK(tree.kind == CellTree::Kind::kGroups && tree.num_cells == attribute.size);
  std::vector<int64_t> num_below(static_cast<size_t>(tree.num_cells + tree.num_nodes()), 0);
  std::fill_n(num_below.begin(), tree.num_cells, 1);
  for (size_t vertex = 0; vertex < num_below.size(); ++vertex) {
    if (tree.parent[vertex] < 0) continue;
    num_below[static_cast<size_t>(tree.num_cells + tree.parent[vertex])] += num_below[vertex];
  }
  std::vector<int64_t> vertices;
  vertices.reserve(attribute.groups.size());
  for (const CellGroup& group : attribute.groups) {
    int64_t vertex = group.cells.front();
    while (num_below[static_cast<size_t>(vertex)] < static_cast<int64_t>(group.cells.size())) {
      vertex = tree.num_cells + tree.parent[static_cast<size_t>(vertex)];
    }
    vertices.push_back(vertex);
  }
  return vertices;
}

}  // namespace residua
