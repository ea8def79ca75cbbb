#include "testing/reactor.hpp"

#include <utility>

#include "testing/datagrams.hpp"
#include "testing/stream.hpp"

namespace isochron {

/// Holds a port of its host until destroyed.
class SimulatedListener final : public Listener {
 public:
  explicit SimulatedListener(std::shared_ptr<SimulatedNetwork::ListenerState> state) : state_(std::move(state)) {
    ++state_->reactor->objects_;
  }
  ~SimulatedListener() override {
    SimulatedReactor& reactor = *state_->reactor;
    if (state_->open) reactor.network_.listeners_.erase({reactor.host_.ip, state_->bound.port});
    state_->open = false;
    --reactor.objects_;
  }
  [[nodiscard]] Address local() const override { return state_->bound; }

 private:
  std::shared_ptr<SimulatedNetwork::ListenerState> state_;  // shared with connections on their way in
};

SimulatedReactor::SimulatedReactor(SimulatedNetwork& network, const Address& host)
    : network_(network),
      scheduler_(network.scheduler_),
      host_(host.with_port(0)),
      random_(scheduler_.random("process " + std::to_string(++network.hosts_[host.ip]) + " of " + to_string(host_))) {}

SimulatedReactor::~SimulatedReactor() {
  *alive_ = false;
  // One by one: what a closure owns may cancel other timers as it goes.
  while (!posted_.empty()) posted_.pop_front();
  while (!due_.empty()) const auto closure = due_.extract(due_.begin());
  ENSURE(objects_ == 0, "a stream, listener or datagram port outlived its reactor");
}

Reactor::TimerId SimulatedReactor::schedule(WallTime t, std::function<void()> what) {
  due_.emplace(++last_timer_, std::move(what));
  wake_at(t, last_timer_);
  return last_timer_;
}

void SimulatedReactor::wake_at(WallTime t, TimerId timer) {
  scheduler_.at(t, [this, alive = alive_, timer] {
    if (*alive) fire(timer);
  });
}

void SimulatedReactor::fire(TimerId timer) {
  if (scheduler_.now() < frozen_until_) return wake_at(frozen_until_, timer);
  const auto entry = due_.extract(timer);
  if (!entry) return;
  ++fired_;
  entry.mapped()();
  if (const auto wake = std::exchange(waker_, nullptr)) wake();
}

void SimulatedReactor::cancel(TimerId timer) { const auto closure = due_.extract(timer); }

Reactor::TimerId SimulatedReactor::call_at(WallTime t, std::function<void()> what) {
  return schedule(t - clock_offset_, std::move(what));
}

/// Posts keep their order among each other, as they do on the real one: each event takes the oldest.
void SimulatedReactor::post(std::function<void()> what) {
  if (!*alive_) return;
  posted_.push_back(std::move(what));
  schedule(scheduler_.now(), [this] {
    const auto next = std::move(posted_.front());
    posted_.pop_front();
    next();
  });
}

bool SimulatedReactor::is_mine(const Address& address) const {
  return address.is_any() || address.is_loopback() || address.ip == host_.ip;
}

SimulatedNetwork::Ip SimulatedReactor::host_of(const Address& target) const {
  return is_mine(target) ? host_.ip : target.ip;
}

Address SimulatedReactor::source_for(const Address& target, std::uint16_t port) const {
  return (is_mine(target) && !target.is_any() ? target : host_).with_port(port);
}

Result<std::unique_ptr<Listener>, NetError> SimulatedReactor::listen(
    const Address& at, std::function<void(std::unique_ptr<Stream>)> on_accept) {
  if (!is_mine(at)) return fail(NetError{NetFault::bad_address, to_string(at) + " is not an address of this host"});
  const Address bound = at.port != 0 ? at : at.with_port(network_.free_port(host_.ip));
  auto state = std::make_shared<SimulatedNetwork::ListenerState>(
      SimulatedNetwork::ListenerState{this, bound, std::move(on_accept)});
  if (!network_.listeners_.try_emplace({host_.ip, bound.port}, state).second) {
    return fail(NetError{NetFault::in_use, to_string(at) + " is in use"});
  }
  return std::unique_ptr<Listener>(std::make_unique<SimulatedListener>(std::move(state)));
}

std::unique_ptr<Stream> SimulatedReactor::connect(const Address& to) {
  auto connection = std::make_shared<Connection>(network_, ++network_.last_connection_);
  End& mine = connection->ends[0];
  End& theirs = connection->ends[1];
  mine.reactor = this;
  mine.host = host_.ip;
  theirs.host = host_of(to);
  mine.local = theirs.peer = source_for(to, network_.free_port(host_.ip));
  mine.peer = theirs.local = to;
  scheduler_.history().note(scheduler_.now(), "connect", {number_of(mine.local), number_of(to)});
  auto stream = std::make_unique<SimulatedStream>(connection, 0);
  connection->connect(to, scheduler_.now());
  return stream;
}

Result<std::unique_ptr<DatagramPort>, NetError> SimulatedReactor::open_datagrams(const Address& at) {
  if (!is_mine(at)) return fail(NetError{NetFault::bad_address, to_string(at) + " is not an address of this host"});
  auto state = std::make_shared<PortState>();
  state->reactor = this;
  state->bound = at.port != 0 ? at : at.with_port(network_.free_port(host_.ip));
  if (!network_.ports_.try_emplace({host_.ip, state->bound.port}, state).second) {
    return fail(NetError{NetFault::in_use, to_string(at) + " is in use"});
  }
  return std::unique_ptr<DatagramPort>(std::make_unique<SimulatedDatagrams>(std::move(state)));
}

void SimulatedReactor::run() {
  while (!stopped_ && scheduler_.step()) {
  }
  stopped_ = false;
}

/// The world goes on meanwhile: in a task by sleeping, elsewhere by running it.
bool SimulatedReactor::poll(WallTime until) {
  const std::uint64_t before = fired_;
  scheduler_.sleep_until(std::max(until - clock_offset_, scheduler_.now()),
                         [this](std::function<void()> wake) { waker_ = std::move(wake); });
  waker_ = nullptr;
  return fired_ != before;
}

void SimulatedReactor::kill() {
  scheduler_.history().note(scheduler_.now(), "kill", {number_of(host_)});
  *alive_ = false;
  posted_.clear();
  const auto connections = connections_;
  for (const auto& [id, end] : connections) end.first->hang_up(end.second);
  std::erase_if(network_.listeners_, [this](const auto& entry) {
    if (entry.second->reactor == this) entry.second->open = false;
    return !entry.second->open;
  });
  std::erase_if(network_.ports_, [this](const auto& entry) {
    if (entry.second->reactor == this) entry.second->open = false;
    return !entry.second->open;
  });
}

}  // namespace isochron
