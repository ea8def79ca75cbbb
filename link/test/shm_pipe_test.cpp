#include "link/shm_pipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "link/futex.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Pair {
  explicit Pair(const PipeOptions& options = {})
      : one(std::move(*ShmPipe::create(options))), two(std::move(*ShmPipe::attach(same(one), options))) {}
  static SharedMemory same(const ShmPipe& pipe) {
    return std::move(*SharedMemory::adopt(Fd(::dup(pipe.memory().fd()))));
  }
  ShmPipe one, two;
};

TEST(ShmPipe, CarriesFramesBothWays) {
  Pair pipe;
  ASSERT_TRUE(pipe.one.send(bytes("ping")).ok());
  EXPECT_EQ(text(*pipe.two.receive()), "ping");
  ASSERT_TRUE(pipe.two.send(bytes("")).ok());
  ASSERT_TRUE(pipe.two.send(bytes("pong")).ok());
  EXPECT_EQ(text(*pipe.one.receive()), "");
  EXPECT_EQ(text(*pipe.one.receive()), "pong");
  EXPECT_EQ(pipe.one.receive(0ms).error(), PipeFault::timeout);
  EXPECT_EQ(pipe.one.receive(1ms).error(), PipeFault::timeout);
}

TEST(ShmPipe, ShowsNothingBeforeItIsPublished) {
  Pair pipe;
  for (const char c : {'a', 'b'}) {
    auto room = pipe.one.reserve(100);
    (*room)[0] = static_cast<std::byte>(c);
    pipe.one.commit(1);
  }
  EXPECT_EQ(pipe.two.receive(0ms).error(), PipeFault::timeout);
  pipe.one.publish();
  EXPECT_EQ(text(*pipe.two.receive(0ms)), "a");
  EXPECT_EQ(text(*pipe.two.receive(0ms)), "b");
}

TEST(ShmPipe, HoldsFramesUpToItsSizeAndTellsWhenFull) {
  Pair pipe({.capacity = 4096});
  const std::vector<std::byte> largest(pipe.one.largest_frame(), std::byte{7});
  EXPECT_EQ(largest.size(), 4088U);
  EXPECT_EQ(pipe.one.send(std::vector<std::byte>(4089)).error(), PipeFault::too_long);
  ASSERT_TRUE(pipe.one.send(largest, 0ms).ok());
  EXPECT_EQ(pipe.one.send(bytes("more"), 0ms).error(), PipeFault::timeout);
  EXPECT_EQ(pipe.one.send(bytes("more"), 1ms).error(), PipeFault::timeout);
  EXPECT_EQ(pipe.two.receive()->size(), largest.size());
  pipe.two.release();
  EXPECT_TRUE(pipe.one.send(bytes("more"), 0ms).ok());
}

TEST(ShmPipe, PayloadsAreAlignedAndUnbrokenAcrossTheSeam) {
  Pair pipe({.capacity = 4096});
  RandomStream random(1, "pipe");
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> frame(random.below(1500));
    for (auto& b : frame) b = static_cast<std::byte>(random.bits());
    ASSERT_TRUE(pipe.one.send(frame, 0ms).ok());
    const auto got = pipe.two.receive(0ms);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got->data()) % 8, 0U);
    ASSERT_TRUE(std::equal(got->begin(), got->end(), frame.begin(), frame.end()));
  }
}

TEST(ShmPipe, AClosedSideIsToldAfterItsLastFrame) {
  Pair pipe;
  ASSERT_TRUE(pipe.one.send(bytes("bye")).ok());
  pipe.one.close();
  EXPECT_EQ(text(*pipe.two.receive()), "bye");
  EXPECT_EQ(pipe.two.receive().error(), PipeFault::closed);
  EXPECT_EQ(pipe.two.send(bytes("hello?")).error(), PipeFault::closed);
}

TEST(ShmPipe, IsFoundByNameAndTheNameGoesWithItsCreator) {
  std::string name;
  {
    auto one = ShmPipe::create({}, "pipe_test");
    ASSERT_TRUE(one.ok()) << one.error();
    name = one->memory().name();
    EXPECT_THAT(name, HasSubstr("pipe_test"));
    auto two = ShmPipe::attach(std::move(*SharedMemory::open(name)));
    ASSERT_TRUE(two.ok());
    EXPECT_THAT(ShmPipe::attach(std::move(*SharedMemory::open(name))).error(), HasSubstr("somebody else"));
  }
  EXPECT_THAT(SharedMemory::open(name).error(), HasSubstr(name));
}

