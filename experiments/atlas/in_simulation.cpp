// What needs no wall clock but a stopwatch: Table 1 (how long estimator and controller compute, in simulation while the
// robot walks) and Figure 6 (messages a second through the ring, from its first moment).
//
//   atlas_figures        one line of JSON

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/atlas/body.hpp"
#include "experiments/atlas/controller.hpp"
#include "experiments/atlas/estimator.hpp"
#include "rt/histogram.hpp"
#include "rt/ring.hpp"
#include "rt/thread.hpp"
#include "rt/topology.hpp"

using namespace std::chrono_literals;
namespace rt = isochron::rt;
using Json = nlohmann::ordered_json;

namespace {

Json ms(const rt::Histogram& h) {
  return {{"mean", 1e-6 * h.mean()},
          {"p50", 1e-6 * static_cast<double>(h.percentile(50))},
          {"p99", 1e-6 * static_cast<double>(h.percentile(99))},
          {"max", 1e-6 * static_cast<double>(h.max())}};
}

Json walk(int seconds) {
  isochron::world::World world(isochron::world::load_engine("mujoco", ATLAS_MODEL));
  const atlas::Body body(world);
  isochron::world::State state = world.make_state();
  atlas::Estimator estimator(ATLAS_MODEL);
  atlas::Controller controller(ATLAS_MODEL);
  rt::Histogram estimating, controlling;
  const auto timed = [](rt::Histogram& h, auto&& work) {
    const auto begin = rt::MonotonicClock::now();
    work();
    h.record(rt::MonotonicClock::now() - begin);
  };
  for (long tick = 0; tick < 1000L * seconds; ++tick) {
    world.read(state);
    if (body.fallen(state)) break;
    const atlas::Sensors sensors = body.sense(state);
    timed(estimating, [&] { estimator.update(sensors, tick * 1'000'000, 1e-3); });
    const atlas::Order order{tick < 1000 ? 0U : 1U, 6, 0.2};
    if (tick % 6 == 0) {
      timed(controlling, [&] { controller.control(estimator.estimate(), 1e-3 * static_cast<double>(tick), order); });
      body.drive(controller.torques(), world);
    }
    if (!world.advance_to(world.time() + world.step()).ok()) break;
  }
  return {{"estimator_ms", ms(estimating)}, {"controller_ms", ms(controlling)}, {"fell", body.fallen(state)}};
}

/// Numbers that both sides know, so that each is checked.
std::uint64_t scramble(std::uint64_t i) { return i * 0x9e3779b97f4a7c15ULL; }

/// Millions of messages for each 50 ms.
Json ring_throughput(std::chrono::milliseconds length) {
  rt::Ring<std::uint64_t> ring(256);  // small enough that both do not chase each other on one cache line
  const auto cores = rt::Topology::read().physical_cores();
  const auto settings = [&](std::size_t i) {
    rt::ThreadSettings s{.policy = rt::Policy::other, .lock_memory = false};
    if (cores.size() > 1) s.cpus = {cores[i]};
    return s;
  };
  std::vector<double> windows;
  windows.reserve(1000);
  bool in_order = true;
  rt::Thread producer(settings(0), [&](std::stop_token stop) {
    for (std::uint64_t i = 0; !stop.stop_requested();) {
      if (std::uint64_t* slot = ring.next()) {
        *slot = scramble(i++);
        ring.commit();
      }
    }
  });
  rt::Thread consumer(settings(1), [&] {
    const auto begin = rt::MonotonicClock::now();
    auto window = begin;
    std::uint64_t i = 0, at_window = 0;
    while (true) {
      if (const std::uint64_t* slot = ring.take()) {
        in_order = in_order && *slot == scramble(i++);
        ring.flush();
      }
      if ((i & 1023U) != 0) continue;
      const auto now = rt::MonotonicClock::now();
      if (now - window < 50ms) continue;
      windows.push_back(static_cast<double>(i - at_window) * 1e3 / static_cast<double>((now - window).count()));
      at_window = i;
      window = now;
      if (now - begin > length) return;
    }
  });
  consumer.join();
  return {{"M_per_s", windows}, {"window_s", 0.05}, {"in_order", in_order}};
}

}  // namespace

int main() {
  const Json json{{"simulation", walk(12)}, {"ring", ring_throughput(4000ms)}};
  std::printf("%s\n", json.dump().c_str());
}
