#pragma once

#include "residua/model/attribute.h"

namespace residua {

inline Attribute Named(int64_t size, QueryKind queries) {
  Attribute attribute;
  attribute.name = "a";
  attribute.size = size;
  attribute.queries = queries;
  return attribute;
}

}  // namespace residua
