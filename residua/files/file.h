#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "residua/files/output/file_kind.h"

namespace residua {

// The folder a file is in; "." for a bare name.
std::filesystem::path FolderOf(const std::filesystem::path& path);

// The whole file, or Error{kIo} that names it.
std::string ReadFile(const std::filesystem::path& path);

// Whether a file must be on disk when it is in place, or whoever made it syncs many at once.
enum class Durability { kSynced, kLater };
void SyncFileSystemOf(const std::filesystem::path& path);

// A temporary file beside `target`, which becomes `target` when it is complete; deleted otherwise.
// Whoever writes it may do so through `path()`. Until it is closed or put in place it is locked, so
// that others can tell what is being written from what was left behind: see IsBeingWritten.
class FileInProgress {
 public:
  explicit FileInProgress(const std::filesystem::path& target);
  // Goes on with one that was left behind complete; Error{kRefused} while its process is at work.
  FileInProgress(const std::filesystem::path& target, const std::filesystem::path& left_behind);
  FileInProgress(const FileInProgress&) = delete;
  FileInProgress& operator=(const FileInProgress&) = delete;
  ~FileInProgress();

  const std::string& path() const { return path_; }
  void Write(std::string_view content);
  // Syncs it and renames it over the target.
  void Commit(Durability durability = Durability::kSynced);
  // Syncs it under its temporary name. It stays there, whatever happens, until it is put in place
  // or discarded.
  void Complete();
  // Gives it the target's name, unless there is such a file: then false.
  [[nodiscard]] bool PutInPlaceIfFree();
  void Discard();
  // For a file that has locks of its own, which the system drops when any descriptor of the same
  // file is closed.
  void CloseDescriptor();

 private:
  void SyncThroughPath() const;

  std::filesystem::path target_;
  std::string path_;
  int descriptor_ = -1;
  bool is_kept_ = false;  // complete, or in place
};

// A folder of a name beside `target` that nobody can foretell, which becomes `target` when it is
// complete, in the place of a folder that is there; deleted otherwise.
class FolderInProgress {
 public:
  explicit FolderInProgress(std::filesystem::path target);
  FolderInProgress(const FolderInProgress&) = delete;
  FolderInProgress& operator=(const FolderInProgress&) = delete;
  ~FolderInProgress();

  const std::filesystem::path& path() const { return path_; }
  // Syncs all that is in it and gives it the target's name.
  void Commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

// What a FileInProgress for `target`, or a folder made in the same way, may have left behind when
// its process was killed: whatever is called `target` with a dot and six letters or digits.
std::vector<std::filesystem::path> TemporariesOf(const std::filesystem::path& target);
// Whether a process has the temporary file open.
bool IsBeingWritten(const std::filesystem::path& temporary);
// Deletes those that are surely residua's, that no process is writing, and whose names are not
// among `kept`.
void RemoveTemporariesOf(const std::filesystem::path& target,
                         const std::vector<std::string>& kept = {});

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
// what it held before or all of `content`. Refuses what CheckReplaceable does. A pipe or a device,
// such as /dev/null, is written to as it is.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                         FileKind kind);

}  // namespace residua
