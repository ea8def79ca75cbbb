// How a run begins and ends; see conductor.hpp.

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "programs/conductor.hpp"
#include "programs/executable.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

namespace {

constexpr std::uint32_t looks_before_sleeping = 1000;  // some tens of microseconds
constexpr std::size_t lanes_max = 64;
constexpr WallSpan board_look = std::chrono::milliseconds(20);
constexpr WallSpan attach_look = std::chrono::milliseconds(5);  // those of other lanes ring elsewhere

std::string make_token() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(wall_now().ns());
  char text[64];
  std::snprintf(text, sizeof text, "%d-%016llx", getpid(), static_cast<unsigned long long>(random));
  return text;
}

/// Where the build and the installation put libisochron_clock.so, as seen from the executable.
std::string find_interpose_library(const std::string& given) {
  if (!given.empty()) return given;
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string folder(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  folder.resize(std::min(folder.size(), folder.find_last_of('/')));
  for (const char* place :
       {"/../lib/libisochron_clock.so", "/libisochron_clock.so", "/../lib/x86_64-linux-gnu/libisochron_clock.so"}) {
    if (access((folder + place).c_str(), R_OK) == 0) return folder + place;
  }
  return "libisochron_clock.so";
}

std::vector<std::uint32_t> cores_nobody_is_bound_to(const RobotSpec& robot) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t core = 0; core < robot.cores; ++core) {
    const auto bound = [core](const ProgramSpec& program) { return program.core == core; };
    if (std::none_of(robot.programs.begin(), robot.programs.end(), bound)) found.push_back(core);
  }
  return found;
}

}  // namespace

Conductor::Conductor(Plant& plant, const std::vector<RobotSpec>& robots, const CoordinatorOptions& options,
                     Recorder* recorder, SimTime until)
    : plant_(plant),
      options_(options),
      recorder_(recorder),
      boards_(options.boards),
      until_(until),
      token_(make_token()),
      desk_(plant, *this),
      bell_(add_bell()) {
  desk_.set_trouble(options.trouble);
  if (options.step <= SimSpan::zero()) throw InputError({}, "the world's step must be positive");
  if (options.quantum <= SimSpan::zero()) throw InputError({}, "the quantum must be positive");
  make_members(robots);
  executables_ = members_.size();
  make_timeline(robots, until);
  open_system(robots);
}

Conductor::~Conductor() {
  for (auto& [correspondent, post] : correspondents_) correspondent->leave();
  lanes_.reset();
  for (auto& m : members_) {  // all of them first: one that spins may keep another from dying
    if (m->process) m->process->kill_group(SIGKILL);
  }
  for (auto& m : members_) m->process.reset();
  if (keeper_) kill_all_of_run(token_);
}

void Conductor::make_members(const std::vector<RobotSpec>& robots) {
  std::set<std::string> names;
  for (const RobotSpec& robot : robots) {
    for (const ProgramSpec& program : robot.programs) {
      const std::string name = robot.name + "/" + program.name;
      if (!names.insert(name).second) throw InputError({}, "two programs are called " + name);
      check_program(program, name);
      if (program.called) {
        callees_.push_back(std::make_unique<Callee>(program, robot.name, static_cast<Callee::House&>(*this)));
      } else {
        members_.add(std::make_unique<Member>(program, robot.name, name), members_.size());
      }
    }
  }
}

void Conductor::check_program(const ProgramSpec& spec, const std::string& name) {
  if (spec.run.empty() && !spec.called)
    throw InputError({}, name + ": nothing to run", "give `run: [program, arguments…]`");
  if (const auto obstacle = spec.virtual_clock ? obstacle_to_following(spec.run) : std::nullopt) {
    throw InputError({}, name + ": " + spec.run[0] + " " + obstacle->what, obstacle->hint);
  }
  const auto* recorded = std::get_if<RecordedCompute>(&spec.compute);
  if (recorded == nullptr) return;
  if (!recorded->tape || recorded->tape->charges.empty()) {
    throw InputError({}, name + ": nothing was recorded for it", "record a measured run with the same programs first");
  }
  const bool read_clock = std::any_of(recorded->tape->clocks.begin(), recorded->tape->clocks.end(),
                                      [](const auto& values) { return !values.empty(); });
  if (read_clock && !(recorded->tape->cpu_speed == spec.cpu_speed)) {
    throw InputError({},
                     name + ": its clock was read at cpu_speed " + to_string(recorded->tape->cpu_speed) +
                         ", so its record holds for that speed alone",
                     "use measured or modelled compute to change the speed");
  }
}

