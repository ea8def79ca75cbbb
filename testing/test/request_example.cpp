#include "testing/test/request_example.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace isochron::example {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<DatagramPort> open(Reactor& reactor, const Address& at) {
  auto port = reactor.open_datagrams(at);
  ENSURE(port.ok(), "the example's port is free");
  return std::move(*port);
}

void send(DatagramPort& port, const Address& to, const Packet& packet) {
  const Datagram datagram{to, std::as_bytes(std::span(&packet, 1))};
  port.send({&datagram, 1});
}

std::optional<Packet> read(const Datagram& datagram) {
  Packet packet;
  if (datagram.bytes.size() != sizeof packet) return std::nullopt;
  std::memcpy(&packet, datagram.bytes.data(), sizeof packet);
  return packet;
}

}  // namespace

CounterServer::CounterServer(Reactor& reactor, const Address& at, Care care) : care_(care), port_(open(reactor, at)) {
  port_->set_receiver([this](std::span<const Datagram> datagrams) { receive(datagrams); });
}

void CounterServer::receive(std::span<const Datagram> datagrams) {
  for (const Datagram& datagram : datagrams) {
    const auto packet = read(datagram);
    if (!packet) continue;
    Client& client = clients_[datagram.address];
    if (packet->request < client.last_request) continue;  // an old one that was held back
    if (packet->request > client.last_request || care_ == Care::adds_again_when_asked_again) {
      sum_ += packet->number;
      client = {packet->request, sum_};
    }
    send(*port_, datagram.address, {packet->request, client.answer});
  }
}

CounterClient::CounterClient(Reactor& reactor, const Address& at, const Address& server, Care care)
    : reactor_(reactor), server_(server), care_(care), port_(open(reactor, at)) {
  port_->set_receiver([this](std::span<const Datagram> datagrams) { receive(datagrams); });
}

void CounterClient::add(std::vector<std::int64_t> numbers, std::function<void()> when_done) {
  numbers_ = std::move(numbers);
  answers_.clear();
  when_done_ = std::move(when_done);
  ask();
}

void CounterClient::ask() {
  send(*port_, server_, {answers_.size() + 1, numbers_[answers_.size()]});
  timer_ = reactor_.call_at(reactor_.now() + milliseconds(30), [this] { ask(); });
}

void CounterClient::receive(std::span<const Datagram> datagrams) {
  for (const Datagram& datagram : datagrams) {
    const auto packet = read(datagram);
    const bool mine = packet && (packet->request == answers_.size() + 1 || care_ == Care::takes_any_answer);
    if (!mine || answers_.size() == numbers_.size()) continue;
    answers_.push_back(packet->number);
    reactor_.cancel(timer_);
    if (answers_.size() == numbers_.size()) return when_done_();
    ask();
  }
}

}  // namespace isochron::example
