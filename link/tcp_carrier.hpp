#pragma once
// Packets over TCP connections, one for each two members. Everybody listens at its own address; of two members the one
// with the lower number connects, and connects again whenever the connection is lost.
//
// Where an accepted connection leads to is learned from what comes over it: only a packet that its member has sent just
// now, and that did not come before, shows the way to that member, and the connection that brought the last such packet
// is the way; the one before it is closed. So a stranger who sends on what it has recorded neither takes nor disturbs
// anybody's place. Connections that have not brought one within 5 s are closed; when there are too many, the oldest of
// these gives way.
//
// Threads: the reactor's. Fails: listening where one may not throws InputError.

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "core/network.hpp"
#include "link/carrier.hpp"
#include "link/frame.hpp"

namespace isochron::link {

class TcpCarrier final : public Carrier {
 public:
  /// The members' addresses by number, and who of them are peers of `self`.
  TcpCarrier(Reactor& reactor, std::vector<Address> addresses, std::uint32_t self, std::vector<std::uint32_t> peers);
  ~TcpCarrier() override;

  void start(Events events) override;
  void send(std::uint32_t to, std::span<const std::byte> packet) override;
  void answer(std::uint32_t to, std::span<const std::byte> packet) override;
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool flushed(std::uint32_t to) const override;
  void moved(std::uint32_t member, const Address& to) override;
  void run() override { reactor_.run(); }
  void stop() override { reactor_.stop(); }

 private:
  struct Line {
    std::unique_ptr<Stream> stream;
    FrameReader reader;
    std::optional<std::uint32_t> member;  // where it leads, once known
    WallTime since;
    bool dead = false;
  };
  void connect(std::uint32_t member);
  void adopt(std::unique_ptr<Stream> stream, std::optional<std::uint32_t> member);
  void arrived(Line& line, std::span<const std::byte> bytes);
  void lost(Line& line);
  bool took(Line& line, std::span<const std::byte> packet);
  void lead(Line& line, std::uint32_t member);
  void write(Line* line, std::span<const std::byte> packet);
  void make_room();
  void tick();

  Reactor& reactor_;
  std::vector<Address> addresses_;
  std::uint32_t self_;
  std::vector<std::uint32_t> peers_;
  Events events_;
  std::unique_ptr<Listener> listener_;
  std::list<Line> lines_;
  std::vector<Line*> way_;  // by member; null = none now
  Line* taking_ = nullptr;  // whose packet is being taken
  std::vector<WallTime> tried_;
  std::vector<std::byte> out_;
  Reactor::TimerId timer_ = 0;
};

}  // namespace isochron::link
