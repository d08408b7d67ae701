#include "bench/synthetic_residuals.h"

#include <sys/mman.h>

#include "residua/base/checked.h"

namespace residua::bench {
namespace {

// In huge pages if it is large, like the buffers that are written to.
void Resize(size_t size, std::vector<int64_t>* values) {
  constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
  values->reserve(size);
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(values->data()) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = reinterpret_cast<uintptr_t>(values->data() + size) / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  values->resize(size);
}

int64_t NumRows(const ResidualBasis& basis) {
  return basis.is_identity() ? basis.size : std::get<IntegerMatrix>(basis.matrix).num_rows;
}

}  // namespace

std::vector<AttributeSet> SetsUpToThree(int num_attributes) {
  std::vector<AttributeSet> sets = {{}};
  for (int a = 0; a < num_attributes; ++a) sets.push_back({a});
  for (int a = 0; a < num_attributes; ++a) {
    for (int b = a + 1; b < num_attributes; ++b) sets.push_back({a, b});
  }
  for (int a = 0; a < num_attributes; ++a) {
    for (int b = a + 1; b < num_attributes; ++b) {
      for (int c = b + 1; c < num_attributes; ++c) sets.push_back({a, b, c});
    }
  }
  return sets;
}

std::vector<ResidualBasis> IdentityBases(const Domain& domain) {
  std::vector<ResidualBasis> bases;
  for (const Attribute& attribute : domain.attributes()) {
    bases.push_back(IdentityBasis(attribute.size));
  }
  return bases;
}

Residuals MakeResiduals(const std::vector<ResidualBasis>& basis_of_attribute,
                        const std::vector<AttributeSet>& sets, size_t shared_order) {
  Residuals residuals;
  residuals.values.reserve(sets.size());
  uint64_t state = 1;
  const std::vector<int64_t>* shared = nullptr;
  for (const AttributeSet& set : sets) {
    const std::vector<int64_t>* values = set.size() == shared_order ? shared : nullptr;
    if (values == nullptr) {
      int64_t size = 1;
      for (const int i : set) {
        size = CheckedMultiply(size, NumRows(basis_of_attribute[static_cast<size_t>(i)]));
      }
      residuals.values.emplace_back();
      Resize(static_cast<size_t>(size), &residuals.values.back());
      for (int64_t& value : residuals.values.back()) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<int64_t>(state) >> 30;
      }
      values = &residuals.values.back();
      if (set.size() == shared_order) shared = values;
    }
    residuals.views.push_back({set, std::span(*values), 1000});
  }
  return residuals;
}

}  // namespace residua::bench
