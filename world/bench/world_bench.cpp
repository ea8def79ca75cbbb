#include "world/bench/world_bench.hpp"

#include <mujoco/mujoco.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "rt/allocation_guard.hpp"
#include "world/aircraft/autopilot.hpp"
#include "world/mujoco_model.hpp"
#include "world/vehicle/car.hpp"
#include "world/vehicle/driver.hpp"
#include "world/world.hpp"

namespace isochron::bench {
namespace {

using namespace isochron::world;
using namespace std::chrono_literals;

std::string models() {
  const char* folder = std::getenv("ISOCHRON_MODELS");
  return folder != nullptr ? folder : ISOCHRON_MODELS;
}

/// CPU time of this thread: the figures are of one core, whoever else uses the machine.
double cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// A posture held by the same sum for the bare engine and for ours, so that it weighs alike.
struct Posture {
  std::vector<double> wanted;
  template <class Set>
  void hold(const double* q, const double* v, Set set) const {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool strong = i < 3 || i >= 16;  // back and legs, in the order of the model
      const double kp = strong ? 1500 : 100, kd = strong ? 60 : 5;
      set(i, kp * (wanted[i] - q[7 + i]) - kd * v[6 + i]);
    }
  }
};

constexpr int humanoid_steps = 400;

double bare_humanoid(const MujocoModel& model, mjData* data, const Posture& posture) {
  const mjModel* m = model.compiled.get();
  mj_resetDataKeyframe(m, data, model.start_keyframe);
  const double start = cpu_ns();
  for (int i = 0; i < humanoid_steps; ++i) {
    posture.hold(data->qpos, data->qvel, [&](std::size_t k, double u) { data->ctrl[k] = u; });
    mj_step(m, data);
  }
  return (cpu_ns() - start) / humanoid_steps;
}

double our_humanoid(World& world, std::span<const double> start_state, const Posture& posture) {
  world.restore(start_state);
  const double start = cpu_ns();
  for (int i = 0; i < humanoid_steps; ++i) {
    const Engine& engine = world.engine();
    posture.hold(engine.positions().data(), engine.velocities().data(),
                 [&](std::size_t k, double u) { keep(world.command(static_cast<std::uint32_t>(k), u).ok()); });
    keep(world.advance_to(world.time() + world.step()).ok());
  }
  return (cpu_ns() - start) / humanoid_steps;
}

void bench_humanoid(Report& report) {
  const std::string file = models() + "/humanoid28.xml";
  const auto model = load_mujoco_model(file);
  std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(model->compiled.get()), mj_deleteData);
  World world(load_engine("mujoco", file));
  Posture posture;
  const auto q = world.engine().positions();
  posture.wanted.assign(q.begin() + 7, q.end());
  std::vector<double> start(world.snapshot_size());
  world.snapshot(start);
  our_humanoid(world, start, posture);
  if (rt::AllocationGuard::watches_heap()) {
    rt::AllocationGuard guard("humanoid");
    our_humanoid(world, start, posture);
    report.at_most("humanoid_28_allocations_in_400_steps", static_cast<double>(guard.report().allocations), "blocks",
                   0);
  }
  const auto [ours, bare] = side_by_side(
      report.long_run() ? 51 : 15, [&] { return our_humanoid(world, start, posture); },
      [&] { return bare_humanoid(*model, data.get(), posture); });
  report.ratio_at_most("humanoid_28_step", ours, "ns", "bare mj_step", bare, 1.05);
  report.at_least("humanoid_28_real_time_factor", world.step().seconds() * 1e9 / ours, "x", NAN);
}

void bench_snapshot(Report& report) {
  World world(load_engine("mujoco", models() + "/humanoid28.xml"));
  Engine& engine = world.engine();
  std::vector<double> a(engine.state_size()), b(a);
  engine.save(a);
  constexpr int calls = 20000;
  const auto [ours, bare] = side_by_side(
      9,
      [&] {
        return ns_per_call(calls, [&] {
          for (int i = 0; i < calls; ++i) {
            engine.save(a);
            engine.restore(a);
            keep(a[0]);
          }
        });
      },
      [&] {
        return ns_per_call(calls, [&] {
          for (int i = 0; i < calls; ++i) {
            std::memcpy(b.data(), a.data(), a.size() * sizeof(double));
            keep(b[0]);
            std::memcpy(a.data(), b.data(), a.size() * sizeof(double));
            keep(a[0]);
          }
        });
      });
  report.ratio_at_most("humanoid_28_snapshot_and_restore", ours, "ns", "memcpy of the state there and back", bare, 2);
}

/// Simulated seconds that pass in one, of one core, over about a second of it.
double real_time_factor(World& world, SimSpan warm_up) {
  keep(world.advance_to(world.time() + warm_up).ok());
  const SimTime from = world.time();
  const double start = cpu_ns();
  while (cpu_ns() - start < 1e9) keep(world.advance_to(world.time() + world.step() * 10).ok());
  return (world.time() - from).seconds() * 1e9 / (cpu_ns() - start);
}

/// A cube of ten by ten by ten balls and boxes that drift and sometimes meet.
std::string thousand_bodies() {
  std::string text = R"(<mujoco><option timestep="0.01" gravity="0 0 0" jacobian="sparse" solver="CG"/>
  <size nconmax="500" njmax="3000"/><default><geom size=".2 .15 .1" condim="3"/></default><worldbody>)";
  for (int i = 0; i < 1000; ++i) {
    text += "<body pos=\"" + std::to_string(i % 10) + " " + std::to_string(i / 10 % 10) + " " +
            std::to_string(i / 100) + "\"><freejoint/><geom type=\"" + (i % 2 == 0 ? "box" : "sphere") +
            "\" mass=\"1\"/></body>\n";
  }
  return text + "</worldbody></mujoco>";
}

