// Server and clients on real sockets, with and without handler threads.

#include "agents/server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "agents/client.hpp"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;

const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "test");

class RunningServer {
 public:
  explicit RunningServer(ServerSettings settings, std::uint32_t clients = 0) {
    server_ = std::make_unique<Server>(reactor_, key, Address::loopback(0), settings);
    if (clients > 0) server_->expect(clients, 60s);
    thread_ = std::thread([this] { reactor_.run(); });
  }
  ~RunningServer() {
    stop();
    server_.reset();
  }
  void stop() {
    if (!thread_.joinable()) return;
    reactor_.stop();
    thread_.join();
  }
  [[nodiscard]] Address address() const { return server_->address(); }
  /// Once stopped.
  [[nodiscard]] ServerReport report() const { return server_->report(); }

 private:
  link::EpollReactor reactor_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

ClientSettings named(const std::string& name, const Address& server) {
  ClientSettings settings;
  settings.server = server;
  settings.name = name;
  return settings;
}

/// Steps one agent for so many heartbeats; gives the most that another's state was behind.
SimSpan drive(const std::string& name, const Address& server, int beats, std::atomic<std::uint64_t>& seen,
              const link::Faults& faults = {}) {
  Client client(key, named(name, server), faults);
  EXPECT_EQ(client.join(60s), "");
  const auto car = client.add(name + "_car", {}, body_type_url());
  SimSpan oldest{};
  SimTime t = client.start();
  for (int i = 0; i < beats; ++i) {
    client.publish(car, t, BodyState{.position = {t.seconds(), 0, 0}, .linear = {1, 0, 0}});
    const Turn turn = client.pass(t);
    if (turn.kind == Turn::over) {
      ADD_FAILURE() << turn.why;
      break;
    }
    if (turn.kind == Turn::begin_at) {
      t = turn.time;
      continue;
    }
    client.look([&](const StateCache& cache) {
      cache.for_each([&](const Outsider& other) {
        const Sample sample = cache.at(other, t);
        EXPECT_NEAR(sample.body->position[0], t.seconds(), 1e-6);
        oldest = std::max(oldest, sample.age);
        seen.fetch_add(1);
      });
    });
    t += client.heartbeat();
  }
  return oldest;
}

void two_clients_stay_together(unsigned handlers, const link::Faults& faults) {
  ServerSettings settings;
  settings.handlers = handlers;
  settings.world.silence = 60s;  // whatever the machine does
  settings.world.stall = 60s;
  RunningServer server(settings, 2);
  std::atomic<std::uint64_t> seen{0};
  SimSpan oldest{};
  std::thread other([&] { drive("b", server.address(), 300, seen); });
  oldest = drive("a", server.address(), 300, seen, faults);
  other.join();
  server.stop();
  EXPECT_GT(seen.load(), 100U);
  // Over a bad link more than two heartbeats are rare, but not impossible: the simulated world counts them.
  if (!faults.any()) {
    EXPECT_LE(oldest, SimSpan(10ms)) << "two heartbeats";
  }
  EXPECT_EQ(server.report().map.fenced, 0U);
  EXPECT_EQ(server.report().counts.of(Drop::forged), 0U);
}

TEST(AgentsOnRealSockets, StayTogether) { two_clients_stay_together(0, {}); }
TEST(AgentsOnRealSockets, StayTogetherWithHandlersOnThreadsOfTheirOwn) { two_clients_stay_together(2, {}); }
TEST(AgentsOnRealSockets, StayTogetherOverABadLink) {
  two_clients_stay_together(0, {.loss = 0.05, .delay = 1ms, .jitter = 500us, .reorder = true});
}

TEST(AgentsOnRealSockets, AWrongKeyIsDeclinedForGood) {
  RunningServer server({});
  Client stranger(link::Key::parse("ffffffffffffffffffffffffffffffff", "test"), named("a", server.address()));
  EXPECT_EQ(stranger.join(60s), "the key is not the right one");
}

TEST(AgentsOnRealSockets, ASecondClientOfTheSameNameHasToWait) {
  RunningServer server({});
  Client first(key, named("a", server.address()));
  EXPECT_EQ(first.join(60s), "");
  Client second(key, named("a", server.address()));
  EXPECT_EQ(second.join(300ms), "a client named a is here");
}

/// One end of a joining, by hand: what comes in frames, and what is sent as frames.
class RawStream {
 public:
  explicit RawStream(int socket) : socket_(socket) {}
  static RawStream to(const Address& server) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(server.port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    return RawStream(socket);
  }
  RawStream(RawStream&&) = default;
  ~RawStream() {
    if (socket_.get() >= 0) ::close(socket_.get());
  }
  wire::Handshake next() {
    std::array<unsigned char, 4> head{};
    wire::Handshake what;
    if (::recv(socket_.get(), head.data(), head.size(), MSG_WAITALL) != 4) return what;
    std::vector<char> body(head[0] | head[1] << 8 | head[2] << 16);
    if (::recv(socket_.get(), body.data(), body.size(), MSG_WAITALL) == static_cast<ssize_t>(body.size())) {
      what.ParseFromArray(body.data(), static_cast<int>(body.size()));
    }
    return what;
  }
  void say(const wire::Handshake& what) {
    const auto frame = framed(what);
    EXPECT_EQ(::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
  }

 private:
  struct Owned {
    explicit Owned(int fd) : fd_(fd) {}
    Owned(Owned&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    [[nodiscard]] int get() const { return fd_; }
    int fd_;
  } socket_;
};

/// A holder of the key that says where it was; what the server answers to that.
wire::Handshake resumed(const Address& server, std::int64_t progress_ns, wire::Handshake* after = nullptr) {
  RawStream stream = RawStream::to(server);
  link::Responder responder(key, handshake_context);
  link::Nonce nonce;
  const wire::Handshake challenge = stream.next();
  EXPECT_EQ(challenge.challenge().nonce().size(), nonce.size());
  std::memcpy(nonce.data(), challenge.challenge().nonce().data(), nonce.size());
  const link::Answer answer = responder.answer(nonce);
  wire::Handshake reply;
  wire::ConnectRequest& request = *reply.mutable_request();
  request.set_protocol(protocol_version);
  request.set_name("raw" + std::to_string(progress_ns));
  request.set_nonce(answer.nonce.data(), answer.nonce.size());
  request.set_proof(answer.proof.data(), answer.proof.size());
  request.mutable_resume()->set_epoch(77);
  request.mutable_resume()->set_clients(2);
  request.mutable_resume()->set_progress_ns(progress_ns);
  stream.say(reply);
  const wire::Handshake accepted = stream.next();
  if (after != nullptr) *after = stream.next();
  return accepted;
}

TEST(AgentsOnRealSockets, AnyClaimedProgressLeavesTheServerStandingAndTimeAsItWas) {
  RunningServer server({});
  for (const std::int64_t claim : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, INT64_MAX - 1, INT64_MAX}) {
    EXPECT_TRUE(resumed(server.address(), claim).has_accept()) << claim;
  }
  Client honest(key, named("a", server.address()));
  EXPECT_EQ(honest.join(60s), "");
  EXPECT_EQ(honest.start(), SimTime::zero());
}

TEST(AgentsOnRealSockets, WhatComesAfterTheProofIsSealed) {
  RunningServer server({});
  wire::Handshake after;
  ASSERT_TRUE(resumed(server.address(), 0, &after).has_accept());
  EXPECT_EQ(after.what_case(), wire::Handshake::kSealed) << "a man in the middle could change it";
}

TEST(AgentsOnRealSockets, AWorldThatIsNotSealedIsNotBelieved) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &length), 0);
  // Proves the key, as whoever stands between a client and the true server lets that one do, and changes the rest.
  std::thread changed([&] {
    RawStream stream(::accept(listener, nullptr, nullptr));
    link::Challenger challenger(key, handshake_context);
    wire::Handshake what;
    what.mutable_challenge()->set_protocol(protocol_version);
    what.mutable_challenge()->set_nonce(challenger.challenge().data(), challenger.challenge().size());
    stream.say(what);
    const wire::Handshake request = stream.next();
    link::Answer answer;
    std::memcpy(answer.nonce.data(), request.request().nonce().data(), answer.nonce.size());
    std::memcpy(answer.proof.data(), request.request().proof().data(), answer.proof.size());
    const auto welcome = challenger.check(answer);
    ASSERT_TRUE(welcome);
    what.mutable_accept()->set_proof(welcome->proof.data(), welcome->proof.size());
    stream.say(what);
    what.mutable_connection()->set_number(7);
    stream.say(what);
    what.mutable_world()->set_heartbeat_ns(1'000'000'000);
    stream.say(what);
    (void)stream.next();  // until the client hangs up
  });
  Client client(key, named("a", Address::loopback(ntohs(at.sin_port))));
  EXPECT_EQ(client.join(500ms), "the peer at that address is not an agents server");
  changed.join();
  ::close(listener);
}

TEST(AgentsOnRealSockets, IdleVisitorsKeepNobodyOut) {
  RunningServer server({});
  std::vector<RawStream> idle;
  for (int i = 0; i < 100; ++i) idle.push_back(RawStream::to(server.address()));
  Client client(key, named("a", server.address()));
  EXPECT_EQ(client.join(3s), "");
}

}  // namespace
}  // namespace isochron::agents
