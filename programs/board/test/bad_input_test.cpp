// What the fuzzer tries for hours, for a second: its seeds, and random changes of them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace isochron {
namespace {

std::vector<std::vector<std::uint8_t>> seeds() {
  std::vector<std::vector<std::uint8_t>> all;
  for (const auto& file : std::filesystem::directory_iterator(SEEDS)) {
    std::ifstream stream(file.path(), std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return all;
}

TEST(TargetProtocol, TheHostStaysUpWhateverIsSent) {
  const auto all = seeds();
  ASSERT_GE(all.size(), 10U);
  for (const auto& bytes : all) LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  RandomStream random(7, "bad input");
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint8_t> bytes = all[random.below(all.size())];
    const auto& more = all[random.below(all.size())];
    if (random.chance(0.5)) bytes.insert(bytes.end(), more.begin(), more.end());
    for (std::uint64_t n = random.below(6); n > 0 && !bytes.empty(); --n) {
      bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.bits());
    }
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

}  // namespace
}  // namespace isochron
