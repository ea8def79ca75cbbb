#pragma once
// A reactor for one thing on a desk: whoever listens on it is handed a stream, into which a test puts bytes and from
// which it takes what was sent. No clock, no network.

#include <memory>
#include <utility>
#include <vector>

#include "core/network.hpp"

namespace isochron::v2x {

class DeskReactor final : public Reactor {
 public:
  struct Wire {
    Stream::Events events;
    std::vector<std::byte> sent;
    bool open = true;
  };

  /// A visitor comes; null = nobody listens.
  std::shared_ptr<Wire> visit() {
    if (!on_accept_) return nullptr;
    auto wire = std::make_shared<Wire>();
    on_accept_(std::make_unique<DeskStream>(wire));
    return wire;
  }
  /// The visitor says so, unless it was shown out.
  static void say(Wire& wire, std::span<const std::byte> bytes) {
    const auto on_bytes = wire.events.on_bytes;  // it may be closed meanwhile
    if (wire.open && on_bytes) on_bytes(bytes);
  }
  static void leave(Wire& wire) {
    const auto on_closed = wire.events.on_closed;
    if (wire.open && on_closed) on_closed({NetFault::closed, "gone"});
  }

  WallTime now() override { return WallTime::zero(); }
  TimerId call_at(WallTime, std::function<void()>) override { return ++timers_; }
  void cancel(TimerId) override {}
  void post(std::function<void()> what) override { what(); }
  Result<std::unique_ptr<Listener>, NetError> listen(const Address& at,
                                                     std::function<void(std::unique_ptr<Stream>)> on_accept) override {
    on_accept_ = std::move(on_accept);
    return std::unique_ptr<Listener>(std::make_unique<DeskListener>(at));
  }
  std::unique_ptr<Stream> connect(const Address&) override { return nullptr; }
  Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address&) override {
    return fail(NetError{NetFault::other, "a desk has none"});
  }
  void run() override {}
  void stop() override {}

 private:
  class DeskStream final : public Stream {
   public:
    explicit DeskStream(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
    ~DeskStream() override { wire_->open = false; }
    void set_events(Events events) override { wire_->events = std::move(events); }
    void send(std::span<const std::byte> bytes) override {
      wire_->sent.insert(wire_->sent.end(), bytes.begin(), bytes.end());
    }
    [[nodiscard]] std::size_t pending() const override { return 0; }
    [[nodiscard]] Address peer() const override { return Address::loopback(1); }
    void pause_reading(bool) override {}

   private:
    std::shared_ptr<Wire> wire_;
  };
  class DeskListener final : public Listener {
   public:
    explicit DeskListener(const Address& at) : at_(at) {}
    [[nodiscard]] Address local() const override { return at_; }

   private:
    Address at_;
  };

  std::function<void(std::unique_ptr<Stream>)> on_accept_;
  TimerId timers_ = 0;
};

}  // namespace isochron::v2x
