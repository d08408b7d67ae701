#include "residua/files/file.h"

#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "residua/base/error.h"
#include "residua/files/output/own_temporaries.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/run_apart.h"

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
  const FolderInProgress folder("folder");
  umask(before);
  EXPECT_EQ(ModeOf("file"), 0640u);
  EXPECT_EQ(ModeOf(folder.path()), 0750u);
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

TEST_F(FileTest, AFolderReplacesAFolderAsAWhole) {
  fs::create_directory("folder");
  Write("folder/old", "old");
  {
    FolderInProgress unfinished("folder");
    WriteFileAtomically(unfinished.path() / "new", "new", FileKind::kNew);
  }
  EXPECT_TRUE(fs::exists("folder/old"));
  {
    FolderInProgress folder("folder");
    WriteFileAtomically(folder.path() / "new", "new", FileKind::kNew);
    folder.Commit();
    EXPECT_TRUE(fs::exists("folder/new"));
  }
  EXPECT_FALSE(fs::exists("folder/old"));
  EXPECT_TRUE(TemporariesOf("folder").empty());
}

// In a process of its own, as it can write no files any more.
TEST_F(FileTest, AProcessThatEndsDeletesWhatItIsWritingAndNothingElse) {
  Write("target", "theirs");
  Write("target.a1B2c3", "of another process");
  const Outcome outcome = RunApart([] {
    FileInProgress complete("complete");
    complete.Complete();
    FileInProgress file("target");
    file.Write("half");
    const FolderInProgress folder("folder");
    FileInProgress inside(folder.path() / "file");
    DeleteOwnTemporaries();
    EXPECT_THROW(file.Commit(), Error);
    EXPECT_THROW(inside.Complete(), Error);
    EXPECT_THROW(FileInProgress("another"), Error);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(ReadFile("target"), "theirs");
  EXPECT_EQ(TemporariesOf("complete").size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator("."), {}), 3);
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
