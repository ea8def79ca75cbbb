#include "link/faults.hpp"

#include <charconv>
#include <vector>

#include "core/time_text.hpp"

namespace isochron::link {
namespace {

constexpr double held_back_share = 0.1;
constexpr WallSpan held_back_least = std::chrono::milliseconds(2);

/// One direction: decides, and hands on now or later.
class Lane {
 public:
  using Deliver = std::function<void(const Datagram&)>;
  Lane(Reactor& reactor, const Faults& faults, std::uint64_t seed, const std::string& name, Deliver deliver)
      : reactor_(reactor), faults_(faults), random_(seed, name), deliver_(std::move(deliver)) {}

  void take(const Datagram& datagram) {
    if (random_.chance(faults_.loss)) return;
    pass(datagram);
    if (random_.chance(faults_.duplicate)) pass(datagram);
  }

 private:
  void pass(const Datagram& datagram) {
    const WallSpan delay = drawn_delay();
    WallTime at = reactor_.now() + delay;
    if (faults_.reorder && random_.chance(held_back_share)) {
      at += held_back_least + delay;  // without moving last_: others overtake it
    } else {
      at = last_ = std::max(last_ + WallSpan::from_ns(1), at);  // timers of one time fire in any order
    }
    if (at <= reactor_.now()) return deliver_(datagram);
    std::vector<std::byte> bytes(datagram.bytes.begin(), datagram.bytes.end());
    reactor_.call_at(at, [this, alive = std::weak_ptr(alive_), to = datagram.address, kept = std::move(bytes)] {
      if (!alive.expired()) deliver_({to, kept});
    });
  }
  WallSpan drawn_delay() {
    const double jitter = faults_.jitter == WallSpan::zero() ? 0 : random_.uniform(-1, 1) * faults_.jitter.seconds();
    return std::max(WallSpan::zero(), faults_.delay + WallSpan::from_seconds(jitter));
  }
  Reactor& reactor_;
  Faults faults_;
  RandomStream random_;
  Deliver deliver_;
  WallTime last_ = WallTime::zero();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: timers ask it after we are gone
};

class FaultyPort final : public DatagramPort {
 public:
  FaultyPort(Reactor& reactor, std::unique_ptr<DatagramPort> port, const Faults& faults, const std::string& name)
      : port_(std::move(port)),
        out_(reactor, faults, faults.seed, name + "/out",
             [this](const Datagram& d) {
               port_->send({&d, 1});
             }),
        in_(reactor, faults, faults.seed, name + "/in", [this](const Datagram& d) {
          receiver_({&d, 1});
        }) {}

  void set_receiver(std::function<void(std::span<const Datagram>)> receiver) override {
    receiver_ = std::move(receiver);
    port_->set_receiver([this](std::span<const Datagram> datagrams) {
      for (const Datagram& datagram : datagrams) in_.take(datagram);
    });
  }
  void send(std::span<const Datagram> datagrams) override {
    for (const Datagram& datagram : datagrams) out_.take(datagram);
  }
  [[nodiscard]] std::uint64_t dropped() const override { return port_->dropped(); }
  [[nodiscard]] Address local() const override { return port_->local(); }

 private:
  std::unique_ptr<DatagramPort> port_;
  std::function<void(std::span<const Datagram>)> receiver_ = [](std::span<const Datagram>) {};
  Lane out_, in_;
};

}  // namespace

Result<double, std::string> parse_share(std::string_view text) {
  const bool percent = !text.empty() && text.back() == '%';
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (percent) value /= 100;
  if (code != std::errc{} || end != digits.data() + digits.size() || !(value >= 0 && value <= 1)) {
    return fail("`" + std::string(text.substr(0, 40)) + "` is not a share; write 5% or 0.05");
  }
  return value;
}

Result<std::pair<WallSpan, WallSpan>, std::string> parse_delay(std::string_view text) {
  std::string first(text), second;
  for (const std::string_view mark : {"±", "+-"}) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) continue;
    first = text.substr(0, at);
    second = text.substr(at + mark.size());
    break;
  }
  // A jitter without a unit has that of the delay: 20ms±5.
  const auto unit = first.find_first_not_of("0123456789.");
  if (!second.empty() && second.find_first_not_of("0123456789.") == std::string::npos && unit != std::string::npos) {
    second += first.substr(unit);
  }
  const auto delay = parse_ns(first);
  const auto jitter = second.empty() ? Result<std::int64_t, std::string>(0) : parse_ns(second);
  if (!delay || !jitter || *delay < 0 || *jitter < 0) {
    return fail("`" + std::string(text.substr(0, 40)) + "` is not a delay; write 20ms or 20ms±5");
  }
  return std::pair{WallSpan::from_ns(*delay), WallSpan::from_ns(*jitter)};
}

std::unique_ptr<DatagramPort> with_faults(Reactor& reactor, std::unique_ptr<DatagramPort> port, const Faults& faults,
                                          std::string_view name) {
  if (!faults.any()) return port;
  return std::make_unique<FaultyPort>(reactor, std::move(port), faults, std::string(name));
}

}  // namespace isochron::link
