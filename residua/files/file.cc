#include "residua/files/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// Plans and specs are text a person could open; anything larger is the wrong file.
constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{2} << 30;

[[noreturn]] void FailToWrite(const std::filesystem::path& path, int error) {
  Fail(ErrorKind::kIo, "{}: cannot write: {}", path.string(), std::strerror(error));
}

void SyncDirectoryOf(const std::filesystem::path& path) {
  const int descriptor = open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the file is in place; only its durability is the system's choice
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

FileInProgress::FileInProgress(const std::filesystem::path& target)
    : target_(target),
      path_(target.string() + ".XXXXXX"),
      descriptor_(mkostemp(path_.data(), O_CLOEXEC)) {
  if (descriptor_ < 0) FailToWrite(target, errno);
}

FileInProgress::~FileInProgress() {
  if (descriptor_ < 0) return;  // committed
  close(descriptor_);
  unlink(path_.c_str());
}

void FileInProgress::Write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailToWrite(target_, errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
}

void SyncFileSystemOf(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) FailToWrite(path, errno);
  const int result = syncfs(descriptor);
  const int error = errno;
  close(descriptor);
  if (result != 0) FailToWrite(path, error);
}

void FileInProgress::Commit(Durability durability) {
  const mode_t mask = umask(0);
  umask(mask);
  // Through `path_`: a writer may have put another file in the temporary one's place.
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) FailToWrite(target_, errno);
  const bool synced = fchmod(descriptor, 0666 & ~mask) == 0 &&
                      (durability == Durability::kLater || fsync(descriptor) == 0);
  const int error = errno;
  close(descriptor);
  if (!synced) FailToWrite(target_, error);
  if (rename(path_.c_str(), target_.c_str()) != 0) FailToWrite(target_, errno);
  close(std::exchange(descriptor_, -1));
  if (durability == Durability::kSynced) SyncDirectoryOf(target_);
}

void FileInProgress::PutInPlaceIfFree() const {
  const mode_t mask = umask(0);
  umask(mask);
  if (chmod(path_.c_str(), 0666 & ~mask) != 0) FailToWrite(target_, errno);
  int result = link(path_.c_str(), target_.c_str());
  // Some file systems have no second names.
  if (result != 0 && errno != EEXIST) {
    result = renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE);
  }
  if (result != 0 && errno != EEXIST) FailToWrite(target_, errno);
  SyncDirectoryOf(target_);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    Fail(ErrorKind::kIo, "{}: no such file", path.string());
  }
  if (std::filesystem::is_directory(status)) {
    Fail(ErrorKind::kIo, "{}: is a directory, not a file", path.string());
  }
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) > kMaxFileSize) {
    Fail(ErrorKind::kTooLarge, "{}: is larger than 2 GB; is it the right file?", path.string());
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream || !content) {
    if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) == 0) {
      return "";
    }
    Fail(ErrorKind::kIo, "{}: cannot be read", path.string());
  }
  return std::move(content).str();
}

std::vector<std::filesystem::path> TemporariesOf(const std::filesystem::path& target) {
  constexpr size_t kSuffix = sizeof(".XXXXXX") - 1;
  const std::string own = target.filename().string();
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(FolderOf(target), ignored)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with(own + ".") && name.size() == own.size() + kSuffix) {
      found.push_back(file.path());
    }
  }
  return found;
}

void RemoveTemporariesOf(const std::filesystem::path& target) {
  for (const std::filesystem::path& file : TemporariesOf(target)) {
    std::error_code error;
    std::filesystem::remove_all(file, error);
    if (error) Fail(ErrorKind::kIo, "{}: cannot be deleted: {}", file.string(), error.message());
  }
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) FailToWrite(folder, errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(descriptor_);
    if (error == EWOULDBLOCK) {
      Fail(ErrorKind::kRefused, "{}: another residua is at work in it; wait until it is done",
           folder.string());
    }
    FailToWrite(folder, error);
  }
}

FolderLock::~FolderLock() { close(descriptor_); }

void WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  FileInProgress file(path);
  file.Write(content);
  file.Commit();
}

}  // namespace residua