TEST(ShmPipe, RefusesMemoryThatIsNoPipe) {
  EXPECT_FALSE(ShmPipe::attach(std::move(*SharedMemory::anonymous(100))).ok());
  EXPECT_FALSE(ShmPipe::attach(std::move(*SharedMemory::anonymous(1 << 20))).ok());
}

TEST(ShmPipe, SurvivesAPeerThatWritesNonsense) {
  RandomStream random(1, "nonsense");
  for (int round = 0; round < 300; ++round) {
    Pair pipe({.capacity = 4096});
    ASSERT_TRUE(pipe.one.send(bytes("good")).ok());
    auto memory = pipe.one.memory().bytes();
    // Everything but the header's first words, which are read at attach only.
    for (int i = 0; i < 200; ++i) memory[64 + random.below(memory.size() - 64)] = static_cast<std::byte>(random.bits());
    for (int i = 0; i < 50; ++i) {
      const auto got = pipe.two.receive(0ms);
      if (!got) break;
      std::size_t sum = 0;
      for (const std::byte b : *got) sum += std::to_integer<std::size_t>(b);
      EXPECT_LE(sum, got->size() * 255);
    }
    (void)pipe.two.send(bytes("x"), 0ms);
  }
}

TEST(ShmPipe, TellsALengthThatCannotBe) {
  Pair pipe({.capacity = 4096});
  ASSERT_TRUE(pipe.one.send(bytes("good")).ok());
  // Ring 0 lies behind the header, before ring 1; both have 4096 bytes.
  auto ring = pipe.one.memory().bytes().last(8192);
  std::memset(ring.data(), 0xff, 4);
  EXPECT_EQ(pipe.two.receive(0ms).error(), PipeFault::corrupt);
  EXPECT_EQ(pipe.two.receive(0ms).error(), PipeFault::corrupt) << "for good";
}

// Two processes.

struct Numbered {
  std::uint64_t number;
  std::uint64_t length;
};