void Conductor::make_timeline(const std::vector<RobotSpec>& robots, SimTime until) {
  std::vector<std::unique_ptr<Policy>> cpus;
  std::vector<Timeline::Place> places, called;
  std::uint32_t member = 0;
  for (const RobotSpec& robot : robots) {
    const auto first = static_cast<std::uint32_t>(cpus.size());
    for (std::uint32_t core = 0; core < std::max(robot.cores, 1u); ++core) {
      cpus.push_back(robot.policy ? robot.policy() : std::make_unique<FixedPriority>(options_.quantum));
    }
    const std::vector<std::uint32_t> shared = cores_nobody_is_bound_to(robot);
    for (std::size_t i = 0; i < robot.programs.size(); ++i) {
      const ProgramSpec& spec = robot.programs[i];
      const std::uint32_t cpu = first + spec.core.value_or(shared.empty() ? 0 : shared[0]);
      if (cpu >= cpus.size()) {
        throw InputError({}, robot.name + "/" + spec.name + ": core " + std::to_string(*spec.core) +
                                 " is beyond the robot's " + std::to_string(cpus.size() - first));
      }
      const int priority = spec.best_effort ? std::numeric_limits<int>::min() : spec.priority;
      const bool measured = std::holds_alternative<MeasuredCompute>(spec.compute);
      if (spec.called) {
        called.push_back({cpu, priority, false, 1, static_cast<std::uint32_t>(i), measured});
        continue;
      }
      Member& m = *members_[member++];
      m.cpu = cpu;
      m.cores = spec.core ? 1 : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(shared.size()));
      m.robot_cores = static_cast<std::uint32_t>(cpus.size()) - first;
      places.push_back({cpu, priority, measured, 1, static_cast<std::uint32_t>(i)});
    }
  }
  robot_cpus_ = static_cast<std::uint32_t>(cpus.size());
  const std::size_t slots = boards_ != nullptr ? boards_->slots() : 0;
  const std::size_t participants = 1 + cpus.size() + slots;
  drift_ = std::make_unique<DriftLedger>(participants, std::clamp<std::size_t>((4U << 20U) / participants, 1024, 65536),
                                         plant_.time());
  for (std::uint32_t slot = 0; slot < slots; ++slot) board_left(slot, boards_->now());  // nobody is there yet
  const std::vector<Timeline::Place> seats = called;
  places.insert(places.end(), called.begin(), called.end());
  timeline_ = std::make_unique<Timeline>(std::move(cpus), std::move(places),
                                         Timeline::Options{plant_.time(), until, options_.step, options_.quantum});
  for (const auto& m : members_) desk_.add({m->name, m->robot, m->spec.terms(), m->spec.to, m->cpu});
  for (std::size_t i = 0; i < callees_.size(); ++i) {
    Callee& one = *callees_[i];
    const std::uint32_t number = desk_.add({one.name(), one.robot(), one.spec().terms(), "", seats[i].cpu});
    one.sits(*timeline_, desk_, number, seats[i].cpu);
  }
  if (boards_ != nullptr) boards_->enter(*timeline_, desk_, *this, robot_cpus_);
  add_correspondents();
}

// After all programs. They have no CPU: the number only keeps what they do in order beside what programs do.
void Conductor::add_correspondents() {
  first_correspondent_ = static_cast<std::uint32_t>(desk_.parties());
  const auto cpu = static_cast<std::uint32_t>(robot_cpus_ + first_correspondent_);
  for (Correspondent* one : options_.correspondents) {
    correspondents_.emplace_back(one, Post(desk_, static_cast<std::uint32_t>(desk_.parties())));
    for (const std::string& name : one->names()) {
      desk_.add({name, name.substr(0, name.find('/')), {}, "", cpu, protocol::payload_max, false});
      ++correspondent_names_;
    }
  }
}

protocol::Bell& Conductor::add_bell() {
  bell_memories_.push_back(std::make_unique<SharedMemory>("isochron-bell", protocol::bell_size));
  return *static_cast<protocol::Bell*>(bell_memories_.back()->data());
}

