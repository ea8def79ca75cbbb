// A target and hosts that do not behave: without the key, or with more to say than they were asked.

#include "client/tcp_link.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace isochron::client {
namespace {

TcpAddress target(std::size_t key_bytes = 0) {
  TcpAddress address{.host = "127.0.0.1", .port = "1", .name = "uav/pilot"};
  address.key.fill(std::byte{7});
  address.key_bytes = key_bytes;
  return address;
}

/// Says what it has to say at once; what the target answers is thrown away.
class Host {
 public:
  Host() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~Host() { ::close(ends_[0]); }
  [[nodiscard]] int target_end() const { return ends_[1]; }

  template <class Message>
  void say(const Message& message) {
    std::vector<std::byte> room(wire::overhead_max);
    send(std::span(room).first(wire::write(room, message)));
  }
  void answer(const wire::Answer& answer) {
    std::vector<std::byte> room(wire::overhead_max + answer.payload.size());
    const std::size_t head = wire::write_head(room, answer);
    std::copy(answer.payload.begin(), answer.payload.end(), room.begin() + static_cast<std::ptrdiff_t>(head));
    send(std::span(room).first(head + answer.payload.size()));
  }

 private:
  void send(std::span<const std::byte> frame) {
    std::vector<std::byte> all(4 + frame.size());
    for (std::size_t i = 0; i < 4; ++i) all[i] = static_cast<std::byte>(frame.size() >> (8 * i));
    std::copy(frame.begin(), frame.end(), all.begin() + 4);
    EXPECT_EQ(::send(ends_[0], all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
  }
  int ends_[2] = {-1, -1};
};

struct Attached {
  explicit Attached(Host& host) {
    host.say(wire::Greeting{});
    host.say(wire::Welcome{.session = 1});
    std::uint64_t session = 0;
    opened = link.open_on(host.target_end(), target(), session, why);
  }
  TcpLink link;
  std::string why;
  bool opened = false;
};

TEST(TcpLink, WhoHasAKeyDoesNotObeyAHostThatAsksForNone) {
  Host host;
  host.say(wire::Greeting{});
  host.say(wire::Welcome{.session = 1});
  TcpLink link;
  std::string why;
  std::uint64_t session = 0;
  EXPECT_FALSE(link.open_on(host.target_end(), target(32), session, why));
  EXPECT_NE(why.find("does not prove that it holds our key"), std::string::npos) << why;
}

TEST(TcpLink, WhoHasAKeyDoesNotObeyAHostThatCannotProveIt) {
  Host host;
  host.say(wire::Greeting{.key_needed = true});
  host.say(wire::Welcome{.session = 1});
  TcpLink link;
  std::string why;
  std::uint64_t session = 0;
  EXPECT_FALSE(link.open_on(host.target_end(), target(32), session, why));
  EXPECT_NE(why.find("does not hold our key"), std::string::npos) << why;
}

TEST(TcpLink, WithoutAKeyOnBothSidesItIsServed) {
  Host host;
  Attached target(host);
  ASSERT_TRUE(target.opened) << target.why;
  const std::vector<std::byte> bytes(8, std::byte{9});
  host.answer({.time = 5, .payload = bytes});
  std::array<std::byte, 8> room{};
  protocol::Exchange exchange;
  ASSERT_TRUE(target.link.ask(exchange, {nullptr, 0, room.data(), room.size()}, target.why)) << target.why;
  EXPECT_EQ(exchange.size, 8U);
  EXPECT_EQ(room[7], std::byte{9});
}

TEST(TcpLink, TakesNoMoreBytesThanItAskedFor) {
  Host host;
  Attached target(host);
  ASSERT_TRUE(target.opened) << target.why;
  const std::vector<std::byte> bytes(100, std::byte{9});
  host.answer({.payload = bytes});
  std::array<std::byte, 16> room{};
  protocol::Exchange exchange;
  EXPECT_FALSE(target.link.ask(exchange, {nullptr, 0, room.data(), 8}, target.why));
  EXPECT_NE(target.why.find("more bytes than were asked for"), std::string::npos) << target.why;
  EXPECT_LE(exchange.size, 8U);
  EXPECT_EQ(room[0], std::byte{0});
}

TEST(TcpLink, ARefusalsWordsAreNotTakenForData) {
  Host host;
  Attached target(host);
  ASSERT_TRUE(target.opened) << target.why;
  const std::string words = "there is no such name";
  host.answer({.verdict = static_cast<std::uint8_t>(protocol::Verdict::unknown_name),
               .payload = std::as_bytes(std::span(words))});
  protocol::Exchange exchange;
  EXPECT_TRUE(target.link.ask(exchange, {}, target.why));
  EXPECT_EQ(target.why, words);
  EXPECT_EQ(exchange.size, 0U);
}

TEST(TcpLink, AHostThatSaysTheEndOfTimeDoesNotUpsetTheClock) {
  Host host;
  Attached target(host);
  ASSERT_TRUE(target.opened) << target.why;
  host.answer({.time = INT64_MAX});
  protocol::Exchange exchange;
  EXPECT_TRUE(target.link.ask(exchange, {}, target.why));
  EXPECT_EQ(target.link.now(), INT64_MAX);
}

}  // namespace
}  // namespace isochron::client
