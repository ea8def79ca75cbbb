#pragma once
// A target for tests on the simulated network: it computes for a while, asks, and goes on when it is answered. What it
// does is a list of steps; what it saw is kept.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "core/plant.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"
#include "protocol/target_wire.hpp"

namespace isochron::programs {

/// A world of one number that grows by one each step, and one that can be written.
class CountingPlant final : public Plant {
 public:
  explicit CountingPlant(SimSpan step) : step_(step) {
    variables_ = {{"uav/count", "float64", 8, true, false},
                  {"uav/push", "float64", 8, true, true},
                  {"uav/camera", "float64", 8, true, false}};
  }
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  [[nodiscard]] SimTime time() const override { return time_; }
  Result<Done, std::string> advance_to(SimTime t) override {
    while (time_ + step_ <= t) {
      time_ += step_;
      ++count_;
    }
    return done();
  }
  SimTime asked(std::uint32_t variable, SimTime at) override { return variable == 2 ? at + acquisition : at; }
  void read(std::uint32_t variable, SimTime, std::span<std::byte> value) override {
    const double number = variable == 1 ? push_ : count_;
    std::memcpy(value.data(), &number, sizeof number);
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t, std::span<const std::byte>) const override {
    return done();
  }
  void write(std::uint32_t, SimTime at, std::span<const std::byte> value) override {
    std::memcpy(&push_, value.data(), sizeof push_);
    written.emplace_back(at, push_);
  }

  SimSpan acquisition = std::chrono::milliseconds(37);
  std::vector<std::pair<SimTime, double>> written;

 private:
  SimSpan step_;
  std::vector<Variable> variables_;
  SimTime time_;
  double count_ = 0, push_ = 0;
};

class SimTarget {
 public:
  struct Saw {
    protocol::Verdict verdict;
    SimTime at;
    double value;
    std::string text;
  };
  struct Step {
    WallSpan compute;
    protocol::Ask ask = protocol::Ask::clock;
    std::uint32_t index = 0;
    std::int64_t time = 0, number = 0;
    std::string name;
    double value = 0;
  };
  static Step read(WallSpan compute, std::uint32_t index = 0) { return {compute, protocol::Ask::read, index}; }
  static Step write(WallSpan compute, double value) { return {compute, protocol::Ask::write, 1, 0, 0, "", value}; }
  static Step wait(WallSpan compute, SimSpan period) { return {compute, protocol::Ask::wait, 0, 0, period.ns()}; }

  SimTarget(Reactor& reactor, const Address& host, std::string name, std::deque<Step> steps, std::string key = "")
      : reactor_(reactor), host_(host), name_(std::move(name)), steps_(std::move(steps)), key_(std::move(key)) {
    connect();
  }

  void connect() {
    reader_ = link::FrameReader(1 << 20);
    stream_ = reactor_.connect(host_);
    stream_->set_events({[this](std::span<const std::byte> bytes) { receive(bytes); },
                         {},
                         [this](const NetError& error) {
                           closed = true;
                           if (refused.empty()) refused = error.what;
                         }});
    closed = attached_ = false;
  }
  /// Breaks the connection without a word, in the middle of whatever is going on.
  void hang_up() { stream_.reset(); }
  void send_raw(std::span<const std::byte> bytes) { stream_->send(bytes); }

  std::vector<Saw> saw;
  std::string refused;
  bool closed = false;
  bool finished = false;
  WallSpan clock_error{};  // added to the clock that it tells
  double clock_rate = 1;   // of the clock that it tells
  std::uint64_t session = 0;

 private:
  [[nodiscard]] std::int64_t clock() {
    return static_cast<std::int64_t>(static_cast<double>(reactor_.now().ns()) * clock_rate) + clock_error.ns();
  }
  template <class M>
  void send(const M& message) {
    std::array<std::byte, 600> room;
    send_frame(std::span(room).first(wire::write(room, message)));
  }
  void send_frame(std::span<const std::byte> payload) {
    std::vector<std::byte> out;
    link::append_frame(out, payload);
    stream_->send(out);
  }
  void receive(std::span<const std::byte> bytes) {
    (void)reader_
        .take(bytes,
              [this](std::span<const std::byte> frame) {
                take(frame);
                return true;
              })
        .ok();
  }
  void take(std::span<const std::byte> frame) {
    wire::Greeting greeting;
    wire::Ping ping;
    wire::Welcome welcome;
    wire::Answer answer;
    std::string_view why;
    if (wire::read(frame, greeting)) {
      say_hello(greeting);
    } else if (wire::read(frame, welcome)) {
      session = welcome.session;
      ask({{}, protocol::Ask::attach, 0, 0, protocol::version});
    } else if (wire::read(frame, ping)) {
      send(wire::Pong{ping.number, clock()});
    } else if (wire::read_refused(frame, why)) {
      refused = why;
    } else if (wire::read(frame, answer)) {
      take_answer(answer);
    }
  }
  void say_hello(const wire::Greeting& greeting) {
    wire::Hello hello;
    hello.name = name_;
    if (greeting.key_needed && !key_.empty()) {
      link::Responder responder(link::Key::parse(key_, "test"), wire::key_context + name_);
      const link::Answer answer = responder.answer(greeting.nonce);
      hello.nonce = answer.nonce;
      hello.proof = answer.proof;
    }
    send(hello);
  }
  void take_answer(const wire::Answer& answer) {
    received_ = clock();
    Saw s{static_cast<protocol::Verdict>(answer.verdict), SimTime::from_ns(answer.time), 0, ""};
    if (answer.payload.size() == 8) std::memcpy(&s.value, answer.payload.data(), 8);
    if (s.verdict > protocol::Verdict::ended) {
      s.text.assign(reinterpret_cast<const char*>(answer.payload.data()), answer.payload.size());
    }
    if (std::exchange(attached_, true)) saw.push_back(s);
    if (s.verdict == protocol::Verdict::ended) return void(finished = true);
    next();
  }
  void next() {
    if (steps_.empty()) {
      finished = true;
      return ask({{}, protocol::Ask::none});
    }
    const Step step = steps_.front();
    steps_.pop_front();
    reactor_.call_at(reactor_.now() + step.compute, [this, step] { ask(step); });
  }
  void ask(const Step& step) {
    if (!stream_) return;
    wire::Request request;
    request.ask = static_cast<std::uint8_t>(step.ask);
    request.index = step.index;
    request.time = step.time;
    request.number = step.number;
    request.name = step.name;
    request.received = received_;
    request.sent = clock();
    std::array<std::byte, 600> room;
    std::size_t size = wire::write_head(room, request);
    if (step.ask == protocol::Ask::write) {
      std::memcpy(room.data() + size, &step.value, 8);
      size += 8;
    }
    send_frame(std::span(room).first(size));
  }

  Reactor& reactor_;
  Address host_;
  std::string name_;
  std::deque<Step> steps_;
  std::string key_;
  link::FrameReader reader_{1 << 20};
  std::unique_ptr<Stream> stream_;
  bool attached_ = false;
  std::int64_t received_ = 0;
};

}  // namespace isochron::programs
