#include "expect/bench/expect_bench.hpp"

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "expect/judge.hpp"

namespace isochron::bench {
namespace {

/// As the world's state is recorded.
struct State {
  SimTime stamp;
  std::uint64_t branch = 0;
  std::vector<double> bodies, positions, velocities;
};
ISOCHRON_MESSAGE(State, "isochron_msgs/msg/WorldState", stamp, branch, bodies, positions, velocities)

struct Response {
  SimTime release;
  std::int64_t late_ns = 0, response_ns = 0;
  bool missed = false;
};
ISOCHRON_MESSAGE(Response, "isochron_msgs/msg/Activation", release, late_ns, response_ns, missed)

ChannelDefinition state_channel(const std::string& topic, std::size_t bodies) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bodies; ++i)
    names.push_back((topic == "/world/state" ? "body" : "other") + std::to_string(i));
  ChannelDefinition channel{topic, {message_name<State>(), ros2msg_schema<State>()}, {}};
  name_elements(channel.options.metadata, "bodies", names, body_parts());
  return channel;
}

/// Nanoseconds for one record and one expectation.
double cost_of(const std::string& text, bool two_channels = false) {
  constexpr std::size_t bodies = 30;
  constexpr int records = 20'000;
  State state{SimTime::zero(), 0, std::vector<double>(13 * bodies), {}, {}};
  for (std::size_t i = 0; i < state.bodies.size(); ++i) state.bodies[i] = static_cast<double>(i);
  const auto bytes = cdr_bytes(state), response = cdr_bytes(Response{.response_ns = 1'000'000});
  return ns_per_call(two_channels ? 2 * records : records, [&] {
    std::vector<Mistake> mistakes;
    std::vector<expect::Expectation> all;
    all.push_back(*expect::read_expectation("it", text, {}, true, mistakes));
    expect::Judge judge(std::move(all));
    judge.defined(0, state_channel("/world/state", bodies));
    judge.defined(1, {"/deadlines/car/pilot", {message_name<Response>(), ros2msg_schema<Response>()}, {}});
    judge.defined(2, state_channel("/other/state", bodies));
    const bool pilot = text.find("pilot") != std::string::npos;
    for (int i = 0; i < records; ++i) {
      const SimTime at = SimTime::from_ns(i * 1'000'000LL);
      judge.recorded(pilot ? 1 : 0, at, pilot ? response : bytes);
      if (two_channels) judge.recorded(2, at, bytes);
    }
    keep(judge.finish({}, SimTime::from_ns(records * 1'000'000LL)).size());
  });
}

}  // namespace

void bench_expect(Report& report) {
  report.at_most("always_distance_of_30_bodies_per_sample", cost_of("always distance(body3, body28) > 0"), "ns", 1000);
  report.at_most("always_one_number_per_sample", cost_of("always body28.position.x > 0"), "ns", 1000);
  report.at_most("p99_of_a_response_per_sample", cost_of("p99(car/pilot.response) < 20ms"), "ns", 1000);
  report.at_most("after_then_within_per_sample", cost_of("after body3.position.x > 5, body4.position.y > 6 within 2s"),
                 "ns", 1000);
  report.at_most("distance_over_two_channels_per_sample", cost_of("always distance(body3, other28) > 0", true), "ns",
                 1000);
}

}  // namespace isochron::bench
