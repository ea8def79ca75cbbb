#include "link/faults.hpp"

#include <charconv>
#include <deque>
#include <vector>

#include "core/time_text.hpp"

namespace isochron::link {
namespace {

constexpr double held_back_share = 0.1;
constexpr WallSpan held_back_least = std::chrono::milliseconds(2);

/// What befalls one direction of a link, by its seed.
class Chance {
 public:
  Chance(const Faults& faults, const std::string& name) : faults_(faults), random_(faults.seed, name) {}
  bool lost() { return random_.chance(faults_.loss); }
  bool doubled() { return random_.chance(faults_.duplicate); }
  bool held_back() { return faults_.reorder && random_.chance(held_back_share); }
  WallSpan delay() {
    const double jitter = faults_.jitter == WallSpan::zero() ? 0 : random_.uniform(-1, 1) * faults_.jitter.seconds();
    return std::max(WallSpan::zero(), faults_.delay + WallSpan::from_seconds(jitter));
  }
  [[nodiscard]] const Faults& faults() const { return faults_; }

 private:
  Faults faults_;
  RandomStream random_;
};

/// One direction of a port: decides, and hands on now or later.
class FaultyDirection {
 public:
  using Deliver = std::function<void(const Datagram&)>;
  FaultyDirection(Reactor& reactor, const Faults& faults, const std::string& name, Deliver deliver)
      : reactor_(reactor), chance_(faults, name), deliver_(std::move(deliver)) {}

  void take(const Datagram& datagram) {
    if (chance_.lost()) return;
    pass(datagram);
    if (chance_.doubled()) pass(datagram);
  }

