#include "run/wire_end.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace isochron {
namespace {

using programs::Endpoint;
using programs::ReadInto;
using programs::Socket;
using programs::StreamSocket;
using programs::System;

class Datagrams final : public WireEnd {
 public:
  Datagrams(std::shared_ptr<Socket> socket, std::uint16_t port, std::optional<Endpoint> to)
      : socket_(std::move(socket)), port_(port), to_(std::move(to)), fixed_(to_), room_(WireFormat::longest) {}

  void receive(SimTime now, const WireFormat&, const Heard& heard) override {
    for (;;) {
      ReadInto into{.room = room_, .from = {}, .stamp = {}};
      const auto got = socket_->read(into, now);
      if (!got || *got < 0) return;
      if (!fixed_) to_ = into.from;
      heard.message(std::span(room_).first(into.used));
    }
  }

  bool send(std::span<const std::byte> message, SimTime now) override {
    if (!to_) return false;
    const auto sent = socket_->write(message, &*to_, now);
    return sent && *sent >= 0;
  }

  std::string where() const override { return "simulated UDP port " + std::to_string(port_); }

 private:
  std::shared_ptr<Socket> socket_;
  std::uint16_t port_;
  std::optional<Endpoint> to_, fixed_;
  std::vector<std::byte> room_;
};

class Streams final : public WireEnd {
 public:
  Streams(std::shared_ptr<Socket> listener, std::uint16_t port)
      : listener_(std::move(listener)), port_(port), room_(WireFormat::longest) {}

  void receive(SimTime now, const WireFormat& format, const Heard& heard) override {
    while (std::shared_ptr<StreamSocket> next = listener_->accept(now)) {
      ++next->opens;
      peers_.push_back({std::move(next), {}, {}});
    }
    for (Peer& peer : peers_) hear(peer, now, format, heard);
    std::erase_if(peers_, [](const Peer& peer) { return peer.socket == nullptr; });
  }

  /// Who does not read is not sent more: a message goes out whole or not at all, and the rest of one before the next.
  bool send(std::span<const std::byte> message, SimTime now) override {
    bool all = !peers_.empty();
    for (Peer& peer : peers_) {
      if (peer.rest.empty())
        peer.rest.assign(message.begin(), message.end());
      else
        all = false;
      const auto sent = peer.socket->write(peer.rest, nullptr, now);
      if (sent && *sent > 0) peer.rest.erase(peer.rest.begin(), peer.rest.begin() + *sent);
    }
    return all;
  }

  std::string where() const override { return "simulated TCP port " + std::to_string(port_); }

 private:
  struct Peer {
    std::shared_ptr<StreamSocket> socket;
    std::vector<std::byte> heard, rest;
  };

  void hear(Peer& peer, SimTime now, const WireFormat& format, const Heard& heard) {
    for (;;) {
      ReadInto into{.room = room_, .from = {}, .stamp = {}};
      const auto got = peer.socket->read(into, now);
      if (got && *got > 0) {
        peer.heard.insert(peer.heard.end(), room_.begin(), room_.begin() + *got);
        std::size_t at = 0;
        while (const std::size_t size = format.first_message(std::span(peer.heard).subspan(at))) {
          heard.message(std::span(peer.heard).subspan(at, size));
          at += size;
        }
        peer.heard.erase(peer.heard.begin(), peer.heard.begin() + static_cast<std::ptrdiff_t>(at));
        if (peer.heard.size() <= WireFormat::longest) continue;
        heard.wrong("a message is longer than " + std::to_string(WireFormat::longest) +
                    " bytes; its connection is closed");
      } else if (!got) {
        return;
      }
      const std::shared_ptr<StreamSocket> gone = std::exchange(peer.socket, nullptr);
      --gone->opens;
      gone->closed(now);
      return;
    }
  }

  std::shared_ptr<Socket> listener_;
  std::uint16_t port_;
  std::vector<Peer> peers_;
  std::vector<std::byte> room_;
};

Result<std::shared_ptr<Socket>, std::string> bound(System& system, const std::string& robot, int type,
                                                   std::uint16_t port) {
  std::shared_ptr<Socket> socket = system.open_socket(robot, type);
  const auto done = socket->bind({AF_INET, 0, port, ""});
  if (!done || *done < 0) return fail("port " + std::to_string(port) + " of robot " + robot + " is taken");
  return socket;
}

}  // namespace

Result<std::unique_ptr<WireEnd>, std::string> open_datagrams(System& system, const std::string& robot,
                                                             std::uint16_t port, std::optional<Endpoint> to) {
  auto socket = bound(system, robot, SOCK_DGRAM, port);
  if (!socket.ok()) return fail(socket.error());
  return std::unique_ptr<WireEnd>(std::make_unique<Datagrams>(std::move(*socket), port, std::move(to)));
}

Result<std::unique_ptr<WireEnd>, std::string> open_streams(System& system, const std::string& robot,
                                                           std::uint16_t port) {
  auto socket = bound(system, robot, SOCK_STREAM, port);
  if (!socket.ok()) return fail(socket.error());
  (void)(*socket)->listen(16);
  return std::unique_ptr<WireEnd>(std::make_unique<Streams>(std::move(*socket), port));
}

}  // namespace isochron
