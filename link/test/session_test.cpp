// Two ends of a session over a line that loses, doubles, reorders and breaks, over many seeds; and federations over TCP
// on a simulated network.

#include "link/session.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/random.hpp"
#include "link/federation.hpp"
#include "link/tcp_carrier.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Packet address(std::uint32_t from, std::uint32_t to) {
  Packet packet;
  packet.federation = 7;
  packet.from = from;
  packet.to = to;
  return packet;
}

/// Two sessions and what is on its way between them.
class Line {
 public:
  explicit Line(std::uint64_t seed, double loss = 0) : random_(seed, "line"), loss_(loss) {}

  Session a{address(0, 1), 101, {}, [this](const Packet& p) { put(p, 1); }};
  Session b{address(1, 0), 202, {}, [this](const Packet& p) { put(p, 0); }};
  Bytes at_a, at_b;
  bool cut = false;
  std::vector<Bytes>* recorded = nullptr;  // what b sends
  std::function<void(const Packet&)> on_packet_to_b;
  WallTime now = WallTime::zero() + 1s;

  void run_for(WallSpan span) {
    for (const WallTime end = now + span; now < end; now += 1ms) {
      while (!flying_.empty() && flying_.begin()->first <= now) {
        const auto [to, bytes] = flying_.begin()->second;
        flying_.erase(flying_.begin());
        deliver(to, bytes);
      }
      a.tick(now);
      b.tick(now);
    }
  }
  void deliver(int to, const Bytes& bytes) {
    const auto packet = read_packet(bytes, std::nullopt);
    ASSERT_TRUE(packet.ok()) << packet.error();
    const auto body = (to == 0 ? a : b).take(*packet, now).bytes;
    Bytes& into = to == 0 ? at_a : at_b;
    into.insert(into.end(), body.begin(), body.end());
  }

 private:
  void put(const Packet& packet, int to) {
    if (to == 1 && on_packet_to_b) on_packet_to_b(packet);
    if (to == 0 && recorded != nullptr && !cut) write_packet(recorded->emplace_back(), packet, std::nullopt);
    if (cut || random_.chance(loss_)) return;
    Bytes bytes;
    write_packet(bytes, packet, std::nullopt);
    const auto copies = random_.chance(loss_) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      flying_.emplace(now + WallSpan::from_ns(static_cast<std::int64_t>(random_.below(20'000'000))),
                      std::pair(to, bytes));
    }
  }
  RandomStream random_;
  double loss_;
  std::multimap<WallTime, std::pair<int, Bytes>> flying_;
};

TEST(Session, LosesNothingOnALineThatLosesDoublesAndReorders) {
  EXPECT_EVERY_SEED(200, [](std::uint64_t seed) {
    Line line(seed, 0.3);
    Bytes from_a, from_b;
    RandomStream random(seed, "text");
    for (int i = 0; i < 40; ++i) {
      const Bytes text(1 + random.below(50), static_cast<std::byte>(i));
      Bytes& log = random.chance(0.5) ? from_a : from_b;
      log.insert(log.end(), text.begin(), text.end());
      (&log == &from_a ? line.a : line.b).send(text, line.now);
      line.run_for(WallSpan::from_ns(static_cast<std::int64_t>(random.below(30'000'000))));
    }
    for (int i = 0; i < 200 && !(line.a.drained() && line.b.drained()); ++i) line.run_for(100ms);
    EXPECT_EQ(line.at_b, from_a);
    EXPECT_EQ(line.at_a, from_b);
  });
}

TEST(Session, GoesOnAfterAPartitionHeals) {
  Line line(1);
  line.a.send(bytes_of("before "), line.now);
  line.run_for(1s);
  line.cut = true;
  line.a.send(bytes_of("within "), line.now);
  line.run_for(3s);
  EXPECT_TRUE(line.b.silent(line.now));
  line.cut = false;
  line.a.send(bytes_of("after"), line.now);
  line.run_for(2s);
  EXPECT_FALSE(line.b.silent(line.now));
  EXPECT_EQ(line.at_b, bytes_of("before within after"));
}