 private:
  void pass(const Datagram& datagram) {
    const WallSpan delay = chance_.delay();
    WallTime at = reactor_.now() + delay;
    if (chance_.held_back()) {
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
  Reactor& reactor_;
  Chance chance_;
  Deliver deliver_;
  WallTime last_ = WallTime::zero();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: timers ask it after we are gone
};

class FaultyPort final : public DatagramPort {
 public:
  FaultyPort(Reactor& reactor, std::unique_ptr<DatagramPort> port, const Faults& faults, const std::string& name)
      : port_(std::move(port)),
        out_(reactor, faults, name + "/out",
             [this](const Datagram& d) {
               port_->send({&d, 1});
             }),
        in_(reactor, faults, name + "/in", [this](const Datagram& d) {
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
  FaultyDirection out_, in_;
};

/// When the next piece of one direction of a stream arrives: always after the one before.
class Queue {
 public:
  Queue(const Faults& faults, const std::string& name) : chance_(faults, name) {}
  WallTime arrival(WallTime now) {
    const WallSpan delay = chance_.delay();
    WallTime at = now + delay;
    if (chance_.lost()) at += chance_.faults().resend;
    if (chance_.held_back()) at += held_back_least + delay;
    return last_ = std::max(last_ + WallSpan::from_ns(1), at);
  }

 private:
  Chance chance_;
  WallTime last_ = WallTime::zero();
};

/// The way between a stream and its user. It lives until the last byte that was sent is on its way.
class Way : public std::enable_shared_from_this<Way> {
 public:
  Way(Reactor& reactor, std::unique_ptr<Stream> stream, const Faults& faults, const std::string& name)
      : reactor_(reactor), stream_(std::move(stream)), out_(faults, name + "/out"), in_(faults, name + "/in") {}

  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] WallTime arrived() const { return arrived_; }

  void set_events(Stream::Events events) {
    events_ = std::make_shared<Stream::Events>(std::move(events));
    const std::weak_ptr<Way> self = weak_from_this();
    stream_->set_events({[self](std::span<const std::byte> bytes) {
                           if (const auto way = self.lock()) way->came({bytes.begin(), bytes.end()});
                         },
                         [self] {
                           const auto way = self.lock();
                           if (way && way->events_ && way->events_->on_writable)
                             way->call(&Stream::Events::on_writable);
                         },
                         [self](const NetError& error) {
                           if (const auto way = self.lock()) way->closed(error);
                         }});
  }

  void send(std::span<const std::byte> bytes) {
    const std::vector<std::byte> kept(bytes.begin(), bytes.end());
    reactor_.call_at(out_.arrival(reactor_.now()), [way = shared_from_this(), kept] { way->stream_->send(kept); });
  }

  void pause(bool pause) {
    const auto self = shared_from_this();  // who is called may let go of us
    paused_ = pause;
    stream_->pause_reading(pause);
    while (!paused_ && !held_.empty()) {
      const auto next = std::move(held_.front());
      held_.pop_front();
      next();
    }
  }
  /// The user is gone: whatever comes is nobody's.
  void abandon() { events_.reset(); }

 private:
  void came(const std::vector<std::byte>& bytes) {
    later([this, bytes] {
      arrived_ = reactor_.now();
      if (events_ && events_->on_bytes) call(&Stream::Events::on_bytes, bytes);
    });
  }
  void closed(const NetError& error) {
    later([this, error] {
      if (events_ && events_->on_closed) call(&Stream::Events::on_closed, error);
    });
  }
  void later(const std::function<void()>& what) {
    reactor_.call_at(in_.arrival(reactor_.now()), [self = weak_from_this(), what] {
      const auto way = self.lock();
      if (!way) return;
      if (way->paused_ || !way->held_.empty()) return way->held_.push_back(what);
      what();
    });
  }
  /// Those who are called may replace their events, or go.
  template <class F, class... A>
  void call(F Stream::Events::*which, const A&... with) {
    const auto events = events_;
    (events.get()->*which)(with...);
  }

  Reactor& reactor_;
  std::unique_ptr<Stream> stream_;
  Queue out_, in_;
  std::shared_ptr<Stream::Events> events_;  // shared with the call that is under way
  std::deque<std::function<void()>> held_;  // while paused
  bool paused_ = false;
  WallTime arrived_ = WallTime::zero();
};

class FaultyStream final : public Stream {
 public:
  FaultyStream(Reactor& reactor, std::unique_ptr<Stream> stream, const Faults& faults, const std::string& name)
      : way_(std::make_shared<Way>(reactor, std::move(stream), faults, name)) {}
  ~FaultyStream() override { way_->abandon(); }
  void set_events(Events events) override { way_->set_events(std::move(events)); }
  void send(std::span<const std::byte> bytes) override { way_->send(bytes); }
  [[nodiscard]] std::size_t pending() const override { return way_->stream().pending(); }
  [[nodiscard]] Address peer() const override { return way_->stream().peer(); }
  void pause_reading(bool pause) override { way_->pause(pause); }
  void stamp_arrivals() override { stamps_ = true; }
  [[nodiscard]] std::optional<WallTime> arrived() const override {
    return stamps_ ? std::optional(way_->arrived()) : std::nullopt;
  }

 private:
  std::shared_ptr<Way> way_;  // shared with what is under way
  bool stamps_ = false;
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

FaultyReactor::FaultyReactor(Reactor& inner, const Faults& faults, std::string name, Streams streams)
    : inner_(inner), faults_(faults), name_(std::move(name)), streams_(streams) {}

std::string FaultyReactor::next_name() { return name_ + "/" + std::to_string(opened_++); }

std::unique_ptr<Stream> FaultyReactor::worsened(std::unique_ptr<Stream> stream) {
  if (!faults_.any()) return stream;
  return std::make_unique<FaultyStream>(inner_, std::move(stream), faults_, next_name());
}

Result<std::unique_ptr<Listener>, NetError> FaultyReactor::listen(
    const Address& at, std::function<void(std::unique_ptr<Stream>)> on_accept) {
  if (streams_ == Streams::connected) return inner_.listen(at, std::move(on_accept));
  return inner_.listen(at, [this, accept = std::move(on_accept)](std::unique_ptr<Stream> stream) {
    accept(worsened(std::move(stream)));
  });
}

std::unique_ptr<Stream> FaultyReactor::connect(const Address& to) { return worsened(inner_.connect(to)); }

Result<std::unique_ptr<DatagramPort>, NetError> FaultyReactor::open_datagrams(const Address& at) {
  auto opened = inner_.open_datagrams(at);
  if (!opened || !faults_.any()) return opened;
  return std::unique_ptr<DatagramPort>(std::make_unique<FaultyPort>(inner_, std::move(*opened), faults_, next_name()));
}

}  // namespace isochron::link