/// A frame whose bytes follow from its number.
std::vector<std::byte> numbered(std::uint64_t number, RandomStream& random) {
  std::vector<std::byte> frame(sizeof(Numbered) + random.below(random.chance(0.05) ? 3000 : 100));
  const Numbered head{number, frame.size()};
  std::memcpy(frame.data(), &head, sizeof head);
  for (std::size_t i = sizeof head; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(number * 37 + i);
  return frame;
}

bool right(std::span<const std::byte> frame, std::uint64_t number) {
  Numbered head{};
  if (frame.size() < sizeof head) return false;
  std::memcpy(&head, frame.data(), sizeof head);
  if (head.number != number || head.length != frame.size()) return false;
  for (std::size_t i = sizeof head; i < frame.size(); ++i) {
    if (frame[i] != static_cast<std::byte>(number * 37 + i)) return false;
  }
  return true;
}

/// Echoes until the other side closes; exit code 0.
[[noreturn]] void echo(const ShmPipe& parents, const PipeOptions& options) {
  auto pipe = ShmPipe::attach(Pair::same(parents), options);
  while (pipe.ok()) {
    const auto frame = pipe->receive();
    if (!frame) ::_exit(frame.error() == PipeFault::closed ? 0 : 1);
    if (!pipe->send(*frame)) ::_exit(2);
  }
  ::_exit(3);
}

class TwoProcesses : public ::testing::TestWithParam<int> {};

TEST_P(TwoProcesses, EchoManyFramesWholeAndInOrder) {
  // Sender and receiver on different threads, so that the rings fill up in both directions.
  const PipeOptions options{.capacity = 8192, .spin = std::chrono::microseconds(GetParam())};
  auto pipe = std::move(*ShmPipe::create(options));
  const pid_t child = ::fork();
  if (child == 0) echo(pipe, options);
  constexpr std::uint64_t frames = 20'000;
  std::thread sender([&] {
    RandomStream random(1, "frames");
    for (std::uint64_t i = 0; i < frames; ++i) ASSERT_TRUE(pipe.send(numbered(i, random), 10s).ok());
  });
  std::uint64_t good = 0;
  for (std::uint64_t i = 0; i < frames; ++i) {
    const auto frame = pipe.receive(10s);
    ASSERT_TRUE(frame.ok()) << to_string(frame.error());
    good += right(*frame, i) ? 1 : 0;
  }
  sender.join();
  EXPECT_EQ(good, frames);
  pipe.close();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Spin, TwoProcesses, ::testing::Values(0, 20));

TEST(ShmPipe, AKilledPeerIsNoticedByWhoWaits) {
  for (const bool reading : {true, false}) {
    const PipeOptions options{.capacity = 4096, .death_check = 5ms};
    auto pipe = std::move(*ShmPipe::create(options));
    const pid_t child = ::fork();
    if (child == 0) {
      auto mine = ShmPipe::attach(Pair::same(pipe), options);
      (void)mine->send(bytes("attached"));
      ::pause();
    }
    EXPECT_EQ(text(*pipe.receive(10s)), "attached");
    EXPECT_EQ(pipe.peer_pid(), child);
    EXPECT_FALSE(pipe.peer_died());
    std::thread killer([&] {
      std::this_thread::sleep_for(10ms);
      ::kill(child, SIGKILL);
    });
    if (reading) {
      EXPECT_EQ(pipe.receive(10s).error(), PipeFault::died);
    } else {
      PipeFault fault{};
      for (int i = 0; i < 1000 && fault != PipeFault::died; ++i) {
        const auto sent = pipe.send(std::vector<std::byte>(1000), 10s);
        if (!sent) fault = sent.error();
      }
      EXPECT_EQ(fault, PipeFault::died);
    }
    killer.join();
    EXPECT_TRUE(pipe.peer_died());
    ::waitpid(child, nullptr, 0);
  }
}

TEST(ShmPipe, WhatADeadPeerPublishedCanStillBeRead) {
  auto pipe = std::move(*ShmPipe::create());
  const pid_t child = ::fork();
  if (child == 0) {
    auto mine = ShmPipe::attach(Pair::same(pipe));
    (void)mine->send(bytes("last"));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(text(*pipe.receive(10s)), "last");
  EXPECT_EQ(pipe.receive(10s).error(), PipeFault::died);
}

TEST(SharedMemory, WhatAKilledCreatorLeftIsRemoved) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto memory = SharedMemory::create("left_behind", 4096);
    [[maybe_unused]] const auto n = ::write(ready[1], "x", 1);
    ::raise(SIGKILL);
  }
  char c = 0;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  ::waitpid(child, nullptr, 0);
  const std::string name = "isochron." + std::to_string(child) + ".left_behind";
  EXPECT_TRUE(SharedMemory::open(name).ok());
  const auto kept = SharedMemory::create("in_use", 4096);
  EXPECT_GE(SharedMemory::remove_stale(), 1);
  EXPECT_FALSE(SharedMemory::open(name).ok());
  EXPECT_TRUE(SharedMemory::open(kept->name()).ok()) << "those of the living stay";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(SharedMemory, RefusesNamesThatCannotBe) {
  EXPECT_FALSE(SharedMemory::create("", 4096).ok());
  EXPECT_FALSE(SharedMemory::create("a/b", 4096).ok());
  EXPECT_FALSE(SharedMemory::open("isochron.0.none").ok());
}

TEST(Doorbell, LosesNoRing) {
  // Two threads take turns; a missed ring would hang until the timeout.
  for (const WallSpan spin : {WallSpan(0us), WallSpan(5us)}) {
    Doorbell ping{}, pong{};
    std::atomic<int> turn = 0;
    int plain = 0;  // guarded by the turns: ThreadSanitizer would tell if the bell ordered nothing
    constexpr int rounds = 3000;
    std::thread other([&] {
      for (int i = 0; i < rounds; ++i) {
        ASSERT_TRUE(ping.wait([&] { return turn.load(std::memory_order_acquire) == 2 * i + 1; }, spin, 20s));
        ++plain;
        turn.store(2 * i + 2, std::memory_order_release);
        pong.ring();
      }
    });
    for (int i = 0; i < rounds; ++i) {
      ++plain;
      turn.store(2 * i + 1, std::memory_order_release);
      ping.ring();
      ASSERT_TRUE(pong.wait([&] { return turn.load(std::memory_order_acquire) == 2 * i + 2; }, spin, 20s));
    }
    other.join();
    EXPECT_EQ(plain, 2 * rounds);
  }
}

}  // namespace
}  // namespace isochron::link
