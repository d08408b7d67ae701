#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "residua/model/attribute.h"

namespace residua {

// How a basis follows the groups of a hierarchy: a tree whose leaves are the cells. Vertex
// 0..num_cells-1 is a cell, vertex num_cells + k is node k. A node comes after its children, which
// are in the order of their first cells, and the root comes last. Every node has at least two
// children.
//
// kBlocks: cells that lie in the same groups are a block; the blocks are the root's children. No
// query tells the cells of a block apart but by itself, so that exchanging them changes nothing.
// kGroups: the groups themselves, of which any two are disjoint or one holds the other.
// kCut: the same, but that all groups above a cut are left to the root: its children are the
// vertices of the cut, and beside them cells of one node that can be exchanged, as one each.
struct CellTree {
  enum class Kind { kBlocks, kGroups, kCut };

  Kind kind = Kind::kBlocks;
  int64_t num_cells = 0;
  std::vector<int64_t> begin = {0};  // of each node's children, and the end of the last one's
  std::vector<int64_t> children;     // vertices
  std::vector<int64_t> parent;       // of each vertex, a node; -1 for the root

  int64_t num_nodes() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t num_children(int64_t node) const {
    return begin[static_cast<size_t>(node) + 1] - begin[static_cast<size_t>(node)];
  }
  const int64_t* children_of(int64_t node) const {
    return children.data() + begin[static_cast<size_t>(node)];
  }
  bool is_cell(int64_t vertex) const { return vertex < num_cells; }
  bool operator==(const CellTree&) const = default;
};

CellTree BlockTree(const Attribute& attribute);
// Nothing if two groups overlap without one holding the other.
std::optional<CellTree> GroupTree(const Attribute& attribute);

// From the root of the tree of groups down, the vertex that would make way for most in the end makes
// way for its children, as long as that leaves the root at most `most_children` of them. Nothing if
// the groups overlap, or if nothing makes way.
std::optional<CellTree> CutTree(const Attribute& attribute, int64_t most_children);

// The tree of that kind; of kCut, with that many children of the root at most. Nothing if the groups
// do not make one.
std::optional<CellTree> TreeOfKind(const Attribute& attribute, CellTree::Kind kind,
                                   int64_t most_children);

// The vertex of each group in the tree: groups with the same cells share one, and a group of one
// cell is that cell. -1 for groups that are left to the root, but for that of all cells.
std::vector<int64_t> VerticesOfGroups(const Attribute& attribute, const CellTree& tree);

// The tree that the attribute's basis follows, nothing if a dense one does for it: few cells, or
// queries other than a hierarchy's. Blocks where they are few, for that basis is optimal, or else
// groups.
std::optional<CellTree> TreeFor(const Attribute& attribute);

}  // namespace residua
