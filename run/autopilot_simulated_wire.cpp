#include <sys/socket.h>

#include <utility>

#include "programs/system/system.hpp"
#include "run/autopilot_wire.hpp"

namespace isochron {
namespace {

using programs::DatagramSocket;
using programs::Endpoint;
using programs::ReadInto;
using programs::Socket;
using programs::StreamSocket;

constexpr std::size_t largest = 65536;

class SimulatedDatagrams final : public AutopilotWire {
 public:
  SimulatedDatagrams(programs::System& system, std::string robot, std::shared_ptr<Socket> socket, std::uint16_t port)
      : system_(system),
        robot_(std::move(robot)),
        socket_(std::move(socket)),
        port_(port),
        where_("simulated UDP port " + std::to_string(port)),
        room_(largest) {}

  std::optional<Event> receive(SimTime now) override {
    if (!held_.empty()) return Event{Event::Kind::bytes, std::exchange(held_, {}), ""};
    ReadInto into{.room = room_, .from = {}, .stamp = {}};
    const auto got = socket_->read(into, now);
    if (!got || *got < 0) {
      if (!peer_ || system_.is_bound(robot_, peer_->port)) return std::nullopt;
      peer_.reset();
      return Event{Event::Kind::went, {}, ""};
    }
    autopilot::Bytes bytes(room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(into.used));
    if (peer_ && *peer_ == into.from) {
      heard_ = now;
      return Event{Event::Kind::bytes, std::move(bytes), ""};
    }
    if (peer_ && (now - heard_).ns() < replaced_after_ns) {
      return Event{Event::Kind::stranger, {}, programs::to_string(into.from)};
    }
    peer_ = into.from;
    heard_ = now;
    held_ = std::move(bytes);
    return Event{Event::Kind::came, {}, programs::to_string(into.from)};
  }

  void send(const autopilot::Packet& packet, SimTime now) override {
    if (packet.beyond == 0 && !peer_) return;
    Endpoint to = packet.beyond == 0 ? *peer_ : Endpoint{AF_INET, programs::loopback, port_, ""};
    if (packet.beyond > 0) to.port = static_cast<std::uint16_t>(port_ + packet.beyond);
    (void)socket_->write(packet.bytes, &to, now);
  }

  void wait(WallTime) override {}
  const std::string& where() const override { return where_; }

 private:
  programs::System& system_;
  std::string robot_;
  std::shared_ptr<Socket> socket_;
  std::uint16_t port_;
  std::string where_;
  autopilot::Bytes room_, held_;
  std::optional<Endpoint> peer_;
  SimTime heard_;
};

class SimulatedStream final : public AutopilotWire {
 public:
  SimulatedStream(std::shared_ptr<Socket> listener, std::uint16_t port)
      : listener_(std::move(listener)), where_("simulated TCP port " + std::to_string(port)), room_(largest) {}

  std::optional<Event> receive(SimTime now) override {
    if (peer_) {
      ReadInto into{.room = room_, .from = {}, .stamp = {}};
      const auto got = peer_->read(into, now);
      if (got && *got > 0) {
        return Event{Event::Kind::bytes, {room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(*got)}, ""};
      }
      if (got) {
        let_go(std::exchange(peer_, nullptr), now);
        return Event{Event::Kind::went, {}, ""};
      }
    }
    std::shared_ptr<StreamSocket> next = listener_->accept(now);
    if (!next) return std::nullopt;
    ++next->opens;
    const std::string who = next->peer() == nullptr ? "" : programs::to_string(*next->peer());
    if (peer_) {
      let_go(std::move(next), now);
      return Event{Event::Kind::stranger, {}, who};
    }
    peer_ = std::move(next);
    return Event{Event::Kind::came, {}, who};
  }

  // What does not fit because it does not read is lost, as a sensor's reading that nobody takes.
  void send(const autopilot::Packet& packet, SimTime now) override {
    if (peer_) (void)peer_->write(packet.bytes, nullptr, now);
  }

  void wait(WallTime) override {}
  const std::string& where() const override { return where_; }

 private:
  static void let_go(const std::shared_ptr<StreamSocket>& socket, SimTime now) {
    --socket->opens;
    socket->closed(now);
  }
  std::shared_ptr<Socket> listener_;
  std::shared_ptr<StreamSocket> peer_;
  std::string where_;
  autopilot::Bytes room_;
};

}  // namespace

Result<std::unique_ptr<AutopilotWire>, std::string> open_simulated_wire(programs::System& system,
                                                                        const std::string& robot, bool streams,
                                                                        std::uint16_t port) {
  std::shared_ptr<Socket> socket = system.open_socket(robot, streams ? SOCK_STREAM : SOCK_DGRAM);
  const auto bound = socket->bind({AF_INET, 0, port, ""});
  if (!bound || *bound < 0) return fail("port " + std::to_string(port) + " of robot " + robot + " is taken");
  if (!streams)
    return std::unique_ptr<AutopilotWire>(std::make_unique<SimulatedDatagrams>(system, robot, std::move(socket), port));
  (void)socket->listen(4);
  return std::unique_ptr<AutopilotWire>(std::make_unique<SimulatedStream>(std::move(socket), port));
}

}  // namespace isochron
