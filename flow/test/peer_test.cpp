// A peer that breaks the contract is fenced off with a reason that names flow and node; what came before stays.

#include "flow/peer.hpp"

#include <gtest/gtest.h>

#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

/// Keeps what was sent.
struct Wire : Transport {
  void send(std::span<const std::byte> bytes) override { sent.insert(sent.end(), bytes.begin(), bytes.end()); }
  wire::Bytes sent;
};

class EventSource : public UserNode {
  Event<std::int64_t> out_ = event<std::int64_t>("event", 1ms, 2);
};

/// Node `source` as the other side of a Peer that belongs to `sink`.
class PeerTest : public testing::Test {
 protected:
  PeerTest() {
    system_.add<Source>("source", every(10ms), 2U);
    system_.add<EventSource>("events");
    system_.add<Sink>("sink", 2U);
    system_.connect("source.out", "sink.in0");
    system_.connect("events.event", "sink.in1");
    AssemblyPlan plan;
    plan.split = true;
    assembly_ = std::make_unique<Assembly>(system_, plan);
    peer_ = std::make_unique<Peer>(*assembly_, 2, 0, wire_);
    event_peer_ = std::make_unique<Peer>(*assembly_, 2, 1, wire_);
  }

  /// What the real other side says first.
  wire::Bytes hello_of(std::uint32_t node, std::uint32_t to = 2) {
    Wire other;
    Peer(*assembly_, node, to, other).greet();
    return other.sent;
  }
  std::string message(SimTime time, SimTime next, std::uint32_t line = 0, std::size_t size = 8) {
    wire::Bytes bytes;
    wire::append_message(bytes, line, time, next, size);
    return take(*peer_, bytes);
  }
  static std::string take(Peer& peer, const wire::Bytes& bytes) {
    const auto taken = peer.arrived(bytes);
    return taken ? "" : taken.error();
  }
  std::uint64_t arrived() const { return assembly_->links()[0].arrival->written.load(); }

  System system_;
  std::unique_ptr<Assembly> assembly_;
  Wire wire_;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Peer> event_peer_;
};

TEST_F(PeerTest, TakesMessagesAsPromised) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_TRUE(peer_->greeted());
  EXPECT_EQ(message(at(0ms), at(10ms)), "");
  EXPECT_EQ(message(at(10ms), at(13ms)), "");
  EXPECT_EQ(arrived(), 2U);
}

TEST_F(PeerTest, RefusesAWrongStampAndKeepsWhatCameBefore) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(10ms)), "");
  EXPECT_EQ(message(at(11ms), at(20ms)), "flow source.out, node source: a message at 11ms, but one at 10ms was due");
  EXPECT_EQ(arrived(), 1U);
  EXPECT_NE(message(at(10ms), at(20ms)), "") << "once fenced off, always";
}

TEST_F(PeerTest, RefusesAStampGoingBack) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(10ms)), "");
  EXPECT_EQ(message(at(0ms), at(10ms)), "flow source.out, node source: a message at 0s, but one at 10ms was due");
}

TEST_F(PeerTest, RefusesAPeriodOfZeroOrLess) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(0ms)),
            "flow source.out, node source: the message at 0s has a period that is not longer than 0");
}

TEST_F(PeerTest, RefusesMoreThanItHasCreditFor) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(1ms)), "");
  EXPECT_EQ(message(at(1ms), at(2ms)), "");
  EXPECT_EQ(message(at(2ms), at(3ms)), "flow source.out, node source: more messages than it has credit for");
}

TEST_F(PeerTest, RefusesAPayloadOfTheWrongSize) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(1ms), 0, 5), "flow source.out, node source: a payload that is no int64");
}

TEST_F(PeerTest, RefusesALineThatWasNotAgreedOn) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(1ms), 1), "flow source.out, node source: a message on line 1, which it has not");
}

TEST_F(PeerTest, RefusesASecondHello) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(take(*peer_, hello_of(0)), "flow source.out, node source: it connected twice");
}

TEST_F(PeerTest, RefusesDataBeforeHello) {
  EXPECT_EQ(message(at(0ms), at(1ms)), "flow source.out, node source: it sent before it said hello");
  wire::Bytes bytes;
  wire::append(bytes, wire::Bound{1, at(5ms)});
  EXPECT_EQ(take(*event_peer_, bytes), "flow events.event, node events: it sent before it said hello");
}

