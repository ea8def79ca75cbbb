// FMUs that are not what they claim to be.

#include <gtest/gtest.h>

#include <cstring>

#include "bridge/fmi/package.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

using test::description2;
using test::description3;

template <class F>
std::string mistake(F&& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no mistake";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class ArchiveTest : public testing::Test {
 protected:
  std::string opening(const std::string& file) {
    return mistake([&] { Package package(file); });
  }
  test::Workshop shop_;
};

TEST_F(ArchiveTest, UnpacksWhatIsInside) {
  const Archive archive = Archive::open(shop_.zip("a.fmu", {{"resources/deep/y.txt", "seven"}, {"other", "x"}}));
  EXPECT_TRUE(archive.has("resources/deep/y.txt"));
  EXPECT_EQ(archive.read("other", 10), "x");
  archive.unpack("resources/", shop_.folder());
  EXPECT_EQ(test::content_of(shop_.path("resources/deep/y.txt")), "seven");
  EXPECT_FALSE(std::filesystem::exists(shop_.path("other")));
}

TEST_F(ArchiveTest, NamesThatLeadOutsideAreRefused) {
  for (const char* name : {"../evil", "a/../../evil", "/etc/evil", "a\\..\\evil", "C:evil"}) {
    const std::string file = shop_.zip("evil.fmu", {{name, "x"}});
    EXPECT_SAYS(mistake([&] { (void)Archive::open(file); }), "outside the folder") << name;
  }
  const std::string file = shop_.zip("fine.fmu", {{"a..b/c", "x"}});
  EXPECT_EQ(Archive::open(file).names().size(), 1U);
}

TEST_F(ArchiveTest, WhatIsNoZipFileIsRefused) {
  EXPECT_SAYS(opening(shop_.path("none.fmu")), "there is no such file");
  std::ofstream(shop_.path("text.fmu")) << "this is text";
  EXPECT_SAYS(opening(shop_.path("text.fmu")), "an FMU is a zip file");
  EXPECT_SAYS(opening(shop_.folder()), "is not a file");
  EXPECT_SAYS(opening(shop_.zip("empty.fmu", {{"readme", "x"}})), "has no modelDescription.xml");
}

/// The uncompressed size in the central directory becomes another.
std::string with_size(std::string zip, std::uint32_t size) {
  const auto at = zip.find(std::string("PK\1\2", 4));
  std::memcpy(zip.data() + at + 24, &size, sizeof size);
  return zip;
}

TEST_F(ArchiveTest, SizesThatLieAreRefused) {
  const std::string honest = test::content_of(shop_.zip("a.fmu", {{"modelDescription.xml", std::string(5000, 'a')}}));
  const auto reading = [&](std::uint32_t size) {
    std::ofstream(shop_.path("lie.fmu"), std::ios::binary) << with_size(honest, size);
    return mistake([&] { (void)Archive::open(shop_.path("lie.fmu")).read("modelDescription.xml", 100'000); });
  };
  EXPECT_SAYS(reading(10), "is not of the size that it claims, 10 bytes");
  EXPECT_SAYS(reading(90'000), "is not of the size that it claims, 90000 bytes");
  EXPECT_SAYS(reading(3U << 30U), "larger than 2 GiB");
  EXPECT_SAYS(reading(1U << 30U), "this may be an attack");
}

TEST_F(ArchiveTest, ADamagedFileIsRefused) {
  std::string zip = test::content_of(shop_.zip("a.fmu", {{"modelDescription.xml", description2(test::gain2)}}));
  zip[60] = static_cast<char>(zip[60] ^ 0x55);
  std::ofstream(shop_.path("damaged.fmu"), std::ios::binary) << zip;
  EXPECT_SAYS(opening(shop_.path("damaged.fmu")), "damaged");
}

TEST_F(ArchiveTest, TellsWhichPlatformsThereAre) {
  const test::File description{"modelDescription.xml", description2(test::gain2)};
  const std::string other =
      shop_.zip("other.fmu", {description, {"binaries/win64/kit.dll", "x"}, {"binaries/darwin64/kit.dylib", "x"}});
  EXPECT_SAYS(opening(other), "has no binary for this machine (linux64); it has darwin64, win64");
  EXPECT_SAYS(opening(shop_.zip("none.fmu", {description, {"sources/kit.c", "x"}})), "compile it for this machine");
  EXPECT_SAYS(opening(shop_.zip("named.fmu", {description, {"binaries/linux64/other.so", "x"}})),
              "has no `binaries/linux64/kit.so`");
}

TEST_F(ArchiveTest, IsUnpackedOnceAndLeavesNothingBehind) {
  const std::string file = shop_.fmu2("kit.fmu", description2(test::gain2));
  std::string folder;
  {
    const Package package(file);
    folder = package.folder();
    EXPECT_TRUE(std::filesystem::exists(folder + "/binaries/linux64/kit.so"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(open_package(file), open_package(shop_.folder() + "/./kit.fmu"));
}

TEST_F(ArchiveTest, FoldersOfDeadProcessesAreRemoved) {
  const std::string left = (std::filesystem::temp_directory_path() / "isochron_fmu_4194305_abcdef").string();
  std::filesystem::create_directories(left + "/resources");
  const Package package(shop_.fmu2("kit.fmu", description2(test::gain2)));
  EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace isochron::fmi
