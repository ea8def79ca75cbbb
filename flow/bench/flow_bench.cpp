// Figures of flows (issue "Flows"), each beside what it is compared with. Topologies:
//
//   loop_2      a ⇄ b                        ring_8     a → b → … → h → a
//   fan_out_8   a → 8 sinks                  grid_64    8 × 8 torus, each hears its left and upper neighbour
//   all_k       every node sends to all others

#include "flow/bench/flow_bench.hpp"

#include <cmath>
#include <cstring>

#include "flow/assembly.hpp"
#include "flow/bench/cells.hpp"
#include "flow/bench/primitives.hpp"
#include "flow/c_node.hpp"
#include "flow/run.hpp"

namespace isochron::bench {
namespace {

using namespace isochron::flow;
using namespace std::chrono_literals;

class Ear : public UserNode {
  void got(const Message64& message) { sum_ += message.values[0]; }
  double sum_ = 0;
  Input<Message64> in_ = input<&Ear::got>("in");
};

/// Computes for a while each step.
class Busy : public UserNode {
  void fill(double& value) {
    double x = value_;
    for (int i = 0; i < 20'000; ++i) x = x * 0.999999 + 1e-9;
    value = value_ = x;
  }
  double value_ = 1;
  Input<double> in_ = input<double>("in");
  Output<double> out_ = output<&Busy::fill>("out", every(1ms));
};

System ring(std::uint32_t n) {
  System system;
  for (std::uint32_t i = 0; i < n; ++i) system.add<Cell>("n" + std::to_string(i), 1U);
  for (std::uint32_t i = 0; i < n; ++i) system.connect(PortRef{i, 0}, {(i + 1) % n, 0});
  return system;
}

/// A cell behind the C interface.
struct CCell {
  double sum = 0;
};
void c_heard(void* self, std::int32_t, const void* message, std::size_t, std::int64_t) {
  static_cast<CCell*>(self)->sum += static_cast<const Message64*>(message)->values[0];
}
void c_fill(void* self, std::int32_t, void* message, std::size_t, std::int64_t) {
  auto& cell = *static_cast<CCell*>(self);
  static_cast<Message64*>(message)->values[0] = cell.sum * 0.5 + 1;
  cell.sum = 0;
}
void* c_create(const isochron_host* host, isochron_node* node) {
  constexpr const char* type = "bench_msgs/msg/Message64\nfloat64[8] values";
  host->input(node, "in0", type, &c_heard);
  const isochron_output out{"out", type, ISOCHRON_PREDICTIVE, 0, 1'000'000, 0, 0, 4, &c_fill};
  host->output(node, &out);
  return new CCell;
}

System c_ring(std::uint32_t n) {
  static const isochron_node_type type{"Cell",  "",      &c_create,
                                       nullptr, nullptr, [](void* self) { delete static_cast<CCell*>(self); }};
  System system;
  for (std::uint32_t i = 0; i < n; ++i) system.add("n" + std::to_string(i), make_c_node(type, {}));
  for (std::uint32_t i = 0; i < n; ++i) system.connect(PortRef{i, 0}, {(i + 1) % n, 0});
  return system;
}

System fan_out(std::uint32_t sinks) {
  System system;
  system.add<Cell>("source", 0U);
  for (std::uint32_t i = 0; i < sinks; ++i) {
    system.add<Ear>("sink" + std::to_string(i));
    system.connect(PortRef{0, 0}, {i + 1, 0});
  }
  return system;
}

System grid(std::uint32_t side) {
  System system;
  for (std::uint32_t i = 0; i < side * side; ++i) system.add<Cell>("n" + std::to_string(i), 2U);
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      system.connect(PortRef{y * side + (x + 1) % side, 0}, {y * side + x, 0});
      system.connect(PortRef{(y + 1) % side * side + x, 0}, {y * side + x, 1});
    }
  }
  return system;
}

System busy_ring(std::uint32_t n) {
  System system;
  for (std::uint32_t i = 0; i < n; ++i) system.add<Busy>("n" + std::to_string(i));
  for (std::uint32_t i = 0; i < n; ++i) system.connect(PortRef{i, 0}, {(i + 1) % n, 0});
  return system;
}

/// The four planets of the original (FACTS §3): masses 1000/100/10/1, periods 4/3/2/1 (ms here), queue 3.
struct Body {
  std::array<double, 2> position{};
  double mass = 0;
};
class Planet : public UserNode {
 public:
  Planet(double mass, double x, SimSpan period, std::uint32_t pulled_by)
      : body_{{x, 0.5}, mass}, out_(output<&Planet::move>("position", every(period), 3)) {
    for (std::uint32_t i = 0; i < pulled_by; ++i) others_.push_back(input<Body>("pull" + std::to_string(i)));
  }