TEST_F(PeerTest, RefusesAnotherNodeAnotherScenarioAndOtherFlows) {
  EXPECT_EQ(take(*peer_, hello_of(1)), "flow source.out, node source: node events answered in its place");
  wire::Bytes bytes;
  wire::append(bytes, wire::Hello{wire::version, 1, "events", {}});
  EXPECT_EQ(take(*event_peer_, bytes), "flow events.event, node events: it runs another scenario");
  bytes.clear();
  wire::append(bytes, wire::Hello{wire::version, hash_of(system_.graph()), "source", {}});
  Peer fresh(*assembly_, 2, 0, wire_);
  EXPECT_EQ(take(fresh, bytes), "flow source.out, node source: its flows are not the agreed ones");
}

TEST_F(PeerTest, RefusesPromisesGoingBackAndEventsBeforeThePromise) {
  EXPECT_EQ(take(*event_peer_, hello_of(1)), "");
  wire::Bytes bytes;
  wire::append(bytes, wire::Bound{1, at(5ms)});
  EXPECT_EQ(take(*event_peer_, bytes), "");
  bytes.clear();
  wire::append_message(bytes, 1, at(4ms), at(5ms), 8);
  EXPECT_EQ(take(*event_peer_, bytes),
            "flow events.event, node events: an event at 4ms, but none before 5ms was promised");
  Peer fresh(*assembly_, 2, 1, wire_);
  EXPECT_EQ(take(fresh, hello_of(1)), "");
  bytes.clear();
  wire::append(bytes, wire::Bound{1, at(5ms)});
  wire::append(bytes, wire::Bound{1, at(3ms)});
  EXPECT_EQ(take(fresh, bytes), "flow events.event, node events: a promise going back from 5ms to 3ms");
}

TEST_F(PeerTest, RefusesCreditForWhatWasNeverSent) {
  Peer source(*assembly_, 0, 2, wire_);
  EXPECT_EQ(take(source, hello_of(2, 0)), "");
  wire::Bytes bytes;
  wire::append(bytes, wire::Credit{0, 1});
  EXPECT_EQ(take(source, bytes), "flow source.out, node sink: credit for messages that were never sent");
}

TEST_F(PeerTest, RefusesAPeriodThatIsNegative) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(-1ms)),
            "flow source.out, node source: the message at 0s has a period that is not longer than 0");
}

TEST_F(PeerTest, RefusesAnotherVersionOfTheProtocol) {
  wire::Bytes bytes;
  wire::append(bytes, wire::Hello{wire::version + 1, hash_of(system_.graph()), "source", {}});
  EXPECT_EQ(take(*peer_, bytes),
            "flow source.out, node source: the peer speaks version 4 of the flow protocol, this is "
            "version 3");
}

TEST_F(PeerTest, SaysThatAConnectionWasLostInTheMiddleOfAFrame) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(message(at(0ms), at(10ms)), "");
  EXPECT_EQ(peer_->lost(), "flow source.out, node source: the connection was lost");
  wire::Bytes bytes;
  wire::append_message(bytes, 0, at(10ms), at(20ms), 8);
  bytes.resize(bytes.size() / 2);
  EXPECT_EQ(take(*peer_, bytes), "") << "half a frame is no mistake yet";
  EXPECT_EQ(peer_->lost(), "flow source.out, node source: the connection was lost in the middle of a frame");
  EXPECT_EQ(arrived(), 1U) << "what came before stays";
}

/// Two sides of a connection that can break: what was not delivered then is gone.
class BrokenStream : public PeerTest {
 protected:
  BrokenStream() : source_(*assembly_, 0, 2, to_sink_), sink_(*assembly_, 2, 0, to_source_) {
    source_.greet();
    sink_.greet();
    deliver();
  }
  void emit(int messages) {
    Channel& channel = *assembly_->links()[0].sink.channel;
    for (int i = 0; i < messages; ++i) {
      const std::uint64_t n = channel.written.load();
      Slot& slot = channel.slots[n % channel.slot_count()];
      slot.time = at(SimSpan(10ms) * static_cast<std::int64_t>(n));
      slot.next = slot.time + SimSpan(10ms);
      *static_cast<std::int64_t*>(slot.payload) = static_cast<std::int64_t>(n);
      channel.written.store(n + 1);
    }
    source_.pump();
  }
  void consume(std::uint64_t all_in_all) {
    assembly_->links()[0].arrival->readers[0].consumed.store(all_in_all);
    sink_.pump();
  }
  void deliver() {
    EXPECT_EQ(take(sink_, std::exchange(to_sink_.sent, {})), "");
    EXPECT_EQ(take(source_, std::exchange(to_source_.sent, {})), "");
  }
  void lose() { to_sink_.sent.clear(), to_source_.sent.clear(); }
  /// Both directions begin anew; the source hears of it first, or the sink does.
  void mend(std::uint32_t stream, bool source_first) {
    if (source_first) source_.restart(stream);
    sink_.restart(stream);
    if (!source_first) source_.restart(stream);
    sink_.restarted(stream), source_.restarted(stream);
    for (int i = 0; i < 3; ++i) deliver();
  }
  static SimTime at(SimSpan span) { return SimTime::zero() + span; }
  [[nodiscard]] std::uint64_t credited() const { return (*assembly_->links()[0].sink).consumed.load(); }

