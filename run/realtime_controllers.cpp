#include "run/realtime_controllers.hpp"

#include <cmath>

#include "programs/futex.hpp"
#include "rt/clock.hpp"
#include "run/coordinator_specs.hpp"
#include "run/stage_senses.hpp"

namespace isochron {
namespace {

constexpr std::size_t ring_slots = 4096;
NoSenses no_senses;

rt::MonotonicTime on_clock(WallTime zero, SimTime t) {
  return rt::MonotonicTime(std::chrono::nanoseconds(zero.ns() + t.ns()));
}

SimTime since(WallTime zero) { return SimTime::from_ns((programs::wall_now() - zero).ns()); }

}  // namespace

RealtimeControllers::Hosted::Hosted(std::string full_name, const ProgramSection& section, const world::World& w)
    : name(std::move(full_name)),
      world(w),
      every(*section.every),
      offset(section.offset),
      deadline(section.deadline.value_or(*section.every)),
      state(w.make_state()),
      commands(w.actuators().size()),
      ring(ring_slots) {}

RealtimeControllers::RealtimeControllers(const Scenario& scenario, const world::World& world) {
  std::vector<Mistake> mistakes;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (program.library.empty()) continue;
      auto hosted = std::make_unique<Hosted>(robot + "/" + name, program, world);
      try {
        hosted->controller =
            world::load_controller(program.library.path, setup_of(scenario, robot, name, program, world, no_senses));
        hosted_.push_back(std::move(hosted));
      } catch (const InputError& error) {
        mistakes.push_back({program.place_of("library"), error.what(), ""});
      }
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

RealtimeControllers::~RealtimeControllers() { stop(); }

rt::ThreadSettings realtime_thread(std::string name, rt::Priority priority, Rights rights) {
  rt::ThreadSettings settings{.name = std::move(name), .priority = priority, .insist = rights == Rights::insist};
  if (rights == Rights::without) {
    settings.policy = rt::Policy::other;
    settings.lock_memory = false;
  }
  return settings;
}

std::vector<rt::Weaker> RealtimeControllers::start(RunRecord& record, const ZeroHour& zero, Rights rights) {
  std::vector<rt::Weaker> weaker;
  for (auto& hosted : hosted_) {
    Hosted* h = hosted.get();
    h->deadlines = std::make_unique<Deadlines>(record, record.journal().producer(h->name, 1U << 20U), h->name);
    h->thread = rt::Thread(realtime_thread(h->name, rt::Priority::below_max(19), rights),
                           [h, &zero](std::stop_token stop) { h->loop(std::move(stop), zero.await()); });
    weaker = h->thread.weaker();
  }
  return weaker;
}

void RealtimeControllers::Hosted::loop(std::stop_token stop, WallTime zero) {
  SimTime release = SimTime::zero() + offset;
  while (!stop.stop_requested()) {
    rt::wait_until(on_clock(zero, release));
    deadlines->begin(release, since(zero));
    if (!call(world)) return;
    const SimTime now = since(zero);
    deadlines->end(now, deadline, every);
    const std::int64_t passed = (now - release) / every;
    if (passed > 1) deadlines->skipped(static_cast<std::uint64_t>(passed - 1));
    release += every * std::max<std::int64_t>(passed, 1);
  }
}

bool RealtimeControllers::Hosted::call(const world::World& w) {
  w.read(state);
  commands.clear();
  try {
    controller->release(state, commands);
  } catch (const std::exception& error) {
    fault = "controller " + name + ": " + error.what();
  } catch (...) {
    fault = "controller " + name + " threw something that is no std::exception";
  }
  for (const std::uint32_t actuator : commands.written()) {
    if (!std::isfinite(commands.value(actuator))) {
      fault = "controller " + name + ": the command for " + world.actuators()[actuator].name + " is not a number";
    }
  }
  if (!fault.empty()) {
    faulted.store(true, std::memory_order_release);
    return false;
  }
  // All of a call's commands are published together. A full ring means that the world stands still: the newest is lost.
  bool room = true;
  for (const std::uint32_t actuator : commands.written()) {
    Written* slot = room ? ring.next() : nullptr;
    room = slot != nullptr;
    if (room) *slot = {actuator, commands.value(actuator)};
  }
  ring.commit();
  return true;
}

void RealtimeControllers::apply(Stage& stage) {
  for (auto& hosted : hosted_) {
    while (const Written* written = hosted->ring.take()) {
      (void)stage.command(written->actuator, stage.world().time(), written->value).ok();
    }
    hosted->ring.flush();
  }
}

void RealtimeControllers::stop() {
  for (auto& hosted : hosted_) hosted->thread.request_stop();
  for (auto& hosted : hosted_) hosted->thread.join();
}

std::string RealtimeControllers::fault() const {
  for (const auto& hosted : hosted_) {
    if (hosted->faulted.load(std::memory_order_acquire)) return hosted->fault;
  }
  return "";
}

std::vector<ProgramReport> RealtimeControllers::reports() const {
  std::vector<ProgramReport> all;
  for (const auto& hosted : hosted_) {
    ProgramReport report;
    report.name = hosted->name;
    if (hosted->deadlines) hosted->deadlines->fill(report);
    all.push_back(std::move(report));
  }
  return all;
}

void RealtimeControllers::live(RunWatch::Deadlines& sum) const {
  for (const auto& hosted : hosted_) {
    sum.missed += hosted->deadlines->missed();
    sum.late_p99 = std::max(sum.late_p99, WallSpan::from_ns(hosted->deadlines->late().percentile(99)));
    sum.late_max = std::max(sum.late_max, WallSpan::from_ns(hosted->deadlines->late().max()));
  }
}

}  // namespace isochron
