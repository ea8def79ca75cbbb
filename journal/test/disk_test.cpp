#include "journal/disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "journal/journal.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isochron_disk_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(PosixDisk, ReadsBackWhatWasAppended) {
  const Folder folder;
  PosixDisk disk;
  auto file = disk.create(folder / "a");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(append_all(**file, bytes_of("hello ")).ok());
  ASSERT_TRUE(append_all(**file, bytes_of("world")).ok());
  EXPECT_TRUE((*file)->sync().ok());
  ASSERT_TRUE(disk.rename(folder / "a", folder / "b").ok());
  auto again = disk.open(folder / "b");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*(*again)->size(), 11U);
  std::string text(20, '.');
  EXPECT_EQ(*(*again)->read_at(6, std::as_writable_bytes(std::span(text))), 5U);
  EXPECT_EQ(text.substr(0, 5), "world");
  EXPECT_EQ(*(*again)->read_at(11, std::as_writable_bytes(std::span(text))), 0U);
  EXPECT_EQ((*again)->append(bytes_of("x")).error().fault, DiskFault::read_only);
  EXPECT_TRUE(disk.remove(folder / "b").ok());
}

TEST(PosixDisk, NamesThePathAndTheReason) {
  const Folder folder;
  PosixDisk disk;
  const auto missing = disk.open(folder / "nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().fault, DiskFault::not_found);
  EXPECT_EQ(missing.error().what, "cannot open " + (folder / "nothing") + ": No such file or directory");
  EXPECT_EQ(disk.create(folder / "no/such/folder").error().fault, DiskFault::not_found);
  EXPECT_EQ(disk.open(folder / "").error().what, "cannot open " + (folder / "") + ": it is not a regular file");
  EXPECT_EQ(disk.remove(folder / "nothing").error().fault, DiskFault::not_found);
}

TEST(PosixDisk, AFileThatIsBeingWrittenIsNotTakenOver) {
  PosixDisk disk;
  const Folder folder;
  const std::string path = folder / "run.mcap";
  auto first = disk.create(path);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(append_all(**first, bytes_of("mine")).ok());
  const auto second = disk.create(path);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().what.find("another run is writing it"), std::string::npos) << second.error().what;
  EXPECT_EQ(*(*first)->size(), 4U) << "what was written is still there";
  first = fail(DiskError{});
  EXPECT_TRUE(disk.create(path).ok()) << "once it is closed it may be replaced";
}

TEST(PosixDisk, KnowsTheErrorsOfTheSystem) {
  EXPECT_EQ(disk_fault(ENOSPC), DiskFault::full);
  EXPECT_EQ(disk_fault(EDQUOT), DiskFault::full);
  EXPECT_EQ(disk_fault(EROFS), DiskFault::read_only);
  EXPECT_EQ(disk_fault(EACCES), DiskFault::denied);
  EXPECT_EQ(disk_fault(EIO), DiskFault::io);
}

TEST(PosixDisk, SaysThatAFolderIsReadOnly) {
  // Root may write everywhere: be somebody else for a while.
  const bool root = geteuid() == 0;
  const Folder folder;
  PosixDisk disk;
  std::filesystem::create_directory(folder / "locked");
  chmod((folder / "locked").c_str(), 0500);
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto created = disk.create(folder / "locked/a");
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().fault, DiskFault::denied);
}

TEST(PosixDisk, SaysThatTheDeviceIsFull) {
  PosixDisk disk;
  test::SteadyClock clock;
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "needs /dev/full";
  const auto journal = Journal::create(disk, clock, "/dev/full");
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().fault, DiskFault::full);
  EXPECT_EQ(journal.error().what,
            "cannot write to /dev/full: No space left on device; free some space or choose another folder");
}

TEST(PosixDisk, AFileThatWasDeletedMeanwhileTakesNoMore) {
  const Folder folder;
  PosixDisk disk;
  auto file = disk.create(folder / "a");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(append_all(**file, bytes_of("before")).ok());
  ASSERT_EQ(unlink((folder / "a").c_str()), 0);
  const auto after = append_all(**file, bytes_of("after"));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().fault, DiskFault::not_found);
  EXPECT_NE(after.error().what.find("was deleted while it was being written"), std::string::npos);
}

TEST(Journal, TellsAtOnceThatTheDiskRefusesOnceAndNotOnlyAtTheEnd) {
  test::MemoryDisk disk;
  test::HandClock clock;
  int told = 0;
  JournalOptions options;
  options.threaded = false;
  options.on_failure = [&](const DiskError& error) {
    EXPECT_EQ(error.fault, DiskFault::full);
    ++told;
  };
  auto journal = std::move(*Journal::create(disk, clock, "j", options));
  const ChannelId channel = journal->channel<test::Point>("/a");
  Producer& producer = journal->producer("p");
  disk.room = 10;
  for (int i = 0; i < 3; ++i) {
    producer.write(channel, SimTime::from_ns(i), test::Point{1, 2});
    journal->pump();
    clock.pass(std::chrono::seconds(1));
    journal->pump();
  }
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(journal->close().error.has_value());
}

}  // namespace
}  // namespace isochron
