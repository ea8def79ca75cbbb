// The simulated system by itself: calls at given times, without processes.

#include "programs/system/system.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstring>

namespace isochron::programs {
namespace {

using namespace std::chrono_literals;
using protocol::Call;
using protocol::SystemCall;

SimTime at(SimSpan span) { return SimTime::zero() + span; }

class SystemTest : public testing::Test, public System::House {
 protected:
  void look_again(std::uint32_t program, std::uint32_t, SimTime when) override { told.emplace_back(program, when); }
  std::int64_t prepare_child(std::uint32_t, std::uint32_t, SimTime) override { return 7; }
  std::optional<std::uint32_t> adopt_child(std::uint32_t, std::int64_t process, SimTime) override {
    if (process < 0) return std::nullopt;
    return next_program++;
  }
  Taken takes(std::uint32_t, int) override { return Taken::ignores; }
  void send_signal(std::uint32_t, int, std::uint32_t) override {}
  void kill_process(std::uint32_t, int) override {}
  void print(std::uint32_t, std::span<const std::byte>, SimTime) override {}
  void refuse(std::uint32_t, SimTime, const std::string& what) override { refused = what; }

  static Call call(SystemCall kind, int descriptor = -1, int second = -1, std::int64_t a = 0, std::int64_t b = 0) {
    Call one;
    one.call = static_cast<std::uint32_t>(kind);
    one.descriptor = descriptor;
    one.second = second;
    one.a = a;
    one.b = b;
    return one;
  }
  static Call towards(Call one, const char* ip, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, ip, &address.sin_addr);
    std::memcpy(one.address, &address, sizeof address);
    one.address_size = sizeof address;
    return one;
  }
  /// The result; nothing: it waits.
  CallResult ask(std::uint32_t program, SimTime when, const Call& one, std::string_view payload = "") {
    const auto later = system.act(program, 0, when, one, std::as_bytes(std::span(payload)));
    until = later ? later->until : SimTime::never();
    return later ? std::nullopt : CallResult(system.answer(program, 0).call.result);
  }
  CallResult wake(std::uint32_t program, SimTime when) {
    const auto later = system.wake(program, 0, when);
    return later ? std::nullopt : CallResult(system.answer(program, 0).call.result);
  }
  std::string text(std::uint32_t program) {
    const auto& payload = system.answer(program, 0).payload;
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }

  static std::vector<NetworkSpec> networks() {
    NetworkSpec network;
    network.name = "lan";
    network.latency = 10ms;
    network.hosts = {{"a", 0x0a000001}, {"b", 0x0a000002}};
    network.cuts = {{{"a"}, at(1s), at(2s)}};
    return {network};
  }
  void SetUp() override {
    system.add(0, "a");
    system.add(1, "b");
  }

  System system{static_cast<System::House&>(*this), networks(), {"a", "b"}, 1};
  std::vector<std::pair<std::uint32_t, SimTime>> told;
  std::uint32_t next_program = 2;
  std::string refused;
  SimTime until;
};

TEST_F(SystemTest, APipeGivesItsBytesThenItsEnd) {
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::pipe, 3, 4)), 0);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::write, 4), "hello"), 5);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::close, 4)), 0);
  EXPECT_EQ(ask(0, at(1ms), call(SystemCall::read, 3, -1, 100)), 5);
  EXPECT_EQ(text(0), "hello");
  EXPECT_EQ(ask(0, at(1ms), call(SystemCall::read, 3, -1, 100)), 0);
}