TEST(Session, OverALosslessCarrierNothingIsKeptOrAcknowledged) {
  std::vector<PacketKind> from_a, from_b;
  WallTime now = WallTime::zero() + 1s;
  Bytes at_b;
  std::uint32_t restarted = 0;
  std::vector<Bytes> to_a, to_b;
  Session a{address(0, 1),
            101,
            {},
            [&](const Packet& p) {
              from_a.push_back(p.kind);
              write_packet(to_b.emplace_back(), p, std::nullopt);
            },
            Session::Carriage::lossless};
  Session b{address(1, 0),
            202,
            {},
            [&](const Packet& p) {
              from_b.push_back(p.kind);
              write_packet(to_a.emplace_back(), p, std::nullopt);
            },
            Session::Carriage::lossless};
  const auto deliver = [&] {
    while (!to_a.empty() || !to_b.empty()) {
      for (const Bytes& bytes : std::exchange(to_b, {})) {
        const auto taken = b.take(*read_packet(bytes, std::nullopt), now);
        if (taken.restarted != 0) restarted = taken.restarted;
        at_b.insert(at_b.end(), taken.bytes.begin(), taken.bytes.end());
      }
      for (const Bytes& bytes : std::exchange(to_a, {})) (void)a.take(*read_packet(bytes, std::nullopt), now);
    }
  };
  a.tick(now), b.tick(now);
  deliver();
  ASSERT_EQ(a.state(), Session::State::joined);
  from_a.clear(), from_b.clear();
  for (int i = 0; i < 1000; ++i) a.send(bytes_of("x"), now);
  deliver();
  EXPECT_EQ(at_b.size(), 1000U);
  EXPECT_TRUE(a.drained());
  now += 90ms;  // longer than an acknowledgement or a second try would take
  a.tick(now), b.tick(now);
  deliver();
  EXPECT_EQ(from_a.size(), 1000U);
  EXPECT_TRUE(from_b.empty()) << "nobody acknowledges";

  a.send(bytes_of("lost"), now);
  to_b.clear();
  EXPECT_EQ(a.restart(), 2U);
  a.send(bytes_of("again"), now);
  deliver();
  EXPECT_EQ(restarted, 2U);
  EXPECT_EQ(at_b.size(), 1005U) << "the other side is told, and what was lost is left to its user";
}

TEST(Session, ThePeerIsGoneAfterTheAgreedSilence) {
  Line line(1);
  line.run_for(1s);
  ASSERT_EQ(line.a.state(), Session::State::joined);
  line.cut = true;
  line.run_for(9s);
  EXPECT_EQ(line.a.state(), Session::State::joined);
  line.run_for(2s);
  EXPECT_EQ(line.a.state(), Session::State::left);
  EXPECT_FALSE(line.a.left_cleanly());
}

TEST(Session, ASecondHolderOfTheNameIsRefusedWhileTheFirstLives) {
  const WallTime now = WallTime::zero() + 1s;
  Bytes knock;
  Session impostor{address(1, 0), 303, {}, [&](const Packet& p) { write_packet(knock, p, std::nullopt); }};
  impostor.tick(now);
  Session a{address(0, 1), 101, {}, [&](const Packet& p) {
              if (p.kind == PacketKind::refuse) impostor.take(p, now);
            }};
  Packet first = address(1, 0);
  first.session = 202;
  first.heard = 101;
  a.take(first, now);
  ASSERT_EQ(a.state(), Session::State::joined);
  a.take(*read_packet(knock, std::nullopt), now);
  EXPECT_EQ(impostor.state(), Session::State::refused);
  EXPECT_NE(impostor.why().find("already taking part"), std::string::npos);
  EXPECT_EQ(a.state(), Session::State::joined);
}

TEST(Session, APacketFromAnotherRunIsNotTakenForAPeer) {
  Line line(1);
  Packet old = address(1, 0);
  old.kind = PacketKind::data;
  old.session = 99;
  old.heard = 98;  // a session that this one never had
  old.number = 1;
  const Bytes text = bytes_of("old");
  old.body = text;
  EXPECT_TRUE(line.a.take(old, line.now).bytes.empty());
  EXPECT_EQ(line.a.state(), Session::State::knocking);
  line.run_for(1s);
  EXPECT_EQ(line.a.state(), Session::State::joined);  // with the living one
}