// Which cores are ours, and who executes on which: a program rings the bell of its lane from its start.
void Conductor::plan_lanes() {
  std::map<std::uint32_t, std::uint32_t> cpus;  // that have measured programs, and how many cores each stands for
  for (const auto& m : members_) {
    if (m->cost.measured()) cpus[m->cpu] = std::max(cpus[m->cpu], m->cores);
  }
  if (cpus.empty()) return;
  std::size_t useful = 0;
  std::map<std::uint32_t, std::size_t> first_lane;
  for (const auto& [cpu, width] : cpus) {
    first_lane[cpu] = useful;
    useful += width;
  }
  missing_ = options_.privileges == Privileges::do_without ? "the scenario asks to do without" : missing_privileges();
  if (!missing_.empty() && options_.privileges == Privileges::insist) {
    throw InputError({}, "this run needs real-time privileges: " + missing_,
                     "run as root, or grant CAP_SYS_NICE; or leave out `privileges: insist`; see isochron doctor");
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  const auto cores = static_cast<std::size_t>(CPU_COUNT(&allowed));
  const std::size_t wanted = options_.cores > 0 ? options_.cores : std::max<std::size_t>(cores, 2) - 1;
  claims_.push_back(std::make_unique<CoreClaim>());
  while (missing_.empty() && claims_.size() < std::min({wanted, useful, cores, lanes_max})) {
    auto claim = std::make_unique<CoreClaim>();
    if (!claim->alone()) break;  // the others belong to other coordinators
    claims_.push_back(std::move(claim));
    add_bell();
  }
  for (const auto& m : members_) {
    if (m->cost.measured()) m->lane = first_lane.at(m->cpu) % claims_.size();
  }
}

void Conductor::start_programs() {
  if (members_.empty()) return;
  plan_lanes();
  keeper_ = std::make_unique<Keeper>(token_);
  const std::string library = find_interpose_library(options_.interpose_library);
  const std::size_t cores = std::thread::hardware_concurrency();
  std::vector<Watcher::Watched> watched;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const auto& m = members_[i];
    m->process = std::make_unique<Process>(Process::Start{
        &m->spec, m->name, bell_memories_[m->lane]->descriptor(), token_of(token_, i), library, m->cost.clock_mode(),
        options_.epoch, m->cost.rate(), m->robot_cores, m->spec.stack ? system_->number_of(i) : 0, m->robot});
    m->channel = std::make_unique<Channel>(m->process->pages());
    if (!m->cost.measured() && members_.size() < cores) m->channel->set_patience(looks_before_sleeping);
    m->watched = watched.size();
    watched.push_back({m->name, m->process->output(), m->process->pid_descriptor()});
  }
  watcher_ = std::make_unique<Watcher>(std::move(watched), bell_, options_.output_kept, options_.show_output, true);
}

bool Conductor::all_attached() {
  bool all = true;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    Member& m = *members_[i];
    if (m.pending) continue;
    if (const auto link = m.channel->asking()) {
      m.pending = Pending{};
      m.pending->link = *link;
    } else if (watcher_->ended(i) && m.process->ended()) {
      m.pending = Pending{};
      m.pending->kind = Charge::Kind::ended;
    } else {
      all = false;
    }
  }
  return all;
}

void Conductor::await_attach() {
  const WallTime deadline = wall_now() + options_.attach_within;
  for (;;) {
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    if (all_attached()) return;
    if (wall_now() >= deadline) break;
    check_memory();
    futex_wait_until(bell_.rings, rings, std::min(deadline, wall_now() + attach_look));
  }
  for (auto& m : members_) {
    if (m->pending) continue;
    stop_with(m->name + " did not attach within " + to_string(options_.attach_within) +
              "; does it call isochron::attach()? A program that knows nothing of Isochron needs `clock: virtual`");
    m->figures.failed = true;
    m->figures.ended = "never attached";
  }
}

// Their hello was said to the reactor; the world begins when the last of them is there.
void Conductor::await_boards(const std::stop_token& stop) {
  while (!boards_->complete()) {
    if (stop.stop_requested() || told_to_stop()) return stop_with("stopped");
    if (!boards_->failure().empty()) return stop_with(boards_->failure());
    boards_->idle(boards_->now() + board_look);
  }
  outcome_.began = boards_->now();
}

