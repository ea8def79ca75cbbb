#pragma once
// A simulated UDP port. Its state outlives the port itself, because datagrams may still be on their way to it.

#include <memory>
#include <vector>

#include "testing/reactor.hpp"

namespace isochron {

struct PortState : std::enable_shared_from_this<PortState> {
  struct Held {
    Address source;
    std::vector<std::byte> bytes;
  };
  SimulatedReactor* reactor = nullptr;
  Address bound;
  std::shared_ptr<std::function<void(std::span<const Datagram>)>> receiver;  // shared: it may be replaced while it runs
  std::vector<Held> inbox;
  std::size_t inbox_bytes = 0;
  bool open = true;
  bool waking = false;

  /// False: nobody takes it (the port is full, closed, or not for this sender).
  bool arrive(const Address& source, bool same_host, std::vector<std::byte> bytes);
  void hand_over();
};

class SimulatedDatagrams final : public DatagramPort {
 public:
  explicit SimulatedDatagrams(std::shared_ptr<PortState> state);
  ~SimulatedDatagrams() override;
  void set_receiver(std::function<void(std::span<const Datagram>)> receiver) override;
  void send(std::span<const Datagram> datagrams) override;
  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }
  [[nodiscard]] Address local() const override { return state_->bound; }

 private:
  [[nodiscard]] bool sendable(const Datagram& datagram) const;
  std::shared_ptr<PortState> state_;  // shared with the network's table and with wake-ups in the queue
  std::uint64_t dropped_ = 0;
};

}  // namespace isochron
