#pragma once

#include "residua/basis/residual_matrix.h"
#include "residua/text/json_text.h"

namespace residua {

// A tree of a basis as plans store it: which tree of the attribute's groups, and the numbers of its
// nodes. The tree itself follows from the groups:
//   "tree": "blocks", "groups", or "cut" with "top", the number of the root's children,
//   "nodes": [{"factor": 5}, {"factors": [..], "shares": [..]}, {"matrix": [[..], ..]}, ..]
void PutTree(const TreeMatrix& matrix, Json* json);
// Error{kBadInput} or Error{kRefused} unless it is one for the attribute.
TreeMatrix TreeFromJson(const Json& json, const Attribute& attribute);

// A convolution as plans store it: "row_weights": [..], "kernel": [..], "column_weights": [..], and
// "total_weights": [..] unless there are none.
void PutConvolution(const ConvolutionMatrix& matrix, Json* json);
// Whether it is one; error{kBadInput} or Error{kRefused} unless it is one for the attribute.
bool IsConvolution(const Json& json);
ConvolutionMatrix ConvolutionFromJson(const Json& json, const Attribute& attribute);

}  // namespace residua