TEST_F(SystemTest, AFullPipeLetsItsWriterWaitUntilSomebodyReads) {
  ask(0, at(0ms), call(SystemCall::pipe, 3, 4));
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::fork)), 0);
  ASSERT_EQ(ask(0, at(0ms), call(SystemCall::forked, -1, -1, 99)), protocol::first_process + 2);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::write, 4), std::string(100'000, 'x')), std::nullopt);
  EXPECT_EQ(ask(2, at(5ms), call(SystemCall::read, 3, -1, 50'000)), 50'000);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), std::pair(std::uint32_t{0}, at(5ms)));
  EXPECT_EQ(wake(0, at(5ms)), 100'000);
}

TEST_F(SystemTest, ADatagramIsThereAfterTheLatencyAndLostInACut) {
  ask(0, at(0ms), call(SystemCall::socket, 3, -1, AF_INET, SOCK_DGRAM));
  ask(1, at(0ms), call(SystemCall::socket, 3, -1, AF_INET, SOCK_DGRAM));
  EXPECT_EQ(ask(1, at(0ms), towards(call(SystemCall::bind, 3), "0.0.0.0", 5000)), 0);
  EXPECT_EQ(ask(0, at(1ms), towards(call(SystemCall::write, 3), "10.0.0.2", 5000), "ping"), 4);
  EXPECT_EQ(ask(1, at(2ms), call(SystemCall::read, 3, -1, 100)), std::nullopt);
  EXPECT_EQ(until, at(11ms));
  EXPECT_EQ(wake(1, at(11ms)), 4);
  EXPECT_EQ(text(1), "ping");
  EXPECT_EQ(ask(0, at(1500ms), towards(call(SystemCall::write, 3), "10.0.0.2", 5000), "lost"), 4);
  Call look = call(SystemCall::read, 3, -1, 100);
  look.flags = protocol::does_not_wait;
  EXPECT_EQ(ask(1, at(3s), look), -EAGAIN);
}

TEST_F(SystemTest, AConnectionTakesARoundTripAndIsRefusedWhereNobodyListens) {
  ask(0, at(0ms), call(SystemCall::socket, 3, -1, AF_INET, SOCK_STREAM));
  EXPECT_EQ(ask(0, at(0ms), towards(call(SystemCall::connect, 3), "10.0.0.2", 80)), std::nullopt);
  EXPECT_EQ(until, at(20ms));
  EXPECT_EQ(wake(0, at(20ms)), -ECONNREFUSED);
  ask(1, at(30ms), call(SystemCall::socket, 3, -1, AF_INET, SOCK_STREAM));
  ask(1, at(30ms), towards(call(SystemCall::bind, 3), "0.0.0.0", 80));
  EXPECT_EQ(ask(1, at(30ms), call(SystemCall::listen, 3, -1, 5)), 0);
  EXPECT_EQ(ask(0, at(40ms), towards(call(SystemCall::connect, 3), "10.0.0.2", 80)), std::nullopt);
  EXPECT_EQ(ask(1, at(41ms), call(SystemCall::accept, 3, 5)), std::nullopt);
  EXPECT_EQ(until, at(50ms));
  EXPECT_EQ(wake(1, at(50ms)), 5);
  EXPECT_EQ(wake(0, at(60ms)), 0);
  EXPECT_EQ(ask(1, at(61ms), call(SystemCall::write, 5), "hi"), 2);
  EXPECT_EQ(ask(0, at(62ms), call(SystemCall::read, 3, -1, 10)), std::nullopt);
  EXPECT_EQ(until, at(71ms));
  EXPECT_EQ(wake(0, at(71ms)), 2);
}

TEST_F(SystemTest, AnEdgeIsToldOnceALevelAgain) {
  ask(0, at(0ms), call(SystemCall::pipe, 3, 4));
  ask(0, at(0ms), call(SystemCall::poll_set, 5));
  Call add = call(SystemCall::poll_add, 5, 3, EPOLLIN | EPOLLET, 42);
  add.flags = EPOLL_CTL_ADD;
  EXPECT_EQ(ask(0, at(0ms), add), 0);
  ask(0, at(0ms), call(SystemCall::write, 4), "x");
  Call look = call(SystemCall::poll_wait, 5, -1, 8);
  look.flags = protocol::does_not_wait;
  EXPECT_EQ(ask(0, at(1ms), look), 1);
  EXPECT_EQ(ask(0, at(2ms), look), 0);
  ask(0, at(3ms), call(SystemCall::write, 4), "y");
  EXPECT_EQ(ask(0, at(3ms), look), 1);
}

TEST_F(SystemTest, NonsenseIsAnsweredWithAnErrno) {
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::read, 77, -1, 10)), -EBADF);
  EXPECT_EQ(ask(0, at(0ms), call(static_cast<SystemCall>(9999))), -ENOSYS);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::socket, 3, -1, 12345, 7)), -EAFNOSUPPORT);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::wait_child, -1, -1, -1)), -ECHILD);
  EXPECT_EQ(ask(0, at(0ms), call(SystemCall::kill, -1, -1, 4711, 9)), -ESRCH);
  ask(0, at(0ms), call(SystemCall::socket, 3, -1, AF_INET, SOCK_STREAM));
  EXPECT_EQ(ask(0, at(0ms), towards(call(SystemCall::connect, 3), "8.8.8.8", 53)), -ENETUNREACH);
  EXPECT_NE(refused.find("8.8.8.8:53"), std::string::npos);
}

}  // namespace
}  // namespace isochron::programs