TEST(Session, APacketThatCameBeforeIsNotTakenAgain) {
  Line line(1);
  std::vector<Bytes> recorded;
  line.recorded = &recorded;
  line.b.set_news("here I am");
  line.b.send(bytes_of("text"), line.now);
  line.run_for(1s);
  ASSERT_EQ(line.at_a, bytes_of("text"));
  line.cut = true;
  line.run_for(1s);
  ASSERT_TRUE(line.a.silent(line.now));
  for (const Bytes& bytes : recorded) {
    EXPECT_FALSE(line.a.take(*read_packet(bytes, std::nullopt), line.now).genuine);
  }
  EXPECT_TRUE(line.a.silent(line.now)) << "nobody has been heard but a recording";
  EXPECT_EQ(line.at_a, bytes_of("text"));
}

TEST(Session, ARecordingOfAnotherRunDoesNotEndOneWhosePeerIsSilent) {
  Line line(1);
  line.run_for(1s);
  line.cut = true;
  line.run_for(1s);
  ASSERT_TRUE(line.a.silent(line.now));
  Packet old = address(1, 0);
  old.session = 99;
  for (const std::uint64_t heard : {0, 98}) {
    old.heard = heard;
    line.a.take(old, line.now);
    EXPECT_EQ(line.a.state(), Session::State::joined);
  }
  line.cut = false;
  line.a.send(bytes_of("after"), line.now);
  line.run_for(2s);
  EXPECT_EQ(line.at_b, bytes_of("after"));
}

TEST(Session, APeerThatWasStartedAnewAndShowsThatItLivesEndsTheSession) {
  Line line(1);
  line.run_for(1s);
  line.cut = true;
  line.run_for(1s);
  Session again{address(1, 0), 303, {}, [&](const Packet& p) { line.a.take(p, line.now); }};
  line.on_packet_to_b = [&](const Packet& p) { again.take(p, line.now); };
  again.tick(line.now);
  EXPECT_EQ(line.a.state(), Session::State::left);
  EXPECT_NE(line.a.why().find("started anew"), std::string::npos);
}

TEST(Session, APeerOfALaterLifeTakesThePlaceOfTheOneBefore) {
  const WallTime now = WallTime::zero() + 1s;
  const auto session_of = [](std::uint32_t life) { return Session::number_of_life(0x1234567890abcdef + life, life); };
  const auto packet_of = [&](std::uint32_t life, std::uint64_t heard, std::uint64_t turn) {
    Packet packet = address(1, 0);
    packet.kind = PacketKind::data;
    packet.session = session_of(life);
    packet.heard = heard;
    packet.number = packet.turn = turn;
    return packet;
  };
  std::vector<Packet> answers;
  const std::uint64_t ours = session_of(0) + 2;
  Session a{
      address(0, 1),          ours, {}, [&](const Packet& p) { answers.push_back(p); }, Session::Carriage::may_lose,
      Session::Lives::several};
  EXPECT_TRUE(a.take(packet_of(0, ours, 1), now).genuine);
  ASSERT_EQ(a.state(), Session::State::joined);
  EXPECT_FALSE(a.take(packet_of(2, 0, 1), now).genuine) << "it has not shown yet that it lives";
  EXPECT_EQ(a.life(), 0U);
  EXPECT_EQ(answers.back().heard, session_of(2)) << "it is told what it has to show";
  EXPECT_TRUE(a.take(packet_of(2, ours, 1), now).genuine);
  EXPECT_EQ(a.life(), 2U);
  EXPECT_EQ(a.state(), Session::State::joined);
  EXPECT_FALSE(a.take(packet_of(0, ours, 2), now).genuine) << "nothing of the one before is taken";
  EXPECT_FALSE(a.take(packet_of(1, ours, 1), now).genuine);
  a.expect_life(1);
  EXPECT_EQ(a.state(), Session::State::joined) << "old news";
  a.expect_life(3);
  EXPECT_EQ(a.state(), Session::State::knocking);
  EXPECT_FALSE(a.take(packet_of(2, ours, 2), now).genuine);
  EXPECT_TRUE(a.take(packet_of(3, ours, 1), now).genuine);
  EXPECT_EQ(a.state(), Session::State::joined);
}

