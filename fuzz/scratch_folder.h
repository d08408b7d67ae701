#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "residua/base/error.h"

namespace residua {

// A folder for the files of one run, removed when the run ends.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "residua-fuzz-XXXXXX").string();
    RESIDUA_CHECK(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  std::filesystem::path Path(const char* name) const { return path_ / name; }
  std::filesystem::path Write(const char* name, std::string_view content) const {
    std::ofstream stream(Path(name), std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    RESIDUA_CHECK(stream.flush().good());
    return Path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace residua