void Conductor::open_lanes() {
  if (claims_.empty()) return;  // nobody is measured
  outcome_.lanes = claims_.size();
  if (missing_.empty()) {
    std::vector<protocol::Bell*> bells;
    for (const auto& memory : bell_memories_) bells.push_back(static_cast<protocol::Bell*>(memory->data()));
    lanes_ = std::make_unique<Lanes>(std::move(claims_), bells);
  } else {
    lanes_ = std::make_unique<Lanes>(make_stop_dispatcher(bell_, std::move(claims_[0])), bell_);
  }
  outcome_.control = lanes_->name();
  outcome_.degraded = lanes_->degraded();
}

// Every program has asked to attach, or ended. What it executed before is not charged.
void Conductor::take_control() {
  for (auto& called : callees_) called->start(plant_.time());
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    Member& m = *members_[i];
    const Pending found = *m.pending;
    m.pending.reset();
    m.cpu_base = m.process->cpu_time();
    if (m.cost.recorded()) {
      for (std::uint32_t link = 0; link < m.cost.clock_links(); ++link) hand_clock_values(m, link);
      follow(i);
      promise(i);
    }
    if (m.cost.measured() && found.kind != Charge::Kind::ended) {
      m.seat = lanes_->admit(m.lane, m.cores, *m.process, *m.channel);
    } else if (lanes_) {
      lanes_->send_away(*m.process);
    }
    if (found.kind == Charge::Kind::ended) {
      ended(i);
    } else {
      request_arrived(i, found.link);
    }
  }
}

void Conductor::answer_after_end(std::uint32_t program) {
  Channel& channel = *members_[program]->channel;
  while (const auto link = channel.asking()) {
    const protocol::Exchange asked = channel.take(*link);
    reply_.reset(channel.room(*link));
    if (static_cast<protocol::Ask>(asked.ask) == protocol::Ask::read) {
      desk_.read_last(program, outcome_.reached, channel.request(*link, asked), reply_);
    }
    reply_.verdict = protocol::Verdict::ended;
    channel.answer(*link, outcome_.reached, reply_);
  }
}

// Whoever waits is told that the run is over, and has a moment to exit by itself.
void Conductor::end_programs() {
  if (members_.empty()) return;
  for (const auto& one : members_) {
    Member& m = *one;
    const std::uint32_t i = m.number;
    if (!m.channel) continue;
    // Also of programs whose computing is free: what they really used is what callback mode hides.
    const CpuSpan used = m.process && !m.process->ended() ? m.process->cpu_time() - m.cpu_base : CpuSpan::zero();
    m.figures.cpu = std::max({m.cpu_newest.since_zero(), m.cpu_of_threads, used});
    m.channel->set_over();
    show_clock(i, outcome_.reached, outcome_.reached, false);
    m.channel->set_clock_mode(protocol::ClockMode::held);
  }
  lanes_.reset();
  for (auto& m : members_) {
    if (m->channel) m->channel->answer_all_ended(outcome_.reached);
  }
  const WallTime deadline = wall_now() + options_.grace;
  for (bool all = false; !all && wall_now() < deadline;) {
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    all = true;
    for (const auto& m : members_) {
      if (!m->channel) continue;
      answer_after_end(m->number);
      all = m->process->ended() && all;
    }
    if (!all)
      futex_wait_until(bell_.rings, rings, std::min(deadline, wall_now() + WallSpan(std::chrono::milliseconds(5))));
  }
  // What they started dies with them, and then nobody could say any more how much it used.
  if (std::any_of(members_.begin(), members_.end(), [](const auto& m) { return m->process && !m->process->ended(); })) {
    look_for_outsiders(false);
  }
  for (auto& m : members_) {
    if (m->process && !m->process->ended()) m->process->kill_group(SIGKILL);
  }
  const WallTime dead_by = wall_now() + WallSpan(std::chrono::seconds(1));
  for (auto& m : members_) {  // those that computed to the end are no strays
    while (m->process && !m->process->ended() && wall_now() < dead_by) usleep(100);
  }
  look_for_outsiders(true);
  outcome_.strays = kill_all_of_run(token_);
  for (auto& m : members_) count_outsiders(*m);
  watcher_->finish();
}

// Processes that came from our programs and are there. What a program waited for itself is in its children's CPU time.
void Conductor::look_for_outsiders(bool at_the_end) {
  for (const Relative& relative : relatives_of_run(token_)) {
    if (!members_.has(relative.program)) continue;
    Member& m = *members_[relative.program];
    const auto is_member = [&](const auto& one) { return one->process && one->process->pid() == relative.pid; };
    if (std::any_of(members_.begin(), members_.end(), is_member)) continue;
    m.outsiders[relative.pid] = relative.cpu;
    if (at_the_end) ++m.figures.strays;
  }
}