 private:
  void move(Body& out) {
    for (const auto& other : others_) {
      if (!other.empty()) pull(other.latest());
    }
    for (int i = 0; i < 2; ++i) body_.position[i] += velocity_[i];
    out = body_;
  }
  void pull(const Body& other) {
    const double x = other.position[0] - body_.position[0], y = other.position[1] - body_.position[1];
    const double square = x * x + y * y + 1e-6;
    const double strength = 2.7e-11 * other.mass / (square * std::sqrt(square));
    velocity_[0] += strength * x, velocity_[1] += strength * y;
  }
  Body body_;
  std::array<double, 2> velocity_{};
  std::vector<Input<Body>> others_;
  Output<Body> out_;
};

System four_planets() {
  System system;
  system.add<Planet>("yellow", 1000.0, 0.5, 4ms, 3U);
  system.add<Planet>("red", 100.0, 0.7, 3ms, 1U);
  system.add<Planet>("green", 10.0, 0.2, 2ms, 1U);
  system.add<Planet>("blue", 1.0, 0.3, 1ms, 1U);
  const char* pairs[][2] = {{"yellow", "red.pull0"}, {"red", "green.pull0"},    {"green", "blue.pull0"},
                            {"red", "yellow.pull0"}, {"green", "yellow.pull1"}, {"blue", "yellow.pull2"}};
  for (const auto& [from, to] : pairs) system.connect(std::string(from) + ".position", to);
  return system;
}

struct Rate {
  double messages = 0;  // per second
  double seconds = 0;
};

Rate measure(System system, std::int64_t steps, How how = How::thread, std::uint32_t workers = 1, bool digest = false) {
  Options options;
  options.how = how;
  options.workers = workers;
  options.until = SimTime::zero() + SimSpan(1ms) * steps;
  options.digest = digest;
  const auto start = std::chrono::steady_clock::now();
  const FlowOutcome outcome = run(system, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome.complete ? Rate{static_cast<double>(outcome.messages) / seconds, seconds} : Rate{0, INFINITY};
}

double best_of(int n, const std::function<double()>& what) {
  double best = 0;
  for (int i = 0; i < n; ++i) best = std::max(best, what());
  return best;
}

void bench_one_thread(Report& report) {
  report.at_least("loop_2_messages_per_s", best_of(5, [] { return measure(ring(2), 500'000).messages; }), "1/s", 10e6);
  report.found("loop_2_with_digest_messages_per_s",
               best_of(5, [] { return measure(ring(2), 500'000, How::thread, 1, true).messages; }), "1/s");
  const double seconds = 1 / best_of(5, [] { return 1 / measure(four_planets(), 100'000).seconds; });
  report.found("nbody_4_messages_per_s", 208'334 / seconds, "1/s");
  report.found("nbody_4_100000_steps_s", seconds, "s");
  const auto [in_c, in_cxx] = side_by_side(
      5, [] { return measure(c_ring(2), 500'000).messages; }, [] { return measure(ring(2), 500'000).messages; });
  report.ratio_at_least("loop_2_in_c_messages_per_s", in_c, "1/s", "the same in C++", in_cxx, 0.8);
}

void bench_workers(Report& report) {
  const struct {
    const char* name;
    std::function<System()> make;
    std::int64_t steps;
  } topologies[] = {{"ring_8", [] { return ring(8); }, 60'000},
                    {"fan_out_8", [] { return fan_out(8); }, 100'000},
                    {"grid_64", [] { return grid(8); }, 5'000}};
  for (const auto& topology : topologies) {
    const auto [one, two] = side_by_side(
        5, [&] { return measure(topology.make(), topology.steps).messages; },
        [&] { return measure(topology.make(), topology.steps, How::pool, 2).messages; });
    const std::string name = topology.name;
    report.found(name + "_1_worker_messages_per_s", one, "1/s");
    report.ratio_at_least(name + "_2_workers_messages_per_s", two, "1/s", "1 worker", one, 0.9);
  }
  const auto [one, two] = side_by_side(
      3, [] { return measure(busy_ring(8), 400).messages; },
      [] { return measure(busy_ring(8), 400, How::pool, 2).messages; });
  report.ratio_at_least("busy_ring_8_2_workers_messages_per_s", two, "1/s", "1 worker", one, 0.9);
}

void bench_processes(Report& report) {
  constexpr std::int64_t steps = 40'000;
  const auto [shm, futex] = side_by_side(
      3, [] { return measure(ring(2), steps, How::processes).messages / 2; }, [] { return futex_ping_pong(steps); });
  report.ratio_at_least("processes_2_shared_memory_steps_per_s", shm, "1/s", "bare futex round trips", futex, 0.7);
  const auto [tcp, socket] = side_by_side(
      3, [] { return measure(ring(2), steps, How::tcp).messages / 2; }, [] { return tcp_ping_pong(steps); });
  report.found("processes_ring_3_steps_per_s",
               best_of(3, [] { return measure(ring(3), steps, How::processes).messages / 3; }), "1/s");
  report.at_least("processes_ring_1000_steps_per_s",
                  best_of(3, [] { return measure(ring(1000), 1000, How::processes).messages / 1000; }), "1/s", 2000);
  report.ratio_at_least("processes_2_tcp_steps_per_s", tcp, "1/s", "bare TCP round trips", socket, 0.7);
}

void bench_all_to_all(Report& report) {
  const struct {
    std::uint32_t participants;
    std::int64_t steps;
  } cases[] = {{2, 60'000}, {4, 30'000}, {8, 10'000}};
  for (const auto& one : cases) {
    const double steps = best_of(3, [&] {
      return measure(all_to_all(one.participants), one.steps, How::processes).messages / one.participants;
    });
    report.found("processes_all_" + std::to_string(one.participants) + "_steps_per_s", steps, "1/s");
  }
}

void bench_scale(Report& report) {
  const auto cost = [](std::uint32_t nodes) {
    return 1e9 / best_of(5, [&] { return measure(ring(nodes), 2'000'000 / nodes).messages; });
  };
  const double at_10 = cost(10);
  report.found("ring_10_ns_per_message", at_10, "ns");
  report.ratio_at_most("ring_1000_ns_per_message", cost(1000), "ns", "ring of 10", at_10, 2);
  report.ratio_at_most("ring_10000_ns_per_message", cost(10'000), "ns", "ring of 10", at_10, 2);
}

/// Passes on what it hears a second later; the first one begins. Its lookahead is 10 µs.
class Quiet : public UserNode {
 public:
  explicit Quiet(bool begins) : begins_(begins) {}
  void start(SimTime now) override {
    if (begins_) out_.send(now + 1s, 1);
  }

 private:
  void got(const std::int64_t& value, SimTime t) { out_.send(t + 1s, value + 1); }
  bool begins_;
  Input<std::int64_t> in_ = input<&Quiet::got>("in");
  Event<std::int64_t> out_ = event<std::int64_t>("out", 10us);
};

/// What a second costs in which two nodes have only promises for each other: by turns it would be a hundred thousand.
void bench_silence(Report& report) {
  constexpr std::int64_t seconds = 20;
  for (const How how : {How::thread, How::threads, How::processes, How::tcp}) {
    const double best = best_of(3, [&] {
      System system;
      system.add<Quiet>("a", true);
      system.add<Quiet>("b", false);
      system.connect("a.out", "b.in");
      system.connect("b.out", "a.in");
      return seconds / measure(std::move(system), 1000 * seconds, how).seconds;
    });
    report.at_most("silent_second_" + std::string(to_string(how)) + "_ms", 1e3 / best, "ms", 50);
  }
}

template <std::size_t size>
struct Block {
  std::array<std::byte, size> bytes;
};

/// Writes and reads one byte of a block: what is left is the cost of handing it over.
template <std::size_t size>
class BlockSource : public UserNode {
  void fill(Block<size>& block) { block.bytes[0] = std::byte{1}; }
  Output<Block<size>> out_ = output<&BlockSource::fill>("out", every(1ms));
};
template <std::size_t size>
class BlockSink : public UserNode {
  void got(const Block<size>& block) { sum_ += static_cast<int>(block.bytes[0]); }
  int sum_ = 0;
  Input<Block<size>> in_ = input<&BlockSink::got>("in");
};

template <std::size_t size>
double hand_over_ns() {
  return 1e9 / best_of(3, [] {
           System system;
           system.add<BlockSource<size>>("source");
           system.add<BlockSink<size>>("sink");
           system.connect("source.out", "sink.in");
           return measure(std::move(system), 1'000'000).messages;
         });
}

void bench_payloads(Report& report) {
  const double small = hand_over_ns<64>();
  report.found("hand_over_64_B_ns", small, "ns");
  report.ratio_at_most("hand_over_4_KB_ns", hand_over_ns<4096>(), "ns", "64 B", small, 2);
  report.ratio_at_most("hand_over_1_MB_ns", hand_over_ns<(1 << 20)>(), "ns", "64 B", small, 2);
  const OutputInfo output{"out", FlowKind::predictive, 1ms, {}, {}, 4, &payload_type<Message64>()};
  report.found("flow_memory_64_B_4_messages_1_sink", static_cast<double>(memory_of({0, 0, 1, &output, {}, 0})), "B");
}

}  // namespace

void bench_flow(Report& report) {
  bench_one_thread(report);
  bench_workers(report);
  bench_scale(report);
  bench_payloads(report);
  bench_processes(report);
  bench_all_to_all(report);
  bench_silence(report);
}

}  // namespace isochron::bench