TEST(Packet, IsRefusedWithoutTheKeyWithAnotherAndWhenAltered) {
  const auto key = Key::generate();
  const auto other = Key::generate();
  Bytes bytes;
  Packet packet = address(0, 1);
  const Bytes body = bytes_of("x");
  packet.body = body;
  write_packet(bytes, packet, key);
  EXPECT_TRUE(read_packet(bytes, key).ok());
  EXPECT_FALSE(read_packet(bytes, other).ok());
  EXPECT_FALSE(read_packet(bytes, std::nullopt).ok());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes altered = bytes;
    altered[i] ^= std::byte{1};
    EXPECT_FALSE(read_packet(altered, key).ok()) << i;
  }
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(read_packet(std::span(bytes).first(n), key).ok());
}

/// A carrier that keeps a copy of every packet that goes out.
class Recording final : public Carrier {
 public:
  explicit Recording(Carrier& carrier) : carrier_(carrier) {}
  void start(Events events) override { carrier_.start(std::move(events)); }
  void send(std::uint32_t to, std::span<const std::byte> packet) override {
    packets.emplace_back(packet.begin(), packet.end());
    carrier_.send(to, packet);
  }
  void answer(std::uint32_t to, std::span<const std::byte> packet) override {
    packets.emplace_back(packet.begin(), packet.end());
    carrier_.answer(to, packet);
  }
  [[nodiscard]] bool lossless() const override { return carrier_.lossless(); }
  [[nodiscard]] bool flushed(std::uint32_t to) const override { return carrier_.flushed(to); }
  void run() override { carrier_.run(); }
  void stop() override { carrier_.stop(); }
  std::vector<Bytes> packets;

 private:
  Carrier& carrier_;
};

/// A member on a simulated host that sends numbers to everybody. When a stream begins anew it goes on where the other
/// side says that it was, as the flows do.
struct Member {
  Member(SimulatedNetwork& network, std::uint32_t self, const std::vector<Address>& addresses,
         const std::optional<Key>& key = std::nullopt)
      : reactor(network, addresses[self]), clock(network.scheduler()) {
    std::vector<std::uint32_t> peers;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < addresses.size(); ++i) {
      names.push_back("m" + std::to_string(i));
      if (i != self) peers.push_back(i);
    }
    carrier = std::make_unique<TcpCarrier>(reactor, addresses, self, peers);
    recording = std::make_unique<Recording>(*carrier);
    federation = std::make_unique<Federation>(*recording, clock, Roster{"test", 1, names, self, peers},
                                              Federation::Options{{}, key});
    federation->start({[this](std::uint32_t from, std::span<const std::byte> bytes) { take(from, bytes); },
                       {},
                       {},
                       {},
                       {},
                       [this](std::uint32_t who, std::uint32_t stream) {
                         ++restarts;
                         awaited[who] = stream;
                         tell(who, 'h');
                         if (resumes[who] != 0) tell(who, 'r');
                       },
                       [this](std::uint32_t who, std::uint32_t stream) {
                         resumes[who] = stream;
                         tell(who, 'r');
                       }});
  }
  void say(std::uint8_t n) {
    said.emplace_back(1 + n % 7U, static_cast<std::byte>(n));
    for (const std::uint32_t peer : federation->roster().peers) {
      if (awaited[peer] == 0) tell(peer, 'd', said.back());
    }
  }
  /// d: a number; h: a stream begins; r: the other's stream, and how many numbers came before it.
  void tell(std::uint32_t to, char kind, Bytes what = {}) {
    if (kind == 'r') what = {static_cast<std::byte>(resumes[to]), static_cast<std::byte>(came[to].size())};
    what.insert(what.begin(), static_cast<std::byte>(kind));
    federation->send(to, what);
  }
  void take(std::uint32_t from, std::span<const std::byte> bytes) {
    const char kind = static_cast<char>(bytes[0]);
    if (kind == 'd') came[from].emplace_back(bytes.begin() + 1, bytes.end());
    if (kind != 'r' || std::to_integer<std::uint32_t>(bytes[1]) != awaited[from]) return;
    awaited[from] = 0;
    for (auto i = std::to_integer<std::size_t>(bytes[2]); i < said.size(); ++i) tell(from, 'd', said[i]);
  }
  SimulatedReactor reactor;
  SimulatedClock clock;
  std::unique_ptr<TcpCarrier> carrier;
  std::unique_ptr<Recording> recording;
  std::unique_ptr<Federation> federation;
  std::map<std::uint32_t, std::vector<Bytes>> came;
  std::vector<Bytes> said;
  std::map<std::uint32_t, std::uint32_t> awaited, resumes;  // streams
  int restarts = 0;
};

