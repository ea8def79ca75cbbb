#pragma once
// A simulated TCP connection: two ends, and segments in flight in both directions.
//
//     send() -> unsent -> [window] -> flight ~~~link~~~> received -> on_bytes, in pieces of any size
//                  ^------------- acknowledged when handed over ----------'
//
// Promises: bytes arrive in order, once each, up to the point where the connection ends; on_closed is the last call.
// A closed end answers late segments with a reset, as the kernel does: closing with unread input makes the peer lose
// what was still in flight to it.

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "testing/byte_queue.hpp"
#include "testing/reactor.hpp"

namespace isochron {

struct Segment {
  enum class Kind { established, data, fin } kind = Kind::data;
  std::vector<std::byte> bytes;
  WallTime sent;
};

struct End {
  SimulatedReactor* reactor = nullptr;
  SimulatedNetwork::Ip host{};
  Address local, peer;
  std::shared_ptr<Stream::Events> events;  // shared: the stream may be destroyed while one of them runs
  ByteQueue unsent;
  std::deque<Segment> flight;  // from this end to the other
  ByteQueue received;
  std::size_t outstanding = 0;  // sent, and not yet handed over at the other end
  std::size_t window = 64 * 1024;
  WallTime last_arrival = WallTime::zero();
  NetError why;
  bool established = false;
  bool ended = false;  // nothing more will come; why says the reason
  bool told = false;   // on_closed was called
  bool gone = false;   // its stream was destroyed, or its process killed
  bool paused = false;
  bool delivering = false;
};

struct Connection : std::enable_shared_from_this<Connection> {
  Connection(SimulatedNetwork& in, std::uint64_t number);

  void connect(const Address& to, WallTime started);
  void send(int side, std::span<const std::byte> bytes);
  void hang_up(int side);
  void deliver_soon(int side);

  SimulatedNetwork& network;
  std::uint64_t id;
  std::array<End, 2> ends;  // 0 asked for the connection, 1 accepted it

 private:
  void retry(WallTime started, int side, std::function<void()> again);
  void syn_arrives(const Address& to);
  void accept(const std::shared_ptr<SimulatedNetwork::ListenerState>& listener);
  void pump(int side);
  void pump_and_tell(int side);
  void transmit(int side, Segment segment);
  void arrive(int side);
  void take(int side, Segment segment);
  void deliver(int side);
  void acknowledge(int side, std::size_t bytes, WallTime since);
  void reset(int side);
  void end(int side, NetFault fault, const char* what);
  [[nodiscard]] WallSpan way_delay(int from_side);
  [[nodiscard]] bool way_passes(int from_side) const;
  [[nodiscard]] Scheduler& scheduler() const { return network.scheduler_; }
};

class SimulatedStream final : public Stream {
 public:
  SimulatedStream(std::shared_ptr<Connection> connection, int side);
  ~SimulatedStream() override;
  void set_events(Events events) override;
  void send(std::span<const std::byte> bytes) override { connection_->send(side_, bytes); }
  [[nodiscard]] std::size_t pending() const override { return end().unsent.size(); }
  [[nodiscard]] Address peer() const override { return end().peer; }
  void pause_reading(bool pause) override;

 private:
  [[nodiscard]] End& end() const { return connection_->ends[static_cast<std::size_t>(side_)]; }
  std::shared_ptr<Connection> connection_;  // shared with segments in flight
  int side_;
};

}  // namespace isochron
