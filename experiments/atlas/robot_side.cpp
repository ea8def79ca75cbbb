// The robot's side of the experiment: its body in a simulated world that keeps the wall clock, and the computer on
// board, which nobody outside can change. Each millisecond, but up to 20 % early or late, it sends what it measures
// over UDP, with noise; whatever torques came last hold, or, where it is told so, its own position controllers hold the
// pose that it has. Somebody pushes it now and then.
//
//   atlas_robot SECONDS [PORT [CONTROL_PORT [PUSH_N]]]      ends with one line of JSON

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "experiments/atlas/body.hpp"
#include "experiments/atlas/controller.hpp"
#include "experiments/atlas/datagrams.hpp"
#include "rt/cpu_clock.hpp"
#include "rt/thread.hpp"

using namespace std::chrono_literals;
namespace rt = isochron::rt;

namespace {

/// Arrivals spread around their time so that two of them are 0.8 to 1.2 ms apart at most, mostly much less.
class Jitter {
 public:
  std::chrono::nanoseconds next() {
    const double us = std::clamp(100 + 20 * bell_(random_), 0.0, 200.0);
    return std::chrono::nanoseconds(std::lround(1000 * us));
  }

 private:
  std::minstd_rand random_{1};
  std::normal_distribution<double> bell_;
};

class NoisySensors {
 public:
  atlas::Sensors operator()(atlas::Sensors s) {
    for (double& q : s.position) q += 1e-5 * bell_(random_);
    for (double& v : s.velocity) v += 5e-3 * bell_(random_);
    for (double& w : s.angular_velocity) w += 2e-3 * bell_(random_);
    for (double& a : s.acceleration) a += 2e-2 * bell_(random_);
    return s;
  }

 private:
  std::mt19937_64 random_{2};
  std::normal_distribution<double> bell_;
};

struct Settings {
  int seconds = 20;
  std::uint16_t port = 47001, control_port = 47002;
  double push = 60;
};

struct RobotFigures {
  double fell_at = -1;
  std::uint64_t sent = 0, torques = 0, late = 0, held = 0;
  double worst_late_ms = 0;
};

/// Every 4 s, for 0.2 s, forwards and to the side in turn.
void push(isochron::world::World& world, std::uint32_t pelvis, long tick, double newtons) {
  if (newtons == 0 || tick < 4000) return;
  const long phase = tick % 4000;
  if (phase != 0 && phase != 200) return;
  isochron::world::Wrench wrench;
  if (phase == 0) wrench.force[(tick / 4000) % 2 == 0 ? 0 : 1] = newtons;
  (void)world.push(pelvis, wrench).ok();
}

RobotFigures be_a_robot(const Settings& settings) {
  isochron::world::World world(isochron::world::load_engine("mujoco", ATLAS_MODEL));
  const atlas::Body body(world);
  const std::uint32_t pelvis = world.body("pelvis");
  isochron::world::State state = world.make_state();
  atlas::DatagramSocket socket(settings.port);
  socket.patience(0ms);
  Jitter jitter;
  NoisySensors noise;
  RobotFigures outcome;
  atlas::SensorDatagram datagram;
  atlas::TorqueDatagram torques;
  bool controlled = false;
  const rt::CpuClock cpu = rt::CpuClock::this_thread();
  rt::nanoseconds executed_before = *cpu.now();
  rt::MonotonicTime start = rt::MonotonicClock::now() + 10ms;
  const rt::MonotonicTime give_up = start + 30s;
  for (long tick = 0; tick < 1000L * settings.seconds;) {
    const auto slack = rt::wait_until(start + tick * 1ms + jitter.next());
    if (controlled && slack < 0ns) ++outcome.late;
    outcome.worst_late_ms =
        std::max(outcome.worst_late_ms, controlled ? -1e-6 * static_cast<double>(slack.count()) : 0);
    world.read(state);
    const atlas::Sensors measured = body.sense(state);
    datagram.sensors = noise(measured);
    datagram.sequence = static_cast<std::uint64_t>(tick) + 1;
    const rt::nanoseconds executed = *cpu.now();
    datagram.executed_ns =
        static_cast<std::uint32_t>(std::min<std::int64_t>((executed - executed_before).count(), 4'000'000'000));
    executed_before = executed;
    datagram.time_ns = world.time().ns();
    socket.send(datagram, settings.control_port);
    ++outcome.sent;
    while (socket.receive(torques)) {
      if (torques.hold.active == 0) body.drive(torques.torques, world);
      ++outcome.torques;
      controlled = true;
    }
    if (torques.hold.active != 0) {
      body.drive(atlas::hold_torques(torques.hold, measured), world);
      ++outcome.held;
    }
    if (!controlled) {  // hangs in its harness until somebody controls it
      if (rt::MonotonicClock::now() > give_up) break;
      start = rt::MonotonicClock::now() + 1ms;
      continue;
    }
    push(world, pelvis, tick, settings.push);
    if (!world.advance_to(world.time() + world.step()).ok() || body.fallen(state)) {
      outcome.fell_at = 1e-3 * static_cast<double>(tick);
      break;
    }
    ++tick;
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (argc > 1) settings.seconds = std::atoi(argv[1]);
  if (argc > 2) settings.port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  if (argc > 3) settings.control_port = static_cast<std::uint16_t>(std::atoi(argv[3]));
  if (argc > 4) settings.push = std::atof(argv[4]);
  if (settings.seconds < 1) {
    std::fprintf(stderr, "atlas_robot SECONDS [PORT [CONTROL_PORT [PUSH_N]]]\n");
    return 2;
  }
  RobotFigures outcome;
  rt::Thread thread({.name = "atlas_robot", .priority = rt::Priority::below_max(10)},
                    [&] { outcome = be_a_robot(settings); });
  thread.join();
  std::printf(
      "{\"fell_at_s\": %.3f, \"sent\": %llu, \"torques\": %llu, \"late\": %llu, \"worst_late_ms\": %.3f, "
      "\"held_ms\": %llu}\n",
      outcome.fell_at, static_cast<unsigned long long>(outcome.sent), static_cast<unsigned long long>(outcome.torques),
      static_cast<unsigned long long>(outcome.late), outcome.worst_late_ms,
      static_cast<unsigned long long>(outcome.held));
  return outcome.torques == 0 ? 1 : 0;
}
