// Real time: world and programs on the wall clock. One real-time thread steps the world when its time has come and
// answers programs as they ask; controllers in libraries have threads of their own. Nobody waits for anybody, and
// whoever is late is counted: in the progress line, the summary, the journal and the report.
//
//   wall      ──┬────────┬────────┬────────┬──
//   world       │▌ t     │▌ t+dt  │▌       │     steps when its time has come; commands act from the next step on
//   program     └►▐███▌  └►▐██▌   └►▐██████████▌ missed: it was done after its deadline
//
// Without the privileges for real-time priority and locked memory it runs all the same and the report says what is
// weaker; with `time: {privileges: insist}` it refuses to start.

#include <algorithm>

#include "core/time_text.hpp"
#include "programs/futex.hpp"
#include "rt/cpu_latency.hpp"
#include "rt/thread.hpp"
#include "run/coordinator_specs.hpp"
#include "run/program_record.hpp"
#include "run/realtime_controllers.hpp"
#include "run/realtime_programs.hpp"
#include "run/robot_radios.hpp"
#include "run/ros_post.hpp"
#include "run/runners.hpp"
#include "run/world_plant.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using programs::wall_now;

constexpr WallSpan attach_within = std::chrono::seconds(20);
constexpr WallSpan until_zero = std::chrono::milliseconds(20);  // from the last preparation to simulated zero

void check_pace(const Scenario& scenario) {
  const auto& factor = scenario.time.pace.factor;
  if (!factor || factor->numerator == factor->denominator) return;
  throw InputError(scenario.time.place_of("pace"), "in mode realtime a second takes a second",
                   "leave `pace` out, or use another mode for another pace");
}

void check_periods(const Scenario& scenario) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!program.library.empty() && !program.every)
        throw InputError(program.place, "program `" + name + "` needs a period", "as in `every: 10ms`");
    }
  }
}

std::vector<RealtimeProgram> programs_of(const Scenario& scenario, RunRecord& record) {
  std::vector<RealtimeProgram> programs;
  for (programs::RobotSpec& robot : robot_specs(scenario)) {
    for (programs::ProgramSpec& spec : robot.programs) {
      const std::string name = robot.name + "/" + spec.name;
      programs.push_back({robot.name, std::move(spec), std::make_unique<Deadlines>(record, record.producer(), name)});
    }
  }
  return programs;
}

/// The run's own thread: everything that happens while time passes.
class Show {
 public:
  Show(Stage& stage, WorldPlant& plant, RealtimePrograms& programs, RealtimeControllers& controllers, RunRecord& record,
       RunWatch& watch, SimSpan duration)
      : stage_(stage),
        plant_(plant),
        programs_(programs),
        controllers_(controllers),
        record_(record),
        watch_(watch),
        world_(record, record.producer(), "world"),
        end_(SimTime::zero() + duration) {}

  void run(WallTime zero) {
    zero_ = zero;
    while (wall_now() < zero_ && !watch_.stopping()) sleep_until(zero_);
    programs_.exchange(SimTime::zero());
    while (!over()) {
      const std::uint32_t rings = programs_.bell().load(std::memory_order_acquire);
      programs_.serve(now());
      step_world();
      programs_.release(now());
      look();
      const SimTime due = std::min({next_step(), programs_.next_release(), now() + SimSpan(50ms)});
      if (due > now()) programs::futex_wait_until(programs_.bell(), rings, zero_ + WallSpan::from_ns(due.ns()));
    }
    wall_ = wall_now() - zero_;
    programs_.end(now());
  }

  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] WallSpan in_world() const { return in_world_; }
  [[nodiscard]] WallSpan wall() const { return wall_; }
  [[nodiscard]] ProgramReport world_report() const {
    ProgramReport report;
    report.name = "world";
    world_.fill(report);
    return report;
  }

 private:
  [[nodiscard]] SimTime now() const { return SimTime::from_ns(std::max<std::int64_t>((wall_now() - zero_).ns(), 0)); }
  [[nodiscard]] SimTime next_step() const { return stage_.world().time() + stage_.step(); }
  void sleep_until(WallTime until) {
    const std::uint32_t rings = programs_.bell().load(std::memory_order_acquire);
    programs::futex_wait_until(programs_.bell(), rings, until);
  }

  [[nodiscard]] bool over() {
    if (why_.empty()) why_ = programs_.why_ended();
    if (why_.empty()) why_ = controllers_.fault();
    return !why_.empty() || watch_.stopping() || next_step() > end_;
  }

  /// Commands that were written before the step's time act from the next step on: all that is late acts once.
  void step_world() {
    const SimTime before = stage_.world().time();
    while (next_step() <= std::min(now(), end_)) {
      const SimTime due = next_step();
      const WallTime begin = wall_now();
      world_.begin(due, now());
      if (auto stepped = plant_.advance_to(due); !stepped.ok()) {
        why_ = stepped.error();
        return;
      }
      programs_.exchange(due);
      programs_.apply_writes(now());
      controllers_.apply(stage_);
      in_world_ += wall_now() - begin;
      world_.end(now(), stage_.step(), stage_.step());
      record_.progress(ParticipantId(0), due);
      record_.progress(ParticipantId(1), now());
    }
    if (stage_.world().time() != before) programs_.show(now());
  }

  void look() {
    record_.look(watch_, stage_.world().time());
    if (wall_now() - looked_ < WallSpan(100ms)) return;
    looked_ = wall_now();
    RunWatch::Deadlines sum;
    sum.missed = world_.missed();
    programs_.live(sum);
    controllers_.live(sum);
    watch_.deadlines(sum);
  }

  Stage& stage_;
  WorldPlant& plant_;
  RealtimePrograms& programs_;
  RealtimeControllers& controllers_;
  RunRecord& record_;
  RunWatch& watch_;
  Deadlines world_;
  SimTime end_;
  WallTime zero_, looked_;
  WallSpan in_world_, wall_;
  std::string why_;
};

