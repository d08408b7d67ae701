// Preloaded into the program (LD_PRELOAD), it makes the system fail as the environment says:
//   FAULT_FOLDER=DIR        the faults below strike files in this folder
//   FAULT_DISK_BYTES=N      writes to them fail with ENOSPC after N bytes in total
//   FAULT_READ_ONLY=1       none can be created or opened for writing: EROFS
//   FAULT_ENTROPY_CALLS=N   getrandom fails with ENOSYS after N calls
//   FAULT_CLOCK=SECONDS     the clock is ahead by so much (or behind)
//   FAULT_KILL=before|after the process is killed when a file gets the name FAULT_NAME

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const char* Setting(const char* name) { return getenv(name); }

bool IsInFolder(const char* path) {
  const char* folder = Setting("FAULT_FOLDER");
  if (folder == nullptr) return false;
  char absolute[PATH_MAX];
  std::string whole = path;
  if (path[0] != '/' && getcwd(absolute, sizeof(absolute)) != nullptr) {
    whole = std::string(absolute) + "/" + path;
  }
  return whole.rfind(folder, 0) == 0;
}

bool IsInFolder(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = readlink(link.c_str(), path, sizeof(path) - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return IsInFolder(path);
}

std::atomic<int64_t> bytes_written{0};

// Whether a write of that many bytes still fits the disk.
bool Fits(int file, size_t count) {
  const char* limit = Setting("FAULT_DISK_BYTES");
  if (limit == nullptr || !IsInFolder(file)) return true;
  if (bytes_written.load() + static_cast<int64_t>(count) > atoll(limit)) {
    errno = ENOSPC;
    return false;
  }
  bytes_written += static_cast<int64_t>(count);
  return true;
}

bool MayOpen(const char* path, int flags) {
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (!writes || Setting("FAULT_READ_ONLY") == nullptr || !IsInFolder(path)) return true;
  errno = EROFS;
  return false;
}

int64_t ClockShift() {
  const char* seconds = Setting("FAULT_CLOCK");
  return seconds == nullptr ? 0 : atoll(seconds);
}

// Kills the process if `moment` is the one for it and the file is called FAULT_NAME.
void KillAt(const std::string& moment, const std::string& path) {
  const char* chosen = Setting("FAULT_KILL");
  const char* name = Setting("FAULT_NAME");
  if (chosen == nullptr || name == nullptr || moment != chosen) return;
  if (path.substr(path.rfind('/') + 1) == name) kill(getpid(), SIGKILL);
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t count) {
  if (!Fits(file, count)) return -1;
  return Next<ssize_t(int, const void*, size_t)>("write")(file, data, count);
}

ssize_t pwrite(int file, const void* data, size_t count, off_t offset) {
  if (!Fits(file, count)) return -1;
  return Next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, data, count, offset);
}

ssize_t pwrite64(int file, const void* data, size_t count, off64_t offset) {
  if (!Fits(file, count)) return -1;
  return Next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, data, count, offset);
}

ssize_t writev(int file, const iovec* parts, int count) {
  size_t total = 0;
  for (int k = 0; k < count; ++k) total += parts[k].iov_len;
  if (!Fits(file, total)) return -1;
  return Next<ssize_t(int, const iovec*, int)>("writev")(file, parts, count);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  if (!MayOpen(path, flags)) return -1;
  return Next<int(const char*, int, ...)>("open")(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  if (!MayOpen(path, flags)) return -1;
  return Next<int(const char*, int, ...)>("open64")(path, flags, mode);
}

int mkstemp(char* path) {
  if (!MayOpen(path, O_CREAT)) return -1;
  return Next<int(char*)>("mkstemp")(path);
}

int mkostemp(char* path, int flags) {
  if (!MayOpen(path, O_CREAT)) return -1;
  return Next<int(char*, int)>("mkostemp")(path, flags);
}

int mkdir(const char* path, mode_t mode) {
  if (!MayOpen(path, O_CREAT)) return -1;
  return Next<int(const char*, mode_t)>("mkdir")(path, mode);
}

int rename(const char* from, const char* to) noexcept {
  KillAt("before", to);
  const int result = Next<int(const char*, const char*)>("rename")(from, to);
  KillAt("after", to);
  return result;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  KillAt("before", to);
  const int result = Next<int(int, const char*, int, const char*, unsigned)>("renameat2")(
      from_folder, from, to_folder, to, flags);
  KillAt("after", to);
  return result;
}

ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  static std::atomic<int> num_calls{0};
  const char* limit = Setting("FAULT_ENTROPY_CALLS");
  if (limit != nullptr && num_calls++ >= atoi(limit)) {
    errno = ENOSYS;
    return -1;
  }
  return Next<ssize_t(void*, size_t, unsigned)>("getrandom")(buffer, size, flags);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = Next<int(clockid_t, timespec*)>("clock_gettime")(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += ClockShift();
  return result;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  const int result = Next<int(timeval*, void*)>("gettimeofday")(now, zone);
  now->tv_sec += ClockShift();
  return result;
}

time_t time(time_t* now) noexcept {
  const time_t shifted = Next<time_t(time_t*)>("time")(nullptr) + ClockShift();
  if (now != nullptr) *now = shifted;
  return shifted;
}

}  // extern "C"
