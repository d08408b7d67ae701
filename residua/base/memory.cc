#include "residua/base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace residua {

int64_t MemoryOfMachine() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  // The file says "max" where there is no limit.
  int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace residua
