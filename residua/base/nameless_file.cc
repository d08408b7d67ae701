#include "residua/base/nameless_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "residua/base/error.h"

namespace residua {
namespace {

int OpenNameless(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  // Some file systems have no files without a name: there the file has a name for a moment, while
  // it is still empty.
  std::string name = (folder / ".residua.XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

NamelessFile::NamelessFile(const std::filesystem::path& folder)
    : folder_(folder.empty() ? std::filesystem::temp_directory_path() : folder),
      descriptor_(OpenNameless(folder_)) {
  if (descriptor_ < 0) {
    Fail(ErrorKind::kIo, "{}: no temporary file can be made in it: {}; allow writing there",
         folder_.string(), std::strerror(errno));
  }
}

NamelessFile::~NamelessFile() { close(descriptor_); }

int64_t NamelessFile::Append(const void* bytes, size_t num_bytes) {
  const int64_t at = size_;
  const char* next = static_cast<const char*>(bytes);
  while (num_bytes > 0) {
    const ssize_t written = pwrite(descriptor_, next, num_bytes, size_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      Fail(ErrorKind::kIo, "{}: a temporary file cannot be written: {}; make room there",
           folder_.string(), std::strerror(written < 0 ? errno : ENOSPC));
    }
    next += written;
    num_bytes -= static_cast<size_t>(written);
    size_ += written;
  }
  return at;
}

void NamelessFile::Read(int64_t at, void* bytes, size_t num_bytes) const {
  char* next = static_cast<char*>(bytes);
  while (num_bytes > 0) {
    const ssize_t read = pread(descriptor_, next, num_bytes, at);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) {
      Fail(ErrorKind::kIo, "{}: a temporary file cannot be read back: {}; check the disk",
           folder_.string(), read < 0 ? std::strerror(errno) : "it ends early");
    }
    next += read;
    num_bytes -= static_cast<size_t>(read);
    at += read;
  }
}

}  // namespace residua