/// What could not be had, each once.
void note_weaker(const std::vector<rt::Weaker>& weaker, RunReport& report) {
  for (const rt::Weaker& w : weaker) {
    std::string note = "weaker: without " + w.what + ": " + w.why + " (" + w.hint + ")";
    if (std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end())
      report.notes.push_back(std::move(note));
  }
}

[[noreturn]] void refuse_weaker(const Scenario& scenario, const std::vector<rt::Weaker>& weaker) {
  std::string what = "this run demands privileges that it does not have:\n" + to_string(weaker);
  what.pop_back();  // its last line's end
  throw InputError(scenario.time.place_of("privileges"), what, "leave `privileges` out to run anyway");
}

}  // namespace

void check_realtime(const Scenario& scenario) {
  check_pace(scenario);
  check_periods(scenario);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  const RealtimeControllers controllers(scenario, stage.world());
  (void)robot_specs(scenario);
  check_v2x(scenario);
  std::optional<RobotRadios> radios;
  if (has_robot_radios(scenario)) radios.emplace(scenario, stage);
  (void)ros_posts(scenario, stage, plant, radios ? radios->names() : std::vector<std::string>());
}

RunReport run_realtime(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  check_pace(scenario);
  check_periods(scenario);
  check_v2x(scenario);
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  RealtimeControllers controllers(scenario, stage.world());
  std::optional<RobotRadios> radios;
  if (has_robot_radios(scenario)) radios.emplace(scenario, stage);
  const std::vector<std::unique_ptr<RosPost>> ros =
      ros_posts(scenario, stage, plant, radios ? radios->names() : std::vector<std::string>());
  RunRecord record(scenario, options, clock, disk, {"world", "wall clock"});
  stage.begin(record, watch);
  (void)plant.advance_to(SimTime::zero()).ok();  // the first state is there to be read
  std::vector<RealtimeProgram> programs = programs_of(scenario, record);
  std::vector<std::string> names;
  for (const RealtimeProgram& program : programs) names.push_back(program.robot + "/" + program.spec.name);
  const std::vector<Fraction> speeds(names.size(), Fraction{1, 1});
  std::vector<programs::Correspondent*> correspondents;
  if (radios) {
    radios->record(record);
    radios->tell_frames([&](const std::string& name, SimTime arrives, std::span<const std::uint8_t> octets) {
      for (const auto& post : ros) post->frame(name, arrives, octets);
    });
    correspondents.push_back(&*radios);
    names.insert(names.end(), radios->names().begin(), radios->names().end());
  }
  for (const auto& post : ros) {
    post->record(record.journal(), record.producer());
    correspondents.push_back(post.get());
    names.insert(names.end(), post->names().begin(), post->names().end());
  }
  ProgramRecorder recorder(record, names, speeds, plant.variables());
  RunReport report = report_of(scenario);
  RealtimePrograms desk(std::move(programs), plant, stage.step(), recorder, &stage.faults(), correspondents);
  Show show(stage, plant, desk, controllers, record, watch, scenario.duration);

  if (std::string why = desk.await_attach(attach_within, watch.stop_flag()); !why.empty()) {
    report.end = RunReport::End::failed;
    report.why = std::move(why);
    record.finish(report);
    return report;
  }
  for (const auto& post : ros) post->open(watch, clock);
  const Rights rights = scenario.time.privileges;
  const auto weaker_programs = rights == Rights::without ? std::vector<rt::Weaker>{} : desk.prioritise();
  if (rights == Rights::insist && !weaker_programs.empty()) refuse_weaker(scenario, weaker_programs);
  // A core that fell asleep is slow to wake, and every release and every answer wakes one.
  std::optional<rt::CpuLatencyRequest> awake;
  if (rights != Rights::without) awake.emplace(0us);
  ZeroHour zero;
  desk.protect_spare_links(true);  // each of these threads locks the memory there is
  try {
    note_weaker(controllers.start(record, zero, rights), report);
    rt::Thread thread(realtime_thread("isochron", rt::Priority::below_max(15), rights),
                      [&] { show.run(zero.await()); });
    note_weaker(thread.weaker(), report);
    desk.protect_spare_links(false);
    zero.set(wall_now() + until_zero);
    thread.join();
  } catch (const rt::Insisted& insisted) {
    zero.set(wall_now());  // who waits for it must end
    controllers.stop();
    refuse_weaker(scenario, insisted.weaker());
  }
  controllers.stop();
  note_weaker(weaker_programs, report);

  report.simulated = stage.world().time().since_zero();
  if (radios) radios->finish(report);
  report.wall = show.wall();
  report.why = show.why();
  if (!report.why.empty()) report.end = RunReport::End::failed;
  if (report.why.empty() && watch.stopping()) report.end = RunReport::End::interrupted;
  report.programs = desk.reports(report.notes);
  for (ProgramReport& controller : controllers.reports()) report.programs.push_back(std::move(controller));
  for (const ProgramReport& program : report.programs)
    report.shares.programs += WallSpan::from_ns(program.executed.ns());
  report.programs.push_back(show.world_report());
  report.shares.world = show.in_world();
  record.finish(report);
  return report;
}

}  // namespace isochron
