#include "residua/files/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include "residua/base/error.h"
#include "residua/files/output/own_temporaries.h"
#include "residua/noise/secure_bits.h"

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

constexpr size_t kSuffixLength = 6;
constexpr std::string_view kSmall = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kCapital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kDigits = "0123456789";

// A small letter, a capital and a digit: ".ledger" or ".backup" is somebody's own file.
bool IsSuffixOfOurs(std::string_view suffix) {
  return suffix.find_first_of(kSmall) != std::string_view::npos &&
         suffix.find_first_of(kCapital) != std::string_view::npos &&
         suffix.find_first_of(kDigits) != std::string_view::npos;
}

std::string RandomSuffix() {
  const std::string letters = fmt::format("{}{}{}", kSmall, kCapital, kDigits);
  while (true) {
    uint64_t bits = 0;
    ThreadSecureBits().Fill({&bits, 1});
    std::string suffix;
    for (size_t k = 0; k < kSuffixLength; ++k) {
      suffix += letters[bits % letters.size()];
      bits /= letters.size();
    }
    if (IsSuffixOfOurs(suffix)) return suffix;
  }
}

// Calls `make` with one name after another until it makes something that was not there. The mode is
// left to the system, which knows the process's mask: a process cannot ask for it without changing
// it under its other threads.
std::string MakeBeside(const std::filesystem::path& target, std::string_view problem,
                       const std::function<int(const char* path)>& make) {
  std::string path;
  ChangeOwnTemporaries([&](std::set<std::string>* own) {
    do {
      path = fmt::format("{}.{}", target.string(), RandomSuffix());
      if (make(path.c_str()) >= 0) {
        own->insert(path);
        return;
      }
    } while (errno == EEXIST);
    Fail(ErrorKind::kIo, "{}: {}: {}", target.string(), problem, std::strerror(errno));
  });
  return path;
}

}  // namespace

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

FileInProgress::FileInProgress(const std::filesystem::path& target) : target_(target) {
  path_ = MakeBeside(target, "cannot write", [this](const char* path) {
    return descriptor_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
  // Waits for nobody but a look at it. Where there are no locks there is nothing to tell by.
  flock(descriptor_, LOCK_EX);
}

FileInProgress::FileInProgress(const std::filesystem::path& target,
                               const std::filesystem::path& left_behind)
    : target_(target),
      path_(left_behind.string()),
      descriptor_(open(path_.c_str(), O_RDWR | O_CLOEXEC)),
      is_kept_(true) {
  if (descriptor_ < 0) FailToWrite(left_behind, errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    CloseDescriptor();
    Fail(ErrorKind::kRefused, "{}: another residua is at work on it; wait until it is done",
         target.string());
  }
}

FileInProgress::~FileInProgress() {
  if (!is_kept_) {
    unlink(path_.c_str());
    ForgetOwnTemporary(path_);
  }
  CloseDescriptor();
}

void FileInProgress::CloseDescriptor() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
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

void FileInProgress::SyncThroughPath() const {
  // Through `path_`: a writer may have put another file in the temporary one's place.
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) FailToWrite(target_, errno);
  const bool synced = fsync(descriptor) == 0;
  const int error = errno;
  close(descriptor);
  if (!synced) FailToWrite(target_, error);
}

void FileInProgress::Commit(Durability durability) {
  if (durability == Durability::kSynced) SyncThroughPath();
  ChangeOwnTemporaries([this](std::set<std::string>* own) {
    if (rename(path_.c_str(), target_.c_str()) != 0) FailToWrite(target_, errno);
    own->erase(path_);
  });
  is_kept_ = true;
  CloseDescriptor();
  if (durability == Durability::kSynced) SyncDirectoryOf(target_);
}

void FileInProgress::Complete() {
  SyncThroughPath();
  SyncDirectoryOf(target_);
  ChangeOwnTemporaries([this](std::set<std::string>* own) { own->erase(path_); });
  is_kept_ = true;
}

bool FileInProgress::PutInPlaceIfFree() {
  bool is_free = true;
  ChangeOwnTemporaries([&](std::set<std::string>* own) {
    int result = renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE);
    // Some file systems and kernels cannot. None replaces a file by a second name of another.
    if (result != 0 && errno != EEXIST && errno != ENOENT) {
      result = link(path_.c_str(), target_.c_str());
      if (result == 0) unlink(path_.c_str());
    }
    is_free = result == 0 || errno != EEXIST;
    if (result != 0 && is_free) FailToWrite(target_, errno);
    if (is_free) own->erase(path_);
  });
  if (!is_free) return false;
  is_kept_ = true;
  CloseDescriptor();
  SyncDirectoryOf(target_);
  return true;
}

void FileInProgress::Discard() {
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) FailToWrite(path_, errno);
  ForgetOwnTemporary(path_);
  CloseDescriptor();
}

FolderInProgress::FolderInProgress(std::filesystem::path target)
    : target_(std::move(target)),
      path_(MakeBeside(target_, "cannot make the folder",
                       [](const char* path) { return mkdir(path, 0777); })) {}

// Of the folder that was replaced, if it was.
FolderInProgress::~FolderInProgress() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ForgetOwnTemporary(path_.string());
}

void FolderInProgress::Commit() {
  SyncFileSystemOf(path_);
  const std::filesystem::path old = path_.string() + ".old";
  ChangeOwnTemporaries([&](std::set<std::string>* own) {
    std::error_code error, ignored;
    const bool replaces = std::filesystem::exists(target_);
    if (replaces) std::filesystem::rename(target_, old, error);
    if (!error) {
      std::filesystem::rename(path_, target_, error);
      if (error && replaces) std::filesystem::rename(old, target_, ignored);
    }
    if (error) {
      Fail(ErrorKind::kIo, "{}: cannot be put in place: {}", target_.string(), error.message());
    }
    own->erase(path_.string());
    own->insert(old.string());
  });
  // What was replaced is deleted as an unfinished folder is.
  path_ = old;
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
  const std::string own = target.filename().string() + ".";
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(FolderOf(target), ignored)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with(own)) continue;
    const std::string_view rest = std::string_view(name).substr(own.size());
    // A folder that was being replaced has ".old" behind the name of the one that replaces it.
    if (rest.size() == kSuffixLength ||
        (rest.size() == kSuffixLength + 4 && rest.ends_with(".old"))) {
      found.push_back(file.path());
    }
  }
  return found;
}

bool IsBeingWritten(const std::filesystem::path& temporary) {
  const int descriptor = open(temporary.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return is_locked;
}

void RemoveTemporariesOf(const std::filesystem::path& target,
                         const std::vector<std::string>& kept) {
  for (const std::filesystem::path& file : TemporariesOf(target)) {
    const std::string name = file.filename().string();
    const std::string suffix = name.substr(target.filename().string().size() + 1, kSuffixLength);
    if (!IsSuffixOfOurs(suffix) || IsBeingWritten(file) ||
        std::ranges::find(kept, name) != kept.end()) {
      continue;
    }
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

void WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                         FileKind kind) {
  CheckReplaceable(path, kind);
  if (IsPipeOrDevice(path)) {
    std::ofstream stream(path, std::ios::binary);
    if (!(stream << content << std::flush)) FailToWrite(path, errno);
    return;
  }
  FileInProgress file(path);
  file.Write(content);
  file.Commit();
}

}  // namespace residua
