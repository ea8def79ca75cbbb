#include <atomic>

#include "client/serial_pump.hpp"
#include "client/tcp_link.hpp"

namespace isochron::client {
namespace {

/// Each thread that talks has a connection of its own; it ends with the thread.
thread_local TcpLink link_of_this_thread;

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpAddress address) : address_(std::move(address)) {}
  TcpTransport(TcpAddress address, SerialPlace line) : address_(std::move(address)), line_(std::move(line)) {}

  bool begin(std::string& why) {
    std::uint64_t session = 0;
    if (line_) {
      const int socket = open_serial(*line_, why);
      if (socket < 0 || !link_of_this_thread.open_on(socket, address_, session, why)) return false;
    } else if (!link_of_this_thread.open(address_, session, why)) {
      return false;
    }
    session_.store(session);
    return true;
  }

  bool ask(protocol::Exchange& exchange, const Payload& payload, std::string& why) override {
    if (!link_of_this_thread.is_open() && !link_of_this_thread.ended() && !join(why)) return false;
    return link_of_this_thread.ask(exchange, payload, why);
  }

  std::int64_t now() override {
    std::string why;
    if (!link_of_this_thread.is_open() && !join(why)) return 0;
    if (link_of_this_thread.held()) return link_of_this_thread.now();
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(protocol::Ask::clock);
    return link_of_this_thread.ask(exchange, {}, why) ? exchange.time : 0;
  }

 private:
  /// Another thread of the same target.
  bool join(std::string& why) {
    if (lost_.load()) return why = "the connection to the host is gone", false;
    if (line_) return why = "a serial line carries one thread of a program; let the one that attached talk", false;
    std::uint64_t session = session_.load();
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(protocol::Ask::attach);
    exchange.number = protocol::version;
    const bool joined = link_of_this_thread.open(address_, session, why) && link_of_this_thread.ask(exchange, {}, why);
    if (!joined) lost_.store(true);
    return joined;
  }

  TcpAddress address_;
  std::optional<SerialPlace> line_;  // there is no address, but this
  std::atomic<std::uint64_t> session_{0};
  std::atomic<bool> lost_{false};
};

}  // namespace

std::unique_ptr<Transport> open_line(const char* address, std::string& why) {
  TcpAddress parsed;
  SerialPlace line;
  why = parse_serial(address, line, parsed.name);
  if (why.empty()) why = read_identity(parsed);
  if (!why.empty()) return nullptr;
  auto transport = std::make_unique<TcpTransport>(std::move(parsed), std::move(line));
  if (!transport->begin(why)) return nullptr;
  return transport;
}

std::unique_ptr<Transport> open_tcp(const char* address, std::string& why) {
  TcpAddress parsed;
  why = parse_tcp(address, parsed);
  if (!why.empty()) return nullptr;
  auto transport = std::make_unique<TcpTransport>(std::move(parsed));
  if (!transport->begin(why)) return nullptr;
  return transport;
}

}  // namespace isochron::client
