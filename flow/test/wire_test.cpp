#include "flow/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace isochron::flow::wire {
namespace {

Hello some_hello() { return {version, 42, "yellow", {{0, "yellow.position", "red.pull", 7}, {5, "a.b", "c.d", 8}}}; }
Answer some_answer() {
  return {1, 9, {{2, SimTime::from_ns(70), {{0, 4}, {1, nothing_more}}, {{5, 6}}}, {3, SimTime::never(), {}, {}}}};
}

Bytes all_kinds() {
  Bytes bytes;
  append(bytes, some_hello());
  const auto payload = append_message(bytes, 3, SimTime::from_ns(-5), SimTime::from_ns(10), 4);
  std::memcpy(payload.data(), "abcd", 4);
  append(bytes, Bound{4, SimTime::never()});
  append(bytes, Credit{5, 2});
  append(bytes, Stop{"enough"});
  append(bytes, Ask{1, 9});
  append(bytes, some_answer());
  append(bytes, Resume{2, {{3, 17, SimTime::from_ns(5)}}});
  return bytes;
}

/// Kinds of the frames read when the stream is cut into pieces of this size.
std::vector<std::size_t> kinds_read(const Bytes& bytes, std::size_t piece) {
  FrameReader reader;
  std::vector<std::size_t> kinds;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    while (true) {
      Frame frame;
      const auto whole = reader.next(frame);
      if (!whole || !*whole) break;
      kinds.push_back(frame.index());
    }
  }
  return kinds;
}

std::string refused(const Bytes& bytes, std::size_t largest = default_largest_frame) {
  FrameReader reader(largest);
  reader.feed(bytes);
  while (true) {
    Frame frame;
    const auto whole = reader.next(frame);
    if (!whole) return whole.error();
    if (!*whole) return "";
  }
}

template <class T>
void overwrite(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(Wire, ReadsWhatItWroteHoweverTheStreamIsCut) {
  const Bytes bytes = all_kinds();
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    ASSERT_EQ(kinds_read(bytes, piece), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7})) << piece;
  }
}

TEST(Wire, KeepsEveryField) {
  FrameReader reader;
  reader.feed(all_kinds());
  const auto frame = [&] {
    Frame next;
    EXPECT_TRUE(*reader.next(next));
    return next;
  };
  EXPECT_EQ(std::get<Hello>(frame()), some_hello());
  const Frame message = frame();
  const auto& body = std::get<MessageFrame>(message);
  EXPECT_EQ(body.line, 3U);
  EXPECT_EQ(body.time.ns(), -5);
  EXPECT_EQ(body.next.ns(), 10);
  EXPECT_EQ(std::memcmp(body.payload.data(), "abcd", 4), 0);
  EXPECT_EQ(std::get<Bound>(frame()).time, SimTime::never());
  EXPECT_EQ(std::get<Credit>(frame()).consumed, 2U);
  EXPECT_EQ(std::get<Stop>(frame()).reason, "enough");
  EXPECT_EQ(std::get<Ask>(frame()).number, 9U);
  EXPECT_EQ(std::get<Answer>(frame()).statements, some_answer().statements);
  const Frame resume = frame();
  ASSERT_EQ(std::get<Resume>(resume).lines.size(), 1U);
  EXPECT_EQ(std::get<Resume>(resume).lines[0].received, 17U);
}

TEST(Wire, RefusesAnAnswerThatSaysItIsLongerThanItIs) {
  Bytes bytes;
  append(bytes, some_answer());
  bytes[4 + 1 + 8 + 4] = std::byte{200};  // statements
  FrameReader reader;
  reader.feed(bytes);
  Frame frame;
  const auto read = reader.next(frame);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error(), "an answer frame of the wrong size");
}

TEST(Wire, WaitsForTheOtherHalfOfAFrame) {
  const Bytes bytes = all_kinds();
  FrameReader reader;
  reader.feed(std::span(bytes).first(20));
  Frame frame;
  EXPECT_FALSE(*reader.next(frame));
  EXPECT_EQ(reader.pending(), 20U);
}

TEST(Wire, RefusesAFrameOfFourGigabytesBeforeItCame) {
  Bytes bytes = all_kinds();
  overwrite(bytes, 0, std::uint32_t{0xffffffff});
  EXPECT_EQ(refused(bytes), "a frame of 4294967295 bytes; at most 268439552 are allowed");
}

TEST(Wire, RefusesAnEmptyFrame) {
  EXPECT_EQ(refused(Bytes(4, std::byte{0})), "a frame of 0 bytes; at most 268439552 are allowed");
}

TEST(Wire, RefusesAnotherVersionAndSaysWhich) {
  Hello hello = some_hello();
  hello.version = 9;
  Bytes bytes;
  append(bytes, hello);
  EXPECT_EQ(refused(bytes), "the peer speaks version 9 of the flow protocol, this is version 3");
}

TEST(Wire, RefusesStrangersUnknownKindsAndWrongSizes) {
  Bytes bytes;
  append(bytes, some_hello());
  overwrite(bytes, 5, std::uint32_t{1});
  EXPECT_EQ(refused(bytes), "the peer does not speak Isochron flows");
  bytes.clear();
  append(bytes, Credit{1, 1});
  overwrite(bytes, 4, std::uint8_t{77});
  EXPECT_EQ(refused(bytes), "a frame of unknown kind 77");
  overwrite(bytes, 4, std::uint8_t{7});
  EXPECT_EQ(refused(bytes), "an answer frame of the wrong size");
}

TEST(Wire, IsDeadAfterTheFirstMistake) {
  FrameReader reader;
  Frame frame;
  reader.feed(Bytes(4, std::byte{0}));
  EXPECT_FALSE(reader.next(frame).ok());
  reader.feed(all_kinds());
  EXPECT_FALSE(reader.next(frame).ok());
}

}  // namespace
}  // namespace isochron::flow::wire
