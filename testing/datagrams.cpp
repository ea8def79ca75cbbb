#include "testing/datagrams.hpp"

#include <utility>

namespace isochron {
namespace {

constexpr std::size_t largest_datagram = 65507;  // what UDP over IPv4 takes
constexpr std::size_t inbox_limit = 256 * 1024;

}  // namespace

bool PortState::arrive(const Address& source, bool same_host, std::vector<std::byte> bytes) {
  if (!open || !reactor->alive() || (bound.is_loopback() && !same_host)) return false;
  if (inbox_bytes + bytes.size() > inbox_limit) return false;
  inbox_bytes += bytes.size();
  inbox.push_back({source, std::move(bytes)});
  if (waking) return true;
  waking = true;
  // A process wakes up a little later, and then finds all that has come meanwhile.
  const auto lag = WallSpan::from_ns(static_cast<std::int64_t>(reactor->random_.below(20'000)));
  reactor->schedule(reactor->scheduler_.now() + lag, [self = shared_from_this()] { self->hand_over(); });
  return true;
}

void PortState::hand_over() {
  waking = false;
  if (!open || !receiver) return;
  const auto batch = std::exchange(inbox, {});
  inbox_bytes = 0;
  std::vector<Datagram> datagrams;
  datagrams.reserve(batch.size());
  for (const Held& held : batch) datagrams.push_back({held.source, held.bytes});
  const auto call = receiver;
  (*call)(datagrams);
}

SimulatedDatagrams::SimulatedDatagrams(std::shared_ptr<PortState> state) : state_(std::move(state)) {
  ++state_->reactor->objects_;
}

SimulatedDatagrams::~SimulatedDatagrams() {
  SimulatedReactor& reactor = *state_->reactor;
  if (state_->open) reactor.network_.ports_.erase({reactor.host_.ip, state_->bound.port});
  state_->open = false;
  --reactor.objects_;
}

void SimulatedDatagrams::set_receiver(std::function<void(std::span<const Datagram>)> receiver) {
  state_->receiver = std::make_shared<std::function<void(std::span<const Datagram>)>>(std::move(receiver));
  if (!state_->inbox.empty() && !state_->waking) {
    state_->waking = true;
    SimulatedReactor& reactor = *state_->reactor;
    reactor.schedule(reactor.scheduler_.now(), [state = state_] { state->hand_over(); });
  }
}

bool SimulatedDatagrams::sendable(const Datagram& datagram) const {
  const bool to_self = state_->reactor->is_mine(datagram.address);
  return datagram.bytes.size() <= largest_datagram && datagram.address.port != 0 &&
         (to_self || !state_->bound.is_loopback());
}

void SimulatedDatagrams::send(std::span<const Datagram> datagrams) {
  SimulatedReactor& reactor = *state_->reactor;
  if (!reactor.alive()) return;
  for (const Datagram& datagram : datagrams) {
    if (!sendable(datagram)) {
      ++dropped_;
      continue;
    }
    reactor.network_.send_datagram(reactor.host_.ip, reactor.host_of(datagram.address),
                                   reactor.source_for(datagram.address, state_->bound.port), datagram.address,
                                   datagram.bytes);
  }
}

}  // namespace isochron
