// Both ends of a serial line, and between them a wire that loses, doubles and changes bytes.

#include "protocol/serial_line.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <vector>

#include "core/random.hpp"

namespace isochron::link {
namespace {

constexpr std::uint32_t baud = 921'600;

struct End {
  explicit End(std::uint16_t room = 512) : out(room), in(room) {
    isochron_line_init(&line, out.data(), room, in.data(), room, baud, 0);
  }
  std::vector<std::uint8_t> out, in;
  isochron_line line{};
  std::deque<std::uint8_t> coming;
  std::vector<std::uint8_t> to_write, came;
};

/// What becomes of a byte on the wire.
using Wire = std::function<void(std::uint8_t, std::deque<std::uint8_t>&)>;

/// Time in steps of 10 us, a byte at a time each way, as at 921,600 baud.
struct Rig {
  explicit Rig(Wire how) : wire(std::move(how)) { isochron_line_open(&board.line, 7, now); }
  static void talk(End& end, std::deque<std::uint8_t>& wire_out, std::uint32_t at) {
    if (!end.coming.empty()) {
      const std::uint8_t byte = end.coming.front();
      end.coming.pop_front();
      isochron_line_take(&end.line, &byte, 1, at);
    }
    const std::size_t n = isochron_line_write(&end.line, end.to_write.data(), end.to_write.size());
    end.to_write.erase(end.to_write.begin(), end.to_write.begin() + static_cast<std::ptrdiff_t>(n));
    std::uint8_t bytes[64];
    const std::size_t read = isochron_line_read(&end.line, bytes, sizeof bytes);
    end.came.insert(end.came.end(), bytes, bytes + read);
    if (!wire_out.empty()) return;
    std::uint8_t packet[ISOCHRON_LINE_WIRE_MAX];
    const std::size_t size = isochron_line_next(&end.line, packet, at);
    wire_out.assign(packet, packet + size);
  }
  void step() {
    now += 10;
    talk(board, from_board, now);
    talk(host, from_host, now);
    carry(from_board, host.coming);
    carry(from_host, board.coming);
  }
  void carry(std::deque<std::uint8_t>& from, std::deque<std::uint8_t>& to) const {
    if (from.empty()) return;
    wire(from.front(), to);
    from.pop_front();
  }
  bool run(const std::function<bool()>& done, std::uint32_t most_us) {
    const std::uint32_t begun = now;
    while (!done() && now - begun < most_us) step();
    return done();
  }
  Wire wire;
  std::uint32_t now = 0xfff0'0000;  // it wraps in the course of a test
  End board, host;
  std::deque<std::uint8_t> from_board, from_host;
};

std::vector<std::uint8_t> random_bytes(RandomStream& random, std::size_t n) {
  std::vector<std::uint8_t> bytes(n);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(4) == 0 ? 0 : random.bits());
  return bytes;
}

/// Both ends write at once; what arrives is what was written.
void expect_whole(Wire wire, std::uint64_t seed, std::size_t size, std::uint32_t most_us) {
  RandomStream random(seed, "serial");
  Rig rig(std::move(wire));
  const auto up = random_bytes(random, size), down = random_bytes(random, size);
  rig.board.to_write = up;
  rig.host.to_write = down;
  EXPECT_TRUE(rig.run([&] { return rig.host.came.size() >= size && rig.board.came.size() >= size; }, most_us))
      << "seed " << seed << ": " << rig.host.came.size() << " and " << rig.board.came.size() << " of " << size;
  EXPECT_EQ(rig.host.came, up) << "seed " << seed;
  EXPECT_EQ(rig.board.came, down) << "seed " << seed;
}

TEST(SerialLine, CarriesBytesBothWaysOverAGoodWire) {
  expect_whole([](std::uint8_t byte, auto& to) { to.push_back(byte); }, 1, 100'000, 2'500'000);
}

TEST(SerialLine, SurvivesAWireThatDropsEveryHundredthByte) {
  int count = 0;
  expect_whole(
      [&](std::uint8_t byte, auto& to) {
        if (++count % 100 != 0) to.push_back(byte);
      },
      2, 20'000, 20'000'000);
}

TEST(SerialLine, SurvivesLostDoubledAndChangedBytes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream chance(seed, "wire");
    expect_whole(
        [&](std::uint8_t byte, auto& to) {
          const auto luck = chance.below(300);
          if (luck == 0) return;
          if (luck == 1) to.push_back(byte);
          if (luck == 2) byte ^= static_cast<std::uint8_t>(1U << chance.below(8));
          to.push_back(byte);
        },
        seed, 5000, 20'000'000);
  }
}

TEST(SerialLine, AWireThatIsCutForASecondGoesOn) {
  Rig* the_rig = nullptr;
  Rig rig([&](std::uint8_t byte, auto& to) {
    const std::uint32_t passed = the_rig->now - 0xfff0'0000U;
    if (passed < 50'000 || passed > 1'050'000) to.push_back(byte);
  });
  the_rig = &rig;
  rig.board.to_write.assign(20'000, 5);
  EXPECT_TRUE(rig.run([&] { return rig.host.came.size() == 20'000; }, 4'000'000)) << rig.host.came.size();
}

TEST(SerialLine, ABoardThatIsResetOpensANewStream) {
  Rig rig([](std::uint8_t byte, auto& to) { to.push_back(byte); });
  rig.board.to_write.assign(300, 1);
  ASSERT_TRUE(rig.run([&] { return rig.host.came.size() == 300; }, 1'000'000));
  EXPECT_EQ(isochron_line_was_opened(&rig.host.line), 1);
  EXPECT_EQ(isochron_line_was_opened(&rig.host.line), 0) << "once";
  isochron_line_open(&rig.board.line, 7, rig.now);  // in the middle of a packet, and with the same number
  rig.host.came.clear();
  rig.board.to_write.assign(100, 2);
  ASSERT_TRUE(rig.run([&] { return rig.host.came.size() == 100; }, 1'000'000));
  EXPECT_EQ(isochron_line_was_opened(&rig.host.line), 1);
  EXPECT_EQ(rig.host.came, std::vector<std::uint8_t>(100, 2));
}

TEST(SerialLine, WhoDoesNotReadIsNotOverrun) {
  Rig rig([](std::uint8_t byte, auto& to) { to.push_back(byte); });
  std::vector<std::uint8_t> sent(2000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i * 7);
  ASSERT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_OPEN; }, 1'000'000));
  std::size_t written = 0;
  std::vector<std::uint8_t> came;
  for (int i = 0; i < 400'000 && came.size() < sent.size(); ++i) {
    rig.now += 10;
    written += isochron_line_write(&rig.board.line, sent.data() + written, sent.size() - written);
    std::uint8_t packet[ISOCHRON_LINE_WIRE_MAX];
    if (const auto n = isochron_line_next(&rig.board.line, packet, rig.now))
      isochron_line_take(&rig.host.line, packet, n, rig.now);
    if (const auto n = isochron_line_next(&rig.host.line, packet, rig.now))
      isochron_line_take(&rig.board.line, packet, n, rig.now);
    if (i % 5000 != 0) continue;  // it reads a little, now and then
    std::uint8_t bytes[50];
    const auto n = isochron_line_read(&rig.host.line, bytes, sizeof bytes);
    came.insert(came.end(), bytes, bytes + n);
  }
  EXPECT_EQ(came, sent);
}

TEST(SerialLine, WhatIsNoPacketIsCountedAndIgnored) {
  Rig rig([](std::uint8_t byte, auto& to) { to.push_back(byte); });
  const std::string boot = "booting 1.2.3\r\n";
  rig.host.coming.assign(boot.begin(), boot.end());
  rig.host.coming.push_back(0);
  for (int i = 0; i < 5000; ++i) rig.host.coming.push_back(0xff);  // longer than any packet
  rig.host.coming.push_back(0);
  rig.board.to_write.assign(10, 3);
  EXPECT_TRUE(rig.run([&] { return rig.host.came.size() == 10; }, 2'000'000));
  EXPECT_GE(rig.host.line.damaged, 2U);
}

}  // namespace
}  // namespace isochron::link
