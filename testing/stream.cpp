#include "testing/stream.hpp"

#include <algorithm>
#include <utility>

namespace isochron {
namespace {

using std::chrono::milliseconds;
constexpr WallSpan repeat_after = milliseconds(200);  // the least retransmission time of Linux

}  // namespace

Connection::Connection(SimulatedNetwork& in, std::uint64_t number) : network(in), id(number) {
  RandomStream random = scheduler().random("connection " + std::to_string(number));
  for (End& end : ends) end.window = std::size_t{1} << (10 + random.below(9));
}

WallSpan Connection::way_delay(int from_side) {
  return network.delay(network.link(ends[from_side].host, ends[1 - from_side].host));
}

bool Connection::way_passes(int from_side) const {
  return network.passes(ends[from_side].host, ends[1 - from_side].host);
}

/// The way from `side` is cut: try again, or give up and tell that end.
void Connection::retry(WallTime started, int side, std::function<void()> again) {
  if (scheduler().now() - started <= network.stream_timeout_) {
    scheduler().after(repeat_after, std::move(again));
  } else {
    end(side, NetFault::unreachable, "does not answer");
  }
}

void Connection::connect(const Address& to, WallTime started) {
  scheduler().after(way_delay(0), [self = shared_from_this(), this, to, started] {
    if (way_passes(0) && network.hosts_.contains(ends[1].host)) return syn_arrives(to);
    retry(started, 0, [self, this, to, started] { connect(to, started); });
  });
}

void Connection::syn_arrives(const Address& to) {
  if (ends[0].gone) return;
  const auto found = network.listeners_.find({ends[1].host, to.port});
  const bool heard = found != network.listeners_.end() && found->second->reactor->alive() &&
                     (!found->second->bound.is_loopback() || ends[0].host == ends[1].host);
  if (heard) {
    const auto listener = found->second;
    listener->reactor->schedule(scheduler().now(), [self = shared_from_this(), this, listener] { accept(listener); });
    return;
  }
  scheduler().after(way_delay(1),
                    [self = shared_from_this(), this] { end(0, NetFault::refused, "refused the connection"); });
}

void Connection::accept(const std::shared_ptr<SimulatedNetwork::ListenerState>& listener) {
  if (!listener->open) return end(0, NetFault::refused, "refused the connection");
  scheduler().history().note(scheduler().now(), "accept", {id});
  ends[1].reactor = listener->reactor;
  ends[1].established = true;
  transmit(1, {Segment::Kind::established, {}, scheduler().now()});
  auto stream = std::make_unique<SimulatedStream>(shared_from_this(), 1);
  const auto on_accept = listener->on_accept;  // the listener may be destroyed by its own callback
  on_accept(std::move(stream));
}

void Connection::send(int side, std::span<const std::byte> bytes) {
  End& from = ends[side];
  if (from.gone || from.told) return;
  from.unsent.push(bytes);
  pump(side);
}

void Connection::pump(int side) {
  End& from = ends[side];
  if (!from.established || from.gone || from.ended) return;
  while (!from.unsent.empty() && from.outstanding < from.window) {
    const std::size_t most = std::min({from.unsent.size(), from.window - from.outstanding, std::size_t{16 * 1024}});
    const std::size_t n = from.reactor->random_.chance(0.5) ? most : 1 + from.reactor->random_.below(most);
    from.outstanding += n;
    transmit(side, {Segment::Kind::data, from.unsent.take(n), scheduler().now()});
  }
}

/// For when the network takes more: sends, and says so if that emptied the queue.
void Connection::pump_and_tell(int side) {
  End& from = ends[side];
  const bool waited = !from.unsent.empty();
  pump(side);
  if (from.gone || !waited || !from.unsent.empty()) return;
  from.reactor->schedule(scheduler().now(), [self = shared_from_this(), this, side] {
    const auto events = ends[side].events;
    if (events && events->on_writable) events->on_writable();
  });
}

void Connection::transmit(int side, Segment segment) {
  End& from = ends[side];
  auto& way = network.link(from.host, ends[1 - side].host);
  ++network.counts_.segments;
  WallSpan takes = network.queueing(way, segment.bytes.size()) + network.delay(way);
  for (WallSpan wait = repeat_after; wait < std::chrono::seconds(5) && way.random.chance(way.quality.loss);
       wait = wait * 2) {
    ++network.counts_.repeated;
    takes += wait;
  }
  if (way.random.chance(way.quality.reset)) {
    ++network.counts_.resets;
    reset(0);
    reset(1);
  }
  from.last_arrival = std::max(from.last_arrival, scheduler().now() + takes);
  from.flight.push_back(std::move(segment));
  scheduler().at(from.last_arrival, [self = shared_from_this(), this, side] { arrive(side); });
}

/// One event for each segment in flight; whichever runs takes the oldest, so that equal times keep the order.
void Connection::arrive(int side) {
  End& from = ends[side];
  if (from.flight.empty()) return;
  if (!way_passes(side)) {
    return retry(from.flight.front().sent, side, [self = shared_from_this(), this, side] { arrive(side); });
  }
  Segment segment = std::move(from.flight.front());
  from.flight.pop_front();
  scheduler().history().note(scheduler().now(), "segment", {id, static_cast<std::uint64_t>(side)}, segment.bytes);
  take(side, std::move(segment));
}

void Connection::take(int side, Segment segment) {
  End& to = ends[1 - side];
  if (to.gone || to.told) {
    if (segment.kind != Segment::Kind::fin) reset(side);
    return;
  }
  switch (segment.kind) {
    case Segment::Kind::established:
      to.established = true;
      pump_and_tell(1 - side);
      break;
    case Segment::Kind::data:
      if (!to.ended) to.received.push(segment.bytes);
      break;
    case Segment::Kind::fin:
      return end(1 - side, NetFault::closed, "closed the connection");
  }
  deliver_soon(1 - side);
}

void Connection::deliver_soon(int side) {
  End& to = ends[side];
  const bool something = !to.received.empty() || to.ended;
  if (to.delivering || to.paused || to.told || to.gone || !to.events || !something) return;
  to.delivering = true;
  const auto lag = WallSpan::from_ns(static_cast<std::int64_t>(to.reactor->random_.below(20'000)));
  to.reactor->schedule(scheduler().now() + lag, [self = shared_from_this(), this, side] { deliver(side); });
}

void Connection::deliver(int side) {
  End& to = ends[side];
  to.delivering = false;
  if (to.paused || to.told || to.gone) return;
  const auto events = to.events;
  if (!to.received.empty()) {
    RandomStream& random = to.reactor->random_;
    const std::size_t n = random.chance(0.5) ? to.received.size() : 1 + random.below(to.received.size());
    const std::vector<std::byte> piece = to.received.take(n);
    acknowledge(1 - side, n, scheduler().now());
    if (events->on_bytes) events->on_bytes(piece);
    return deliver_soon(side);
  }
  if (!to.ended) return;
  to.told = true;
  to.events.reset();
  to.unsent.clear();
  scheduler().history().note(scheduler().now(), "closed", {id, static_cast<std::uint64_t>(side)});
  if (events->on_closed) events->on_closed(to.why);
}

/// The other end has handed over so many bytes: `side` may send as many more, once it knows.
void Connection::acknowledge(int side, std::size_t bytes, WallTime since) {
  const auto again = [self = shared_from_this(), this, side, bytes, since] { acknowledge(side, bytes, since); };
  scheduler().after(way_delay(1 - side), [self = shared_from_this(), this, side, bytes, since, again] {
    End& from = ends[side];
    if (from.gone || from.ended) return;
    if (!way_passes(1 - side)) return retry(since, side, again);
    from.outstanding -= bytes;
    pump_and_tell(side);
  });
}

/// Tells `side` that the connection is broken. If that cannot pass, it will find out when it sends.
void Connection::reset(int side) {
  scheduler().after(way_delay(1 - side), [self = shared_from_this(), this, side] {
    if (way_passes(1 - side)) end(side, NetFault::closed, "reset the connection");
  });
}

void Connection::end(int side, NetFault fault, const char* what) {
  End& to = ends[side];
  if (to.ended || to.gone) return;
  to.ended = true;
  to.why = {fault, to_string(to.peer) + " " + what};
  if (fault != NetFault::closed) to.flight.clear();
  deliver_soon(side);
}

void Connection::hang_up(int side) {
  End& mine = ends[side];
  if (std::exchange(mine.gone, true)) return;
  mine.events.reset();
  mine.unsent.clear();
  if (mine.ended || !mine.established) return;
  if (mine.received.empty()) {
    transmit(side, {Segment::Kind::fin, {}, scheduler().now()});
  } else {
    mine.flight.clear();
    reset(1 - side);
  }
}

SimulatedStream::SimulatedStream(std::shared_ptr<Connection> connection, int side)
    : connection_(std::move(connection)), side_(side) {
  ++end().reactor->objects_;
  end().reactor->connections_.emplace(connection_->id * 2 + static_cast<std::uint64_t>(side),
                                      std::pair{connection_, side});
}

SimulatedStream::~SimulatedStream() {
  SimulatedReactor& reactor = *end().reactor;
  connection_->hang_up(side_);
  reactor.connections_.erase(connection_->id * 2 + static_cast<std::uint64_t>(side_));
  --reactor.objects_;
}

void SimulatedStream::set_events(Events events) {
  if (end().told || end().gone) return;
  end().events = std::make_shared<Events>(std::move(events));
  connection_->deliver_soon(side_);
}

void SimulatedStream::pause_reading(bool pause) {
  end().paused = pause;
  if (!pause) connection_->deliver_soon(side_);
}

}  // namespace isochron