  Wire to_sink_, to_source_;
  Peer source_, sink_;
};

TEST_F(BrokenStream, GoesOnWhereTheOtherSideWas) {
  for (const bool source_first : {true, false}) {
    const std::uint64_t before = arrived();
    emit(1);
    deliver();
    emit(1);
    lose();
    EXPECT_EQ(arrived(), before + 1);
    mend(source_first ? 2 : 3, source_first);
    EXPECT_TRUE(source_.resumed() && sink_.resumed());
    EXPECT_EQ(arrived(), before + 2) << "the lost one was sent again, the other was not";
    consume(before + 2);
    deliver();
  }
}

TEST_F(BrokenStream, LosesNoCredit) {
  emit(2);
  deliver();
  consume(2);
  lose();
  EXPECT_EQ(credited(), 0U);
  mend(2, true);
  EXPECT_EQ(credited(), 2U);
  emit(2);
  deliver();
  EXPECT_EQ(arrived(), 4U);
}

TEST_F(BrokenStream, SendsNothingBeforeItKnowsFromWhere) {
  emit(1);
  lose();
  source_.restart(2);
  emit(1);
  sink_.restarted(2);
  EXPECT_EQ(take(sink_, std::exchange(to_sink_.sent, {})), "");
  EXPECT_EQ(arrived(), 0U);
  EXPECT_FALSE(source_.resumed());
  deliver();
  deliver();
  EXPECT_EQ(arrived(), 2U);
}

TEST_F(BrokenStream, BreaksAgainBeforeItWasMended) {
  emit(2);
  lose();
  source_.restart(2), sink_.restart(2);
  sink_.restarted(2);
  wire::Bytes late = std::exchange(to_source_.sent, {});
  lose();
  mend(3, true);
  EXPECT_EQ(arrived(), 2U);
}

TEST_F(BrokenStream, RefusesToResumeWhereItCannotBe) {
  emit(2);
  deliver();
  source_.restart(2);
  lose();
  wire::Bytes bytes;
  wire::append(bytes, wire::Resume{2, {{0, 3, at(0ms)}}});
  EXPECT_EQ(take(source_, bytes), "flow source.out, node sink: it resumes where it cannot be");
}

TEST_F(PeerTest, FencesOffOnePeerAndKeepsTheOthers) {
  EXPECT_EQ(take(*peer_, hello_of(0)), "");
  EXPECT_EQ(take(*event_peer_, hello_of(1)), "");
  EXPECT_NE(message(at(5ms), at(10ms)), "");
  wire::Bytes bytes;
  wire::append(bytes, wire::Bound{1, at(5ms)});
  EXPECT_EQ(take(*event_peer_, bytes), "");
}

TEST_F(PeerTest, RefusesGarbage) {
  EXPECT_EQ(take(*peer_, wire::Bytes(64, std::byte{0xff})),
            "flow source.out, node source: a frame of 4294967295 bytes; at most 268439552 are allowed");
}

/// Observes every 4 ms and hears the other.
class Observer : public UserNode {
 public:
  explicit Observer(SimTime first) : out_(output<&Observer::fill>("out", observes(4ms, first))) {}

 private:
  void fill(std::int64_t& value) { value = 0; }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Output<std::int64_t> out_;
};

TEST(Peer, RefusesAnotherPeriodOfAnObservationInARing) {
  System system;
  system.add<Observer>("a", at(0ms));
  system.add<Observer>("b", at(1ms));
  system.connect("a.out", "b.in");
  system.connect("b.out", "a.in");
  AssemblyPlan plan;
  plan.split = true;
  Assembly assembly(system, plan);
  Wire wire, other;
  Peer peer(assembly, 1, 0, wire);
  Peer(assembly, 0, 1, other).greet();
  ASSERT_TRUE(peer.arrived(other.sent).ok());
  wire::Bytes bytes;
  wire::append_message(bytes, 1, at(0ms), at(5ms), 8);  // lines are in the order of inputs: b's is the second
  const auto taken = peer.arrived(bytes);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error(),
            "flow a.out, node a: the message at 0s says that the next one comes at 5ms, but its period is 4ms");
}

}  // namespace
}  // namespace isochron::flow::test
