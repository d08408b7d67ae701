#include "residua/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "residua/base/error.h"

namespace residua {
namespace {

// Plans and specs are text a person could open; anything larger is the wrong file.
constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{2} << 30;

[[noreturn]] void FailToWrite(const std::filesystem::path& path, int error) {
  Fail(ErrorKind::kIo, "{}: cannot write: {}", path.string(), std::strerror(error));
}

// Removes the temporary file unless it was renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : path_(target.string() + ".XXXXXX"), descriptor_(mkostemp(path_.data(), O_CLOEXEC)) {
    if (descriptor_ < 0) FailToWrite(target, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }

  void Write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) FailToWrite(path_, errno);
      content.remove_prefix(static_cast<size_t>(written));
    }
  }

  void RenameTo(const std::filesystem::path& target) {
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0) {
      FailToWrite(target, errno);
    }
    const int result = close(descriptor_);
    descriptor_ = -1;
    if (result != 0 || rename(path_.c_str(), target.c_str()) != 0) FailToWrite(target, errno);
    renamed_ = true;
  }

 private:
  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

void SyncDirectoryOf(const std::filesystem::path& path) {
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int descriptor = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the file is in place; only its durability is the system's choice
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

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

void WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.Write(content);
  file.RenameTo(path);
  SyncDirectoryOf(path);
}

}  // namespace residua
