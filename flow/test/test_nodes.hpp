#pragma once
// Nodes that tests build systems of, and a trace of what happened at them.

#include <functional>
#include <string>
#include <vector>

#include "flow/run.hpp"
#include "flow/system.hpp"

namespace isochron::flow::test {

using namespace std::chrono_literals;

inline SimTime at(SimSpan since_zero) { return SimTime::zero() + since_zero; }

/// "t:what" in the order in which it happened.
using Trace = std::vector<std::string>;

/// Emits 1, 2, 3, … on `out`.
class Source : public UserNode {
 public:
  explicit Source(Schedule schedule, std::uint32_t capacity = 4)
      : out_(output<&Source::fill>("out", schedule, capacity)) {}
  std::int64_t count = 0;

 private:
  void fill(std::int64_t& value) { value = ++count; }
  Output<std::int64_t> out_;
};

/// Consumes only, any number of inputs; writes "time:input=value" into the trace.
class Sink : public UserNode {
 public:
  explicit Sink(std::uint32_t inputs = 1, Trace* trace = nullptr) : trace_(trace) {
    for (std::uint32_t i = 0; i < inputs; ++i) inputs_.push_back(input<&Sink::got>("in" + std::to_string(i)));
  }
  std::uint64_t count = 0;
  std::int64_t last = 0;

 private:
  void got(const std::int64_t& value, SimTime t, InputId id) {
    ++count;
    last = value;
    if (trace_ == nullptr) return;
    trace_->push_back(std::to_string(t.ns()) + ":" + std::to_string(id.index) + "=" + std::to_string(value));
  }
  std::vector<Input<std::int64_t>> inputs_;
  Trace* trace_;
};

/// Adds up what it hears and tells the sum: any change of order changes the sum's bits.
class Mixer : public UserNode {
 public:
  Mixer(std::uint32_t inputs, Schedule schedule, std::uint32_t capacity = 4)
      : out_(output<&Mixer::fill>("out", schedule, capacity)) {
    for (std::uint32_t i = 0; i < inputs; ++i) inputs_.push_back(input<&Mixer::got>("in" + std::to_string(i)));
  }

 private:
  void got(const double& value, SimTime t, InputId id) {
    sum_ = sum_ * 0.75 + value * (1 + id.index) + 1e-3 * t.seconds();
  }
  void fill(double& value) { value = sum_ = sum_ * 0.999 + 0.1; }
  double sum_ = 1;
  std::vector<Input<double>> inputs_;
  Output<double> out_;
};

/// n mixers, each hears k others; periods 1, 2, 3 ms; some observe.
inline System mixed_system(std::uint32_t n = 5, std::uint32_t k = 2, std::uint32_t capacity = 2) {
  System system;
  for (std::uint32_t i = 0; i < n; ++i) {
    const SimSpan period = SimSpan(1ms) * (1 + i % 3);
    const Schedule schedule = i == 0 ? observes(period) : every(period);
    system.add<Mixer>("m" + std::to_string(i), k, schedule, capacity);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < k; ++j) system.connect(PortRef{(i + j + 1) % n, 0}, PortRef{i, j});
  }
  return system;
}

/// Does what a function says for each message; throws, sleeps, counts.
class Hook : public UserNode {
 public:
  explicit Hook(std::function<void(SimTime)> on_message) : on_message_(std::move(on_message)) {}

 private:
  void got(const std::int64_t&, SimTime t) { on_message_(t); }
  std::function<void(SimTime)> on_message_;
  Input<std::int64_t> in_ = input<&Hook::got>("in");
};

/// Passes on what it hears a second later, with a lookahead that is far shorter. The first one begins.
class Quiet : public UserNode {
 public:
  Quiet(bool begins, std::uint32_t inputs, SimSpan lookahead)
      : begins_(begins), lookahead_(lookahead), out_(event<std::int64_t>("out", lookahead)) {
    for (std::uint32_t i = 0; i < inputs; ++i) inputs_.push_back(input<&Quiet::got>("in" + std::to_string(i)));
  }
  void start(SimTime now) override {
    if (begins_) out_.send(now + 1s, 1);
  }

 private:
  void got(const std::int64_t& value, SimTime t, InputId id) {
    if (id.index == 0) out_.send(t + 1s, value + 1);
    if (id.index == 1 && value % 7 == 0) out_.send(t + lookahead_, -value);
  }
  bool begins_;
  SimSpan lookahead_;
  std::vector<Input<std::int64_t>> inputs_;
  Event<std::int64_t> out_;
};

inline constexpr SimSpan shortest = 10ns;  // a second of silence would be a hundred million turns

inline System quiet_ring(std::uint32_t nodes, SimSpan lookahead = shortest) {
  System system;
  for (std::uint32_t i = 0; i < nodes; ++i) system.add<Quiet>("n" + std::to_string(i), i == 0, 1U, lookahead);
  for (std::uint32_t i = 0; i < nodes; ++i) system.connect(PortRef{i, 0}, {(i + 1) % nodes, 0});
  return system;
}

/// The same, and one of them hears a clock that ticks far ahead of it, which another one hears too.
inline System quiet_ring_with_a_clock(std::uint32_t nodes, SimSpan lookahead = shortest) {
  System system;
  for (std::uint32_t i = 0; i < nodes; ++i)
    system.add<Quiet>("n" + std::to_string(i), i == 0, i < 2 ? 2U : 1U, lookahead);
  system.add<Source>("clock", every(70ms));
  for (std::uint32_t i = 0; i < nodes; ++i) system.connect(PortRef{i, 0}, {(i + 1) % nodes, 0});
  for (std::uint32_t i = 0; i < 2; ++i) system.connect(PortRef{nodes, 0}, {i, 1});
  return system;
}

}  // namespace isochron::flow::test
