#include "residua/text/basis_json.h"

#include <memory>
#include <optional>

#include "residua/base/enum_texts.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/tree_matrix.h"

namespace residua {
namespace {

constexpr EnumTexts<CellTree::Kind, 3> kTreeKinds = {{{CellTree::Kind::kBlocks, "blocks"},
                                                      {CellTree::Kind::kGroups, "groups"},
                                                      {CellTree::Kind::kCut, "cut"}}};

Json NodeToJson(const NodeRows& rows, int64_t num_children) {
  if (!rows.dense.empty()) {
    Json lines = Json::array();
    for (size_t k = 0; k < rows.dense.size(); k += static_cast<size_t>(num_children)) {
      const auto begin = rows.dense.begin() + static_cast<std::ptrdiff_t>(k);
      lines.push_back(std::vector(begin, begin + num_children));
    }
    return {{"matrix", std::move(lines)}};
  }
  Json json = Json::object();
  if (rows.factors.size() == 1) {
    json["factor"] = rows.factors.front();
  } else {
    json["factors"] = rows.factors;
  }
  if (!rows.shares.empty()) json["shares"] = rows.shares;
  return json;
}

NodeRows NodeFromJson(const Json& json, int64_t num_children) {
  NodeRows rows;
  if (json.contains("matrix")) {
    for (const Json& line : json["matrix"]) {
      const auto entries = WholeNumbers<int64_t>(line);
      if (static_cast<int64_t>(entries.size()) != num_children) {
        Fail(ErrorKind::kBadInput, "a basis has a row of {} entries; it needs {}", entries.size(),
             num_children);
      }
      rows.dense.insert(rows.dense.end(), entries.begin(), entries.end());
    }
    return rows;
  }
  if (json.contains("factor")) {
    rows.factors = {WholeNumber<int64_t>(json["factor"])};
  } else {
    rows.factors = WholeNumbers<int64_t>(json.at("factors"));
  }
  if (json.contains("shares")) rows.shares = WholeNumbers<int64_t>(json["shares"]);
  return rows;
}

}  // namespace

void PutTree(const TreeMatrix& matrix, Json* json) {
  (*json)["tree"] = TextOf(kTreeKinds, matrix.tree->kind);
  if (matrix.tree->kind == CellTree::Kind::kCut) {
    (*json)["top"] = matrix.tree->num_children(matrix.tree->num_nodes() - 1);
  }
  Json nodes = Json::array();
  for (int64_t node = 0; node < matrix.tree->num_nodes(); ++node) {
    nodes.push_back(
        NodeToJson(matrix.nodes[static_cast<size_t>(node)], matrix.tree->num_children(node)));
  }
  (*json)["nodes"] = std::move(nodes);
}

TreeMatrix TreeFromJson(const Json& json, const Attribute& attribute) {
  const auto kind = ValueOf(kTreeKinds, json.at("tree").get<std::string>());
  std::optional<CellTree> tree;
  if (kind && attribute.queries == QueryKind::kHierarchy) {
    const bool is_cut = *kind == CellTree::Kind::kCut;
    const int64_t top = is_cut ? WholeNumber<int64_t>(json.at("top")) : 0;
    tree = TreeOfKind(attribute, *kind, top);
    if (is_cut && tree && tree->num_children(tree->num_nodes() - 1) != top) tree.reset();
  }
  if (!tree) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' follows groups that it does not have",
         attribute.name);
  }
  TreeMatrix matrix{std::make_shared<const CellTree>(std::move(*tree)), {}};
  const Json& nodes = json.at("nodes");
  if (static_cast<int64_t>(nodes.size()) != matrix.tree->num_nodes()) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' has {} nodes; its groups make {}",
         attribute.name, nodes.size(), matrix.tree->num_nodes());
  }
  for (const Json& node : nodes) {
    const auto k = static_cast<int64_t>(matrix.nodes.size());
    matrix.nodes.push_back(NodeFromJson(node, matrix.tree->num_children(k)));
  }
  CheckTreeMatrix(attribute, matrix);
  return matrix;
}

void PutConvolution(const ConvolutionMatrix& matrix, Json* json) {
  (*json)["row_weights"] = matrix.row_weights;
  (*json)["kernel"] = matrix.kernel;
  (*json)["column_weights"] = matrix.column_weights;
  if (!matrix.total_weights.empty()) (*json)["total_weights"] = matrix.total_weights;
}

bool IsConvolution(const Json& json) { return json.contains("kernel"); }

ConvolutionMatrix ConvolutionFromJson(const Json& json, const Attribute& attribute) {
  ConvolutionMatrix matrix{WholeNumbers<int64_t>(json.at("row_weights")),
                           WholeNumbers<int64_t>(json.at("kernel")),
                           WholeNumbers<int64_t>(json.at("column_weights"))};
  if (json.contains("total_weights")) {
    matrix.total_weights = WholeNumbers<int64_t>(json.at("total_weights"));
  }
  CheckConvolution(attribute, matrix);
  return matrix;
}

}  // namespace residua