void bench_thousand(Report& report) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("isochron_bench_" + std::to_string(::getpid()) + ".xml")).string();
  std::ofstream(file) << thousand_bodies();
  for (const char* engine : {"mujoco", "ode"}) {
    World world(load_engine(engine, file));
    for (std::uint32_t b = 1; b <= 1000; ++b) {
      Motion m = world.engine().motion(b);
      m.linear = {0.1 * std::sin(b), 0.1 * std::sin(2.0 * b), 0.1 * std::sin(3.0 * b)};
      m.angular = {std::cos(b), 0.5, 0};
      keep(world.place(b, m).ok());
    }
    report.at_least(std::string("free_bodies_1000_") + engine + "_real_time_factor", real_time_factor(world, 100ms),
                    "x", NAN);
  }
  std::filesystem::remove(file);
}

/// All thirty cars of the intersection, each with all its wheels, driven along its own lane.
void bench_cars(Report& report) {
  World world(load_engine("mujoco", models() + "/intersection.xml"));
  const auto ground = std::make_shared<Ground>(world.engine());
  for (int i = 1; i <= 30; ++i) {
    const std::string name = "car" + std::string(i < 10 ? "0" : "") + std::to_string(i);
    auto car = std::make_unique<Car>(world.engine(), name, CarSettings{}, ground);
    const Pose pose = world.engine().motion(car->body()).pose;
    const Vec3 ahead = rotate(pose.orientation, {1, 0, 0});
    std::vector<PathDriver::Point> lane{{pose.position[0], pose.position[1]},
                                        {pose.position[0] + 200 * ahead[0], pose.position[1] + 200 * ahead[1]}};
    PathDriverSettings settings;
    settings.follow.desired_speed = 3;
    world.add(std::make_unique<Seat>(std::make_unique<PathDriver>(std::move(lane), false, settings), *car, car->body(),
                                     false, SimSpan(20ms)));
    world.add(std::move(car));
  }
  report.at_least("cars_30_real_time_factor", real_time_factor(world, 500ms), "x", 10);
  if (!rt::AllocationGuard::watches_heap()) return;
  rt::AllocationGuard guard("cars");
  keep(world.advance_to(world.time() + SimSpan(400ms)).ok());
  report.at_most("cars_30_allocations_in_100_steps", static_cast<double>(guard.report().allocations), "blocks", 0);
}

constexpr int flight_steps = 1000;  // 2 s, in which it does not come down

/// The same bodies hanging in the air by a constant force: what MuJoCo alone takes for them.
double bare_flight(const MujocoModel& model, mjData* data, int body, double weight) {
  const mjModel* m = model.compiled.get();
  mj_resetData(m, data);
  data->qpos[2] = 1.2;
  data->xfrc_applied[6 * body + 2] = weight;
  const double start = cpu_ns();
  for (int i = 0; i < flight_steps; ++i) mj_step(m, data);
  return (cpu_ns() - start) / flight_steps;
}

double our_flight(World& world, std::span<const double> start_state) {
  world.restore(start_state);
  const double start = cpu_ns();
  for (int i = 0; i < flight_steps; ++i) keep(world.advance_to(world.time() + world.step()).ok());
  return (cpu_ns() - start) / flight_steps;
}

/// The quadrotor of models/uav.xml in its hall, hovering: rotors with lag, drag, battery and ground effect. Its
/// commands stand still; a controller is another figure.
void bench_multirotor(Report& report) {
  const std::string file = models() + "/uav.xml";
  const auto model = load_mujoco_model(file);
  std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(model->compiled.get()), mj_deleteData);
  World world(load_engine("mujoco", file));
  MultirotorSettings settings;
  settings.rotors = rotors_of(MultirotorFrame::quad_x, 0.226, 0.05);
  settings.battery = BatterySettings{.resistance = 0};
  auto made = std::make_unique<Multirotor>(world.engine(), "uav", settings, std::make_shared<Air>(),
                                           std::make_shared<Ground>(world.engine()), 1);
  const std::uint32_t body = made->body();
  keep(world.place(body, {{{0, 0, 1.2}, {1, 0, 0, 0}}, {}, {}}).ok());
  made->begin_airborne(world.engine());
  world.add(std::move(made));
  const double weight = world.catalog().masses[body] * length(world.engine().gravity());
  std::vector<double> start(world.snapshot_size());
  world.snapshot(start);
  our_flight(world, start);
  const auto [ours, bare] = side_by_side(
      report.long_run() ? 51 : 15, [&] { return our_flight(world, start); },
      [&] { return bare_flight(*model, data.get(), static_cast<int>(body), weight); });
  report.ratio_at_most("multirotor_step", ours, "ns", "bare mj_step of the same bodies", bare, 1.3);
  if (!rt::AllocationGuard::watches_heap()) return;
  rt::AllocationGuard guard("multirotor");
  keep(our_flight(world, start));
  report.at_most("multirotor_allocations_in_1000_steps", static_cast<double>(guard.report().allocations), "blocks", 0);
}

}  // namespace

void bench_world(Report& report) {
  bench_humanoid(report);
  bench_snapshot(report);
  bench_cars(report);
  bench_multirotor(report);
  bench_thousand(report);
}

}  // namespace isochron::bench
