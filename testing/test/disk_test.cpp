#include "testing/disk.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace isochron {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text(const SimulatedDisk& disk, const std::string& path) {
  const auto contents = disk.contents(path);
  if (!contents) return "(no such file)";
  return {reinterpret_cast<const char*>(contents->data()), contents->size()};
}

TEST(SimulatedDisk, KeepsWhatIsAppended) {
  SimulatedDisk disk(1);
  auto file = disk.create("a");
  ASSERT_TRUE(append_all(**file, bytes("hello ")).ok());
  ASSERT_TRUE(append_all(**file, bytes("world")).ok());
  EXPECT_EQ(text(disk, "a"), "hello world");
  std::array<std::byte, 5> into{};
  EXPECT_EQ(*(*disk.open("a"))->read_at(6, into), 5U);
  EXPECT_EQ(*(*file)->read_at(11, into), 0U) << "the end";
  EXPECT_EQ(*(*file)->size(), 11U);
}

TEST(SimulatedDisk, WritesShortButNeverNothing) {
  SimulatedDisk disk(1);
  disk.set_faults({.short_write = 1});
  auto file = disk.create("a");
  const auto first = (*file)->append(bytes("0123456789"));
  EXPECT_LT(*first, 10U);
  EXPECT_GE(*first, 1U);
  ASSERT_TRUE(append_all(**file, bytes("0123456789").subspan(*first)).ok());
  EXPECT_EQ(text(disk, "a"), "0123456789");
}

TEST(SimulatedDisk, IsFullAtItsCapacityAndKeepsWhatFitted) {
  SimulatedDisk disk(1);
  disk.set_faults({.capacity = 7});
  auto file = disk.create("a");
  const auto result = append_all(**file, bytes("0123456789"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault, DiskFault::full);
  EXPECT_EQ(text(disk, "a"), "0123456");
}

TEST(SimulatedDisk, ACrashKeepsWhatWasSyncedAndSomePrefixOfTheRest) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedDisk disk(seed);
    auto file = disk.create("a");
    ASSERT_TRUE(append_all(**file, bytes("safe")).ok());
    ASSERT_TRUE((*file)->sync().ok());
    ASSERT_TRUE(append_all(**file, bytes("lost")).ok());
    disk.crash();
    EXPECT_FALSE((*file)->append(bytes("x")).ok()) << "a dead machine writes nothing";
    disk.restart();
    EXPECT_FALSE((*file)->append(bytes("x")).ok()) << "nor does a file of its former life";
    outcomes.insert(text(disk, "a"));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"safe", "safel", "safelo", "safelos", "safelost"}));
}

TEST(SimulatedDisk, CanKeepExactlyWhatWasSynced) {
  SimulatedDisk disk(1);
  disk.set_faults({.keep_unsynced_prefix = false});
  auto file = disk.create("a");
  ASSERT_TRUE(append_all(**file, bytes("lost")).ok());
  disk.crash();
  disk.restart();
  EXPECT_EQ(text(disk, "a"), "");
}

TEST(SimulatedDisk, CrashesInTheMiddleOfAnAppend) {
  SimulatedDisk disk(1);
  auto file = disk.create("a");
  ASSERT_TRUE((*file)->sync().ok());
  disk.crash_after(6);
  EXPECT_TRUE(append_all(**file, bytes("0123")).ok());
  EXPECT_FALSE(append_all(**file, bytes("4567")).ok());
  EXPECT_TRUE(disk.crashed());
  disk.restart();
  EXPECT_EQ(text(disk, "a"), std::string("012345").substr(0, text(disk, "a").size()));
}

TEST(SimulatedDisk, RefusesReadsAndSyncsAsTold) {
  SimulatedDisk disk(1);
  auto file = disk.create("a");
  ASSERT_TRUE(append_all(**file, bytes("0123456789")).ok());
  disk.set_faults({.read_error = 1, .sync_error = 1});
  std::array<std::byte, 4> into{};
  EXPECT_EQ((*file)->read_at(0, into).error().fault, DiskFault::io);
  EXPECT_EQ((*file)->sync().error().fault, DiskFault::io);
  disk.set_faults({.read_only = true});
  EXPECT_EQ((*file)->append(bytes("x")).error().fault, DiskFault::read_only);
  EXPECT_EQ(disk.create("b").error().fault, DiskFault::read_only);
}

TEST(SimulatedDisk, RenamesWholeAndNamesWhatIsMissing) {
  SimulatedDisk disk(1);
  ASSERT_TRUE(append_all(**disk.create("new"), bytes("2")).ok());
  ASSERT_TRUE(append_all(**disk.create("old"), bytes("1")).ok());
  EXPECT_TRUE(disk.rename("new", "old").ok());
  EXPECT_EQ(text(disk, "old"), "2");
  EXPECT_EQ(disk.open("new").error().fault, DiskFault::not_found);
  EXPECT_EQ(disk.open("new").error().what, "new: there is no such file");
  EXPECT_TRUE(disk.remove("old").ok());
  EXPECT_FALSE(disk.remove("old").ok());
}

}  // namespace
}  // namespace isochron
