// A host's serial line over a pty, with a board at the other end.

#include "link/serial.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>

#include "link/fd.hpp"
#include "protocol/serial_line.h"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

/// The board's end: a pty's master, and a line on it.
struct Board {
  Board() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(master.get()), 0);
    EXPECT_EQ(::unlockpt(master.get()), 0);
    device = ::ptsname(master.get());
  }
  void open(std::uint32_t now) {
    isochron_line_init(&line, out.data(), 512, in.data(), 512, 921'600, now);
    isochron_line_open(&line, ++session, now);
  }
  void turn(std::uint32_t now) {
    std::array<std::uint8_t, 256> bytes;
    const ssize_t n = ::read(master.get(), bytes.data(), bytes.size());
    if (n > 0) isochron_line_take(&line, bytes.data(), static_cast<std::size_t>(n), now);
    while (const std::size_t size = isochron_line_next(&line, bytes.data(), now)) {
      ASSERT_EQ(::write(master.get(), bytes.data(), size), static_cast<ssize_t>(size));
    }
    const std::size_t got = isochron_line_read(&line, bytes.data(), bytes.size());
    came.append(reinterpret_cast<const char*>(bytes.data()), got);
  }
  void say(const std::string& text) {
    EXPECT_EQ(isochron_line_write(&line, reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), text.size());
  }
  Fd master;
  std::string device, came;
  std::array<std::uint8_t, 512> out{}, in{};
  isochron_line line{};
  std::uint16_t session = 0;
};

struct Rig {
  Rig() {
    auto opened = listen_serial(reactor, {board.device, 921'600}, [this](std::unique_ptr<Stream> fresh) {
      stream = std::move(fresh);
      ++streams;
      stream->set_events({[this](std::span<const std::byte> bytes) {
                            came.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                            stream->send(bytes);
                          },
                          {},
                          [this](const NetError& error) { closed = error.what; }});
    });
    EXPECT_TRUE(opened.ok()) << opened.error();
    if (opened.ok()) listener = std::move(*opened);
  }
  [[nodiscard]] std::uint32_t now() { return static_cast<std::uint32_t>(reactor.now().ns() / 1000); }
  bool run(const std::function<bool()>& done, WallSpan most = 5s) {
    const WallTime until = reactor.now() + most;
    while (!done() && reactor.now() < until) {
      board.turn(now());
      reactor.poll(reactor.now() + WallSpan(1ms));
    }
    return done();
  }
  Board board;
  EpollReactor reactor;
  std::string came, closed;
  int streams = 0;
  std::unique_ptr<SerialListener> listener;
  std::unique_ptr<Stream> stream;
};

TEST(Serial, IsWrittenAsDeviceAndSpeed) {
  const auto good = parse_serial("/dev/serial/by-id/usb-ST:1:921600");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->device, "/dev/serial/by-id/usb-ST:1");
  EXPECT_EQ(good->baud, 921'600U);
  for (const char* bad : {"", ":", "/dev/ttyACM0", "/dev/ttyACM0:", "/dev/ttyACM0:fast", "/dev/ttyACM0:-1",
                          "ttyACM0:9600", "/dev/ttyACM0:0", "/dev/ttyACM0:99999999999"}) {
    EXPECT_FALSE(parse_serial(bad).ok()) << bad;
  }
}

TEST(Serial, SaysWhatIsWrongWithADevice) {
  EpollReactor reactor;
  const auto missing = listen_serial(reactor, {"/dev/no-such-line", 9600}, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("/dev/no-such-line: No such file"), std::string::npos) << missing.error();
  const auto null = listen_serial(reactor, {"/dev/null", 9600}, {});
  ASSERT_FALSE(null.ok());
  EXPECT_NE(null.error().find("is not a serial line"), std::string::npos) << null.error();
}

TEST(Serial, TwoHostsDoNotShareALine) {
  Rig rig;
  EpollReactor other;
  const auto second = listen_serial(other, {rig.board.device, 9600}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().find("is in use by another host"), std::string::npos) << second.error();
}

TEST(Serial, ABoardThatOpensTheLineIsAStream) {
  Rig rig;
  rig.board.open(rig.now());
  ASSERT_TRUE(rig.run([&] { return rig.streams == 1 && rig.board.line.state == ISOCHRON_LINE_OPEN; }));
  rig.board.say("hello");
  ASSERT_TRUE(rig.run([&] { return rig.board.came == "hello"; })) << rig.came;
  EXPECT_TRUE(rig.run([&] { return rig.stream->pending() == 0; })) << "it was acknowledged";
  EXPECT_TRUE(rig.stream->arrived().has_value());
}

TEST(Serial, ABoardThatIsResetIsAnotherStream) {
  Rig rig;
  rig.board.open(rig.now());
  ASSERT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_OPEN; }));
  rig.board.say("one");
  ASSERT_TRUE(rig.run([&] { return rig.came == "one"; }));
  rig.board.open(rig.now());
  ASSERT_TRUE(rig.run([&] { return rig.streams == 2; }));
  EXPECT_NE(rig.closed.find("opened the line anew"), std::string::npos) << rig.closed;
  rig.board.came.clear();
  ASSERT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_OPEN; }));
  rig.board.say("two");
  EXPECT_TRUE(rig.run([&] { return rig.board.came == "two"; })) << rig.board.came;
}

TEST(Serial, AStreamThatIsDroppedGetsThroughAndClosesTheLine) {
  Rig rig;
  rig.board.open(rig.now());
  ASSERT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_OPEN; }));
  const std::string words(3000, 'w');
  rig.stream->send(std::as_bytes(std::span(words)));
  rig.stream.reset();
  EXPECT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_CLOSED; }));
  EXPECT_EQ(rig.board.came, words);
  rig.board.open(rig.now());
  EXPECT_TRUE(rig.run([&] { return rig.streams == 2; })) << "and it can be opened again";
}

TEST(Serial, ALineThatIsPulledEndsItsStream) {
  Rig rig;
  rig.board.open(rig.now());
  ASSERT_TRUE(rig.run([&] { return rig.board.line.state == ISOCHRON_LINE_OPEN; }));
  rig.board.master.reset();
  for (int i = 0; i < 100 && rig.closed.empty(); ++i) rig.reactor.poll(rig.reactor.now() + WallSpan(10ms));
  EXPECT_NE(rig.closed.find("went away"), std::string::npos) << rig.closed;
}

}  // namespace
}  // namespace isochron::link
