#include "residua/files/file.h"

#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "residua/base/error.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

class FileTest : public FolderTest {};

mode_t ModeOf(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST_F(FileTest, ModesFollowTheMask) {
  const mode_t before = umask(027);
  WriteFileAtomically("file", "text", FileKind::kNew);
  const fs::path folder = MakeFolderInProgress("folder");
  umask(before);
  EXPECT_EQ(ModeOf("file"), 0640u);
  EXPECT_EQ(ModeOf(folder), 0750u);
}

// As other threads would see it: the system says what the mask is without changing it.
TEST_F(FileTest, MakingFilesNeverChangesTheMask) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int k = 0; k < 2000; ++k) FileInProgress("file").Commit(Durability::kLater);
    done = true;
  });
  const mode_t before = umask(022);
  int num_open = 0;
  while (!done) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Umask:") && line.ends_with("0000")) ++num_open;
    }
  }
  writer.join();
  umask(before);
  EXPECT_EQ(num_open, 0);
}

TEST_F(FileTest, PutInPlaceNeverReplaces) {
  Write("target", "theirs");
  FileInProgress file("target");
  file.Write("ours");
  file.Complete();
  EXPECT_FALSE(file.PutInPlaceIfFree());
  EXPECT_EQ(ReadFile("target"), "theirs");
  fs::remove("target");
  EXPECT_TRUE(file.PutInPlaceIfFree());
  EXPECT_EQ(ReadFile("target"), "ours");
  EXPECT_TRUE(TemporariesOf("target").empty());
}

TEST_F(FileTest, WhatIsCompleteStaysUntilItIsDiscarded) {
  {
    FileInProgress unfinished("target");
    unfinished.Write("half");
  }
  EXPECT_TRUE(TemporariesOf("target").empty());
  {
    FileInProgress complete("target");
    complete.Write("whole");
    complete.Complete();
  }
  ASSERT_EQ(TemporariesOf("target").size(), 1u);
  FileInProgress again("target", TemporariesOf("target").front());
  EXPECT_THROW(FileInProgress("target", again.path()), Error) << "while another is writing it";
  again.Discard();
  EXPECT_TRUE(TemporariesOf("target").empty());
}

TEST_F(FileTest, RemovesOnlyWhatWasLeftBehindByItself) {
  for (const char* name : {"m.parquet.ledger", "m.parquet.backup", "m.parquet.a1B2c3",
                           "m.parquet.Kept12", "m.parquet.longer1A"}) {
    Write(name, "text");
  }
  FileInProgress file("m.parquet");
  EXPECT_TRUE(IsBeingWritten(file.path()));
  EXPECT_FALSE(IsBeingWritten("m.parquet.a1B2c3"));
  RemoveTemporariesOf("m.parquet", {"m.parquet.Kept12"});
  EXPECT_FALSE(fs::exists("m.parquet.a1B2c3"));
  for (const std::string& name :
       {std::string("m.parquet.ledger"), std::string("m.parquet.backup"),
        std::string("m.parquet.Kept12"), std::string("m.parquet.longer1A"), file.path()}) {
    EXPECT_TRUE(fs::exists(name)) << name;
  }
}

}  // namespace
}  // namespace residua
