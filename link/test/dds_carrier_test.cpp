#include "link/dds/dds_carrier.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "link/federation.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

class SteadyClock final : public Clock {
 public:
  WallTime now() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return WallTime::from_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }
  void sleep_until(WallTime until) override {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until.ns())));
  }
};

DdsCarrier member(const std::string& federation, std::uint32_t self) {
  return {federation, {"here", "there"}, self, {1 - self}, {0, "lo", {}}};
}

/// A process that says the same packet again and again, until it is killed.
class Speaker {
 public:
  Speaker(const std::string& federation, const std::vector<std::byte>& packet) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    DdsCarrier carrier = member(federation, 1);
    for (;;) {
      carrier.send(0, packet);
      std::this_thread::sleep_for(50ms);
    }
  }
  ~Speaker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST(DdsCarrier, AnotherVersionOnTheNetworkIsToldAndNotTaken) {
  const std::string name = "version_test_" + std::to_string(getpid());
  Packet packet;
  packet.from = 1;
  packet.session = 7;
  std::vector<std::byte> bytes;
  write_packet(bytes, packet, {});
  bytes[4] = std::byte{99};  // the version
  const Speaker other(name, bytes);

  DdsCarrier carrier = member(name, 0);
  SteadyClock clock;
  Federation federation(carrier, clock, {name, 0, {"here", "there"}, 0, {1}}, {});
  std::string told;
  const auto start = std::chrono::steady_clock::now();
  Federation::Events events;
  events.stranger = [&](const std::string& what) { told = what; };
  events.round = [&] {
    if (!told.empty() || std::chrono::steady_clock::now() - start > 30s) carrier.stop();
  };
  federation.start(events);
  carrier.run();
  EXPECT_EQ(told, "a packet of version 99; this is version " + std::to_string(packet_version));
  EXPECT_FALSE(federation.all_joined());
}

}  // namespace
}  // namespace isochron::link