TEST(Federation, DeliversEverythingThroughBrokenConnectionsAndPartitions) {
  EXPECT_EVERY_SEED(50, [](std::uint64_t seed) {
    Scheduler scheduler(seed);
    SimulatedNetwork network(scheduler);
    RandomStream random(seed, "test");
    LinkQuality quality = LinkQuality::drawn(random);
    quality.reset = 0.01;
    network.set_quality(quality);
    std::vector<Address> addresses;
    for (std::uint8_t i = 1; i <= 3; ++i) addresses.push_back(Address::v4(10, 0, 0, i, 7000));
    std::vector<std::unique_ptr<Member>> members;
    for (std::uint32_t i = 0; i < 3; ++i) {  // they start at any time and in any order
      members.push_back(std::make_unique<Member>(network, i, addresses));
      scheduler.run_until(scheduler.now() + WallSpan::from_ns(static_cast<std::int64_t>(random.below(1'000'000'000))));
    }
    for (int turn = 0; turn < 60; ++turn) {
      members[random.below(3)]->say(static_cast<std::uint8_t>(turn));
      if (turn == 20) network.partition({addresses[0]});
      if (turn == 30) network.heal();
      scheduler.run_until(scheduler.now() + 50ms);
    }
    const auto all_came = [&] {
      bool all = true;
      for (std::uint32_t to = 0; to < 3; ++to) {
        for (std::uint32_t from = 0; from < 3; ++from) {
          all = all && (from == to || members[to]->came[from] == members[from]->said);
        }
      }
      return all;
    };
    for (int i = 0; i < 300 && !all_came(); ++i) scheduler.run_until(scheduler.now() + 200ms);
    for (std::uint32_t to = 0; to < 3; ++to) {
      for (std::uint32_t from = 0; from < 3; ++from) {
        if (from == to) continue;
        EXPECT_EQ(members[to]->came[from], members[from]->said) << from << " to " << to;
      }
    }
  });
}

/// Has no key; sends on what it has recorded, and notes what it is told.
class Stranger {
 public:
  Stranger(SimulatedNetwork& network, const Address& own, const Address& to)
      : reactor_(network, own), stream_(reactor_.connect(to)) {
    stream_->set_events({[this](std::span<const std::byte> bytes) {
                           (void)reader_.take(bytes, [this](std::span<const std::byte> packet) {
                             heard.emplace_back(packet.begin(), packet.end());
                             return true;
                           });
                         },
                         {},
                         {}});
  }
  void replay(const std::vector<Bytes>& packets) {
    Bytes all;
    for (const Bytes& packet : packets) append_frame(all, packet);
    stream_->send(all);
  }
  std::vector<Bytes> heard;

 private:
  SimulatedReactor reactor_;
  FrameReader reader_{std::size_t{1} << 22U};
  std::unique_ptr<Stream> stream_;
};

const Address stranger_at = Address::v4(10, 0, 0, 66, 0);

std::vector<Bytes> packets_of_an_earlier_run(const std::vector<Address>& addresses, const Key& key, std::uint32_t who) {
  Scheduler scheduler(7);
  SimulatedNetwork network(scheduler);
  Member a(network, 0, addresses, key), b(network, 1, addresses, key);
  scheduler.run_until(scheduler.now() + 500ms);
  a.say(1), b.say(2);
  scheduler.run_until(scheduler.now() + 500ms);
  return (who == 0 ? a : b).recording->packets;
}

void expect_nothing_was_told(const Stranger& stranger, const Key& key) {
  for (const Bytes& bytes : stranger.heard) {
    const auto packet = read_packet(bytes, key);
    ASSERT_TRUE(packet.ok());
    EXPECT_NE(packet->kind, PacketKind::data) << "what is meant for the peer went to a stranger";
  }
}

TEST(Federation, APacketThatAStrangerSendsAgainDoesNotTakeTheWayToAMember) {
  const std::vector<Address> addresses{Address::v4(10, 0, 0, 1, 7000), Address::v4(10, 0, 0, 2, 7000)};
  const Key key = Key::generate();
  for (const std::uint32_t who : {0U, 1U}) {  // who connects, and who is connected to
    const auto earlier = packets_of_an_earlier_run(addresses, key, who);
    ASSERT_FALSE(earlier.empty());
    Scheduler scheduler(1);
    SimulatedNetwork network(scheduler);
    const auto pass = [&] { scheduler.run_until(scheduler.now() + 500ms); };
    std::vector<std::unique_ptr<Member>> members(2);
    const std::uint32_t victim = 1 - who;
    members[victim] = std::make_unique<Member>(network, victim, addresses, key);
    Stranger stranger(network, stranger_at, addresses[victim]);
    pass();
    stranger.replay(earlier);  // before the true one is there
    pass();
    members[who] = std::make_unique<Member>(network, who, addresses, key);
    pass();
    for (std::uint8_t round = 0; round < 3; ++round) {
      stranger.replay(earlier);
      stranger.replay(members[who]->recording->packets);  // and what it hears in this run
      for (const auto& member : members) member->say(round);
      pass();
    }
    EXPECT_EQ(members[who]->came[victim], members[victim]->said);
    EXPECT_EQ(members[victim]->came[who], members[who]->said);
    expect_nothing_was_told(stranger, key);
  }
}

TEST(Federation, IdleStrangersDoNotKeepMembersOut) {
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  const std::vector<Address> addresses{Address::v4(10, 0, 0, 1, 7000), Address::v4(10, 0, 0, 2, 7000)};
  Member waiting(network, 1, addresses);
  std::vector<std::unique_ptr<Stranger>> idle;
  for (std::uint8_t i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<Stranger>(network, Address::v4(10, 0, 1, i, 0), addresses[1]));
    idle.push_back(std::make_unique<Stranger>(network, Address::v4(10, 0, 2, i, 0), addresses[1]));
  }
  scheduler.run_until(scheduler.now() + 500ms);
  Member coming(network, 0, addresses);
  scheduler.run_until(scheduler.now() + 1s);
  EXPECT_TRUE(waiting.federation->all_joined());
}

TEST(Federation, SaysWhoIsNotThere) {
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  const std::vector<Address> addresses{Address::v4(10, 0, 0, 1, 7000), Address::v4(10, 0, 0, 2, 7000)};
  Member alone(network, 0, addresses);
  scheduler.run_until(scheduler.now() + 1s);
  ASSERT_EQ(alone.federation->troubles().size(), 1U);
  EXPECT_EQ(alone.federation->troubles()[0], "m1 has not come yet");
  {
    Member other(network, 1, addresses);
    scheduler.run_until(scheduler.now() + 1s);
    EXPECT_TRUE(alone.federation->all_joined());
    EXPECT_TRUE(alone.federation->troubles().empty());
    other.reactor.kill();
    scheduler.run_until(scheduler.now() + 1s);
    ASSERT_EQ(alone.federation->troubles().size(), 1U);
    EXPECT_NE(alone.federation->troubles()[0].find("nothing heard of m1"), std::string::npos);
  }
}

TEST(Federation, KeepsFederationsAndScenariosApart) {
  Scheduler scheduler(1);
  SimulatedNetwork network(scheduler);
  const std::vector<Address> addresses{Address::v4(10, 0, 0, 1, 7000), Address::v4(10, 0, 0, 2, 7000)};
  Member one(network, 0, addresses);
  SimulatedReactor reactor(network, addresses[1]);
  SimulatedClock clock(scheduler);
  TcpCarrier carrier(reactor, addresses, 1, {0});
  Federation other(carrier, clock, Roster{"test", 2, {"m0", "m1"}, 1, {0}}, {});
  std::string told;
  other.start({{}, {}, {}, [&](const std::string& what) { told = what; }, {}});
  scheduler.run_until(scheduler.now() + 2s);
  EXPECT_FALSE(one.federation->all_joined());
  EXPECT_NE(told.find("another scenario"), std::string::npos) << told;
  EXPECT_GT(other.strangers(), 0U);
}

}  // namespace
}  // namespace isochron::link
