#pragma once
// A reactor for one thing on a desk: whoever listens on it is handed a stream, into which a test puts bytes and from
// which it takes what was sent; and so is whoever connects, or opens a port for datagrams. No clock, no network: timers
// never fire, which makes it quick enough for fuzzers.

#include <memory>
#include <utility>
#include <vector>

#include "core/network.hpp"

namespace isochron {

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
  /// What the last connect() leads to; null = nobody has connected.
  [[nodiscard]] const std::shared_ptr<Wire>& dialled() const { return dialled_; }
  /// A datagram comes, if there is a port for it.
  void drop_in(std::span<const std::byte> bytes) {
    const Datagram one{Address::loopback(1), bytes};
    if (receiver_ && *receiver_) (*receiver_)(std::span(&one, 1));
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
  std::unique_ptr<Stream> connect(const Address&) override {
    dialled_ = std::make_shared<Wire>();
    return std::make_unique<DeskStream>(dialled_);
  }
  Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address& at) override {
    receiver_ = std::make_shared<Receiver>();
    return std::unique_ptr<DatagramPort>(std::make_unique<DeskPort>(at, receiver_));
  }
  void run() override {}
  bool poll(WallTime) override { return false; }
  void stop() override {}

 private:
  using Receiver = std::function<void(std::span<const Datagram>)>;
  class DeskPort final : public DatagramPort {
   public:
    DeskPort(const Address& at, std::shared_ptr<Receiver> receiver) : at_(at), receiver_(std::move(receiver)) {}
    ~DeskPort() override { *receiver_ = nullptr; }
    void set_receiver(Receiver receiver) override { *receiver_ = std::move(receiver); }
    void send(std::span<const Datagram>) override {}
    [[nodiscard]] std::uint64_t dropped() const override { return 0; }
    [[nodiscard]] Address local() const override { return at_; }

   private:
    Address at_;
    std::shared_ptr<Receiver> receiver_;  // shared with the desk, which outlives it or does not
  };
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
  std::shared_ptr<Wire> dialled_;
  std::shared_ptr<Receiver> receiver_;
  TimerId timers_ = 0;
};

}  // namespace isochron
