#include "residua/measure/remote/joint_cells.h"

#include "residua/base/error.h"

namespace residua {

int64_t NumJointCells(const Domain& domain) {
  int64_t num_cells = 1;
  for (const Attribute& attribute : domain.attributes()) {
    if (MeanOf(attribute) != nullptr) {
      Fail(ErrorKind::kBadInput,
           "attribute '{}' is asked for its mean, and sums are not made where the rows are; leave "
           "it out, or let the rows be read",
           attribute.name);
    }
    if (attribute.size > kMaxJointCells / num_cells) {
      Fail(ErrorKind::kTooLarge,
           "all attributes together have more than {} cells, the most that can be counted where "
           "the rows are; leave attributes out, or give them fewer cells",
           kMaxJointCells);
    }
    num_cells *= attribute.size;
  }
  return num_cells;
}

}  // namespace residua