void Conductor::count_outsiders(Member& m) {
  if (!m.channel || m.spec.stack) return;  // of a stack they are programs themselves
  CpuSpan cpu = m.process->children_cpu();
  std::set<std::uint32_t> processes;
  for (const auto& [pid, used] : m.outsiders) {
    cpu += used;
    processes.insert(static_cast<std::uint32_t>(pid));
  }
  for (const std::uint32_t pid : m.channel->family()) processes.insert(pid);
  m.figures.outsiders = static_cast<std::uint32_t>(processes.size()) + m.channel->family_unnamed();
  m.figures.outsiders_cpu = cpu;
  if (cpu > CpuSpan::zero() && m.figures.outsiders == 0) m.figures.outsiders = 1;  // at least
}

void Conductor::settle_figures() {
  drift_->settle([this](SimSpan delta) { drift_histogram_.record(delta.ns()); });
  outcome_.drift_max = drift_->max();
  outcome_.drift_p50 = SimSpan::from_ns(drift_histogram_.percentile(50));
  outcome_.drift_p99 = SimSpan::from_ns(drift_histogram_.percentile(99));
  outcome_.drift_p999 = SimSpan::from_ns(drift_histogram_.percentile(99.9));
  outcome_.drift_exact = drift_->exact();
  outcome_.drift_series = drift_->series().points();
  for (const auto& one : members_) {
    Member& m = *one;
    const std::uint32_t i = m.number;
    static_cast<DeskFigures&>(m.figures) = desk_.figures(i);
    m.figures.executed = timeline_->executed_by(i);
    m.figures.preemptions = timeline_->preemptions(i);
    m.figures.output = watcher_->output(m.watched);
    m.figures.output_size = watcher_->output_size(m.watched);
    if (m.figures.last_state.empty()) m.figures.last_state = timeline_->describe(i);
    if (m.figures.failed && !outcome_.why_ended.empty() && outcome_.why_ended.find('\n') == std::string::npos) {
      const std::string tail = foreign_tail(m.figures.output, 400);
      if (!tail.empty()) outcome_.why_ended += "\nit printed last: " + tail;
    }
    outcome_.programs.push_back(std::move(m.figures));
  }
  for (std::size_t i = 0; i < callees_.size(); ++i)
    settle_figures(*callees_[i], static_cast<std::uint32_t>(executables_ + i));
  if (boards_ == nullptr) return;
  for (const TargetOutcome& target : boards_->outcome().targets) {
    ProgramOutcome& figures = outcome_.programs.emplace_back();
    static_cast<DeskFigures&>(figures) = target.figures;
    figures.name = target.name;
    figures.executed = target.executed;
    figures.ended = target.ended;
  }
}

void Conductor::settle_figures(Callee& called, std::uint32_t program) {
  ProgramOutcome& figures = called.figures();
  static_cast<DeskFigures&>(figures) = desk_.figures(program);
  figures.executed = timeline_->executed_by(program);
  figures.preemptions = timeline_->preemptions(program);
  figures.cpu = called.executed();
  if (figures.last_state.empty()) figures.last_state = timeline_->describe(program);
  outcome_.programs.push_back(figures);
}

Coordinator::Coordinator(Plant& plant, std::vector<RobotSpec> robots, CoordinatorOptions options, Recorder* recorder)
    : plant_(plant), robots_(std::move(robots)), options_(std::move(options)), recorder_(recorder) {}

Coordinator::~Coordinator() = default;

Numbered numbered(const std::vector<RobotSpec>& robots) {
  Numbered all;
  for (const bool called : {false, true}) {
    for (const RobotSpec& robot : robots) {
      for (const ProgramSpec& program : robot.programs) {
        if ((program.called != nullptr) != called) continue;
        all.names.push_back(robot.name + "/" + program.name);
        all.speeds.push_back(program.cpu_speed);
      }
    }
  }
  return all;
}

Outcome Coordinator::run(SimTime until, std::stop_token stop, ProgressTold progress) {
  Conductor conductor(plant_, robots_, options_, recorder_, until);
  return conductor.conduct(std::move(stop), progress);
}

}  // namespace isochron::programs
