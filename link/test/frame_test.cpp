#include "link/frame.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "core/random.hpp"

namespace isochron::link {
namespace {

std::vector<std::byte> payload(std::size_t n, int salt = 0) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(salt));
  return bytes;
}

struct Collector {
  std::vector<std::vector<std::byte>> frames;
  bool operator()(std::span<const std::byte> frame) {
    frames.emplace_back(frame.begin(), frame.end());
    return true;
  }
};

TEST(FrameReader, YieldsTheFramesHoweverTheBytesAreCut) {
  RandomStream random(1, "frames");
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<std::byte>> sent;
    std::vector<std::byte> stream;
    for (std::uint64_t i = random.below(8); i > 0; --i) {
      sent.push_back(payload(random.chance(0.2) ? 0 : random.below(300), round));
      append_frame(stream, sent.back());
    }
    FrameReader reader(300);
    Collector collector;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t n = std::min(stream.size() - at, std::size_t{random.below(round % 2 == 0 ? 6 : 600)});
      ASSERT_TRUE(reader.take(std::span(stream).subspan(at, n), collector).ok());
      at += n;
    }
    EXPECT_EQ(collector.frames, sent);
    EXPECT_EQ(reader.partial(), 0U);
  }
}

TEST(FrameReader, TakesTheLargestAndRefusesOneByteMoreWithAReason) {
  std::vector<std::byte> stream;
  append_frame(stream, payload(100));
  append_frame(stream, payload(101));
  FrameReader reader(100);
  Collector collector;
  const auto result = reader.take(stream, collector);
  EXPECT_EQ(collector.frames.size(), 1U) << "what came before is good";
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "a frame of 101 bytes; at most 100 are allowed");
  EXPECT_FALSE(reader.take(payload(1), collector).ok()) << "for good";
}

TEST(FrameReader, RefusesAFrameOf4GBAtItsFourthByteWithoutTakingMemory) {
  FrameReader reader(1 << 20);
  Collector collector;
  const std::vector<std::byte> ones(4, std::byte{0xff});
  EXPECT_TRUE(reader.take(std::span(ones).first(3), collector).ok());
  const auto result = reader.take(std::span(ones).subspan(3), collector);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "a frame of 4294967295 bytes; at most 1048576 are allowed");
  EXPECT_LE(reader.partial(), 4U);
}

TEST(FrameReader, KnowsHalfAFrame) {
  std::vector<std::byte> stream;
  append_frame(stream, payload(10));
  FrameReader reader(100);
  Collector collector;
  ASSERT_TRUE(reader.take(std::span(stream).first(9), collector).ok());
  EXPECT_EQ(reader.partial(), 9U);
  EXPECT_TRUE(collector.frames.empty());
}

TEST(FrameReader, MayBeDestroyedByItsFrameWholeOrPutTogether) {
  std::vector<std::byte> stream;
  append_frame(stream, payload(10));
  append_frame(stream, payload(10));
  for (const std::size_t first : {std::size_t{0}, std::size_t{5}}) {
    auto reader = std::make_unique<FrameReader>(100);
    int frames = 0;
    const auto destroy = [&](std::span<const std::byte> frame) {
      reader.reset();
      frames += frame[3] == payload(10)[3] ? 1 : 100;
      return false;
    };
    ASSERT_TRUE(reader->take(std::span(stream).first(first), destroy).ok());
    EXPECT_TRUE(reader->take(std::span(stream).subspan(first), destroy).ok());
    EXPECT_EQ(frames, 1);
  }
}

}  // namespace
}  // namespace isochron::link
