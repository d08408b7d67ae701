#include "residua/files/output/own_temporaries.h"

#include <filesystem>
#include <mutex>

#include "residua/base/error.h"

namespace residua {
namespace {

struct OwnTemporaries {
  std::mutex mutex;
  std::set<std::string> paths;
  bool is_ended = false;
};

// Never destroyed: a process may be told to end while it is ending.
OwnTemporaries& AllOwnTemporaries() {
  static auto* const all = new OwnTemporaries;
  return *all;
}

}  // namespace

void ChangeOwnTemporaries(const std::function<void(std::set<std::string>*)>& change) {
  OwnTemporaries& all = AllOwnTemporaries();
  const std::lock_guard lock(all.mutex);
  if (all.is_ended) Fail(ErrorKind::kStopped, "stopped before it was done");
  change(&all.paths);
}

void ForgetOwnTemporary(const std::string& path) {
  OwnTemporaries& all = AllOwnTemporaries();
  const std::lock_guard lock(all.mutex);
  all.paths.erase(path);
}

void DeleteOwnTemporaries() {
  OwnTemporaries& all = AllOwnTemporaries();
  const std::lock_guard lock(all.mutex);
  all.is_ended = true;
  for (const std::string& path : all.paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace residua
