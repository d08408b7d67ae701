#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace residua {

// A file that has no name and that only this process can open; it disappears with this object,
// however the process ends.
class NamelessFile {
 public:
  // In `folder`, or where the system keeps temporary files if `folder` is empty.
  explicit NamelessFile(const std::filesystem::path& folder);
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  ~NamelessFile();

  // Returns the position at which the bytes begin.
  int64_t Append(const void* bytes, size_t num_bytes);
  void Read(int64_t at, void* bytes, size_t num_bytes) const;

 private:
  std::filesystem::path folder_;
  int descriptor_;
  int64_t size_ = 0;
};

}  // namespace residua
