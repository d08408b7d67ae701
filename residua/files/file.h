#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace residua {

// The folder a file is in; "." for a bare name.
std::filesystem::path FolderOf(const std::filesystem::path& path);

// The whole file, or Error{kIo} that names it.
std::string ReadFile(const std::filesystem::path& path);

// Whether a file must be on disk when it is in place, or whoever made it syncs many at once.
enum class Durability { kSynced, kLater };
void SyncFileSystemOf(const std::filesystem::path& path);

// A temporary file beside `target`, removed unless Commit syncs it and renames it into place.
// Whoever writes it may do so through `path()`.
class FileInProgress {
 public:
  explicit FileInProgress(const std::filesystem::path& target);
  FileInProgress(const FileInProgress&) = delete;
  FileInProgress& operator=(const FileInProgress&) = delete;
  ~FileInProgress();

  const std::string& path() const { return path_; }
  void Write(std::string_view content);
  void Commit(Durability durability = Durability::kSynced);
  // Syncs it and gives it the target's name as well, unless there is such a file.
  void PutInPlaceIfFree() const;

 private:
  std::filesystem::path target_;
  std::string path_;
  int descriptor_;
};

// What a FileInProgress for `target`, or a folder made in the same way, left behind when its
// process was killed.
std::vector<std::filesystem::path> TemporariesOf(const std::filesystem::path& target);
void RemoveTemporariesOf(const std::filesystem::path& target);

// Held by one process at a time, until it is destroyed or its process ends, however it does.
// Error{kRefused} if another holds it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

// Writes a temporary file beside `path`, syncs it, and renames it into place: `path` holds either
// what it held before or all of `content`.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

}  // namespace residua
