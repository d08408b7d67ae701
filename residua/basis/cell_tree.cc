#include "residua/basis/cell_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

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

namespace {

// What a node makes way for: its children that are nodes, and its own cells, those together that
// have as many groups of one cell each. Such cells can be exchanged, and their groups with them.
struct Parts {
  std::vector<int64_t> nodes;
  std::vector<std::vector<int64_t>> cells;
  int64_t size() const { return static_cast<int64_t>(nodes.size() + cells.size()); }
};
Parts PartsOf(const CellTree& groups, const std::vector<int64_t>& num_own, int64_t vertex) {
  Parts parts;
  std::map<int64_t, std::vector<int64_t>> cells;
  const int64_t node = vertex - groups.num_cells;
  for (int64_t c = 0; c < groups.num_children(node); ++c) {
    const int64_t child = groups.children_of(node)[c];
    if (groups.is_cell(child)) {
      cells[num_own[static_cast<size_t>(child)]].push_back(child);
    } else {
      parts.nodes.push_back(child);
    }
  }
  for (auto& [number, alike] : cells) parts.cells.push_back(std::move(alike));
  return parts;
}

// Of each cell: the groups of that cell alone.
std::vector<int64_t> NumOwnGroups(const Attribute& attribute) {
  std::vector<int64_t> num_own(static_cast<size_t>(attribute.size), 0);
  for (const CellGroup& group : attribute.groups) {
    if (group.cells.size() == 1) ++num_own[static_cast<size_t>(group.cells.front())];
  }
  return num_own;
}

}  // namespace

std::optional<CellTree> CutTree(const Attribute& attribute, int64_t most_children) {
  const std::optional<CellTree> groups = GroupTree(attribute);
  if (!groups || groups->num_nodes() < 2) return {};
  const int64_t n = groups->num_cells;
  const std::vector<int64_t> num_own = NumOwnGroups(attribute);
  std::vector<int64_t> blocks(groups->parent.size(), 0);  // below each node: parts that stay whole
  for (int64_t vertex = n; vertex < static_cast<int64_t>(blocks.size()); ++vertex) {
    const Parts parts = PartsOf(*groups, num_own, vertex);
    int64_t& sum = blocks[static_cast<size_t>(vertex)];
    sum = static_cast<int64_t>(parts.cells.size());
    for (const int64_t child : parts.nodes) sum += blocks[static_cast<size_t>(child)];
  }
  // The most blocks first, then the last vertex.
  std::priority_queue<std::pair<int64_t, int64_t>> waiting;
  std::vector<int64_t> kept;                 // vertices of the cut
  std::vector<std::vector<int64_t>> lumped;  // cells of a block beside them
  int64_t size = 1;
  const auto consider = [&](int64_t vertex) {
    if (blocks[static_cast<size_t>(vertex)] > 1) {
      waiting.emplace(blocks[static_cast<size_t>(vertex)], vertex);
    } else {
      kept.push_back(vertex);
    }
  };
  int num_gone = 0;
  consider(n + groups->num_nodes() - 1);
  while (!waiting.empty()) {
    const int64_t vertex = waiting.top().second;
    waiting.pop();
    const Parts parts = PartsOf(*groups, num_own, vertex);
    if (size + parts.size() - 1 > most_children) {
      kept.push_back(vertex);
      continue;
    }
    size += parts.size() - 1;
    ++num_gone;
    for (const int64_t child : parts.nodes) consider(child);
    for (const std::vector<int64_t>& cells : parts.cells) {
      if (cells.size() == 1) {
        kept.push_back(cells.front());
      } else {
        lumped.push_back(cells);
      }
    }
  }
  if (num_gone == 0) return {};
  // The nodes below the cut in their order, then the blocks beside it, and the root.
  CellTree tree = TreeOfCells(attribute, CellTree::Kind::kCut);
  std::vector<int64_t> moved(groups->parent.size(), -1);
  std::iota(moved.begin(), moved.begin() + n, int64_t{0});
  for (const int64_t vertex : kept) {
    if (vertex >= n) moved[static_cast<size_t>(vertex)] = 0;  // kept, as is all below it
  }
  for (int64_t vertex = n + groups->num_nodes() - 2; vertex >= n; --vertex) {
    const int64_t parent = n + groups->parent[static_cast<size_t>(vertex)];
    if (moved[static_cast<size_t>(parent)] == 0) moved[static_cast<size_t>(vertex)] = 0;
  }
  std::vector<int64_t> children;
  for (int64_t node = 0; node < groups->num_nodes(); ++node) {
    int64_t& place = moved[static_cast<size_t>(n + node)];
    if (place < 0) continue;
    children.clear();
    for (int64_t c = 0; c < groups->num_children(node); ++c) {
      children.push_back(moved[static_cast<size_t>(groups->children_of(node)[c])]);
    }
    place = AddNode(children, &tree);
  }
  std::vector<std::pair<int64_t, int64_t>> top;  // by their first cells
  const auto first_cell = [&](int64_t vertex) {
    while (!groups->is_cell(vertex)) vertex = groups->children_of(vertex - n)[0];
    return vertex;
  };
  for (const int64_t vertex : kept) {
    top.emplace_back(first_cell(vertex), moved[static_cast<size_t>(vertex)]);
  }
  std::sort(lumped.begin(), lumped.end());
  for (const std::vector<int64_t>& cells : lumped) {
    top.emplace_back(cells.front(), AddNode(cells, &tree));
  }
  std::sort(top.begin(), top.end());
  children.clear();
  for (const auto& [first, vertex] : top) children.push_back(vertex);
  AddNode(children, &tree);
  return tree;
}

std::optional<CellTree> TreeOfKind(const Attribute& attribute, CellTree::Kind kind,
                                   int64_t most_children) {
  switch (kind) {
    case CellTree::Kind::kBlocks:
      return BlockTree(attribute);
    case CellTree::Kind::kGroups:
      return GroupTree(attribute);
    case CellTree::Kind::kCut:
      return CutTree(attribute, most_children);
  }
  return {};
}

std::vector<int64_t> VerticesOfGroups(const Attribute& attribute, const CellTree& tree) {
  RESIDUA_CHECK(tree.num_cells == attribute.size);
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
    const auto size = static_cast<int64_t>(group.cells.size());
    while (num_below[static_cast<size_t>(vertex)] < size) {
      vertex = tree.num_cells + tree.parent[static_cast<size_t>(vertex)];
    }
    vertices.push_back(num_below[static_cast<size_t>(vertex)] == size ? vertex : -1);
  }
  return vertices;
}

}  // namespace residua
