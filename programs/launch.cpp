#include "programs/launch.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/log.hpp"
#include "core/time_text.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

namespace {

constexpr std::uint32_t looks_before_sleeping = 1000;  // some tens of microseconds
constexpr WallSpan board_look = std::chrono::milliseconds(20);
constexpr WallSpan attach_look = std::chrono::milliseconds(5);  // those of other lanes ring elsewhere
constexpr WallSpan end_look = std::chrono::milliseconds(5);

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

}  // namespace

void Launch::start() {
  if (all_.members.empty()) return;
  execution_.plan_lanes();
  all_.keeper = std::make_unique<Keeper>(all_.token);
  const CoordinatorOptions& options = all_.options;
  const std::string library = find_interpose_library(options.interpose_library);
  const std::size_t cores = std::thread::hardware_concurrency();
  std::vector<Watcher::Watched> watched;
  for (const auto& m : all_.members) {
    m->process = std::make_unique<Process>(
        Process::Start{&m->spec, m->name, all_.bells[m->lane]->descriptor(), token_of(all_.token, m->number), library,
                       m->cost.clock_mode(), options.epoch, m->cost.rate(), m->robot_cores,
                       m->spec.stack ? stacks_.system()->number_of(m->number) : 0, m->robot});
    m->channel = std::make_unique<Channel>(m->process->pages());
    if (!m->cost.measured() && all_.members.size() < cores) m->channel->set_patience(looks_before_sleeping);
    m->watched = watched.size();
    watched.push_back({m->name, m->process->output(), m->process->pid_descriptor()});
    if (logs(LogLevel::info)) inform("programs", m->name + " is process " + std::to_string(m->process->pid()));
  }
  all_.watcher =
      std::make_unique<Watcher>(std::move(watched), all_.bell, options.output_kept, options.show_output, true);
}

bool Launch::all_attached() {
  bool all = true;
  for (const auto& m : all_.members) {
    if (m->pending) continue;
    if (const auto link = m->channel->asking()) {
      m->pending = Pending{};
      m->pending->link = *link;
    } else if (all_.watcher->ended(m->watched) && m->process->ended()) {
      m->pending = Pending{};
      m->pending->kind = Charge::Kind::ended;
    } else {
      all = false;
    }
  }
  return all;
}

void Launch::await_attach() {
  const WallSpan within = all_.options.attach_within;
  const WallTime deadline = wall_now() + within;
  for (;;) {
    const std::uint32_t rings = all_.bell.rings.load(std::memory_order_acquire);
    if (all_attached()) return;
    if (wall_now() >= deadline) break;
    limits_.check_memory();
    futex_wait_until(all_.bell.rings, rings, std::min(deadline, wall_now() + attach_look));
  }
  for (auto& m : all_.members) {
    if (m->pending) continue;
    all_.stop_with(
        m->name + " did not attach within " + to_string(within) +
        "; does it call isochron::attach()? A program that knows nothing of Isochron needs `clock: virtual`");
    m->figures.failed = true;
    m->figures.ended = "never attached";
  }
}

void Launch::await_boards(const std::stop_token& stop) {
  Boards& boards = *all_.boards;
  while (!boards.complete()) {
    if (stop.stop_requested() || all_.told_to_stop()) return all_.stop_with("stopped");
    if (!boards.failure().empty()) return all_.stop_with(boards.failure());
    boards.idle(boards.now() + board_look);
  }
  all_.outcome.began = boards.now();
}

void Launch::end() {
  if (all_.members.empty()) return;
  for (const auto& m : all_.members) tell_over(*m);
  all_.lanes.reset();
  for (auto& m : all_.members) {
    if (m->channel) m->channel->answer_all_ended(all_.outcome.reached);
  }
  await_end();
  // What they started dies with them, and then nobody could say any more how much it used.
  const auto lives = [](const auto& m) { return m->process && !m->process->ended(); };
  if (std::any_of(all_.members.begin(), all_.members.end(), lives)) look_for_outsiders(false);
  for (auto& m : all_.members) {
    if (lives(m)) m->process->kill_group(SIGKILL);
  }
  const WallTime dead_by = wall_now() + WallSpan(std::chrono::seconds(1));
  for (auto& m : all_.members) {  // those that computed to the end are no strays
    while (lives(m) && wall_now() < dead_by) usleep(100);
  }
  look_for_outsiders(true);
  all_.outcome.strays = kill_all_of_run(all_.token);
  for (auto& m : all_.members) count_outsiders(*m);
  all_.watcher->finish();
}

void Launch::tell_over(Member& m) {
  if (!m.channel) return;
  // Also of programs whose computing is free: what they really used is what callback mode hides.
  const CpuSpan used = m.process && !m.process->ended() ? m.process->cpu_time() - m.cpu_base : CpuSpan::zero();
  m.figures.cpu = std::max({m.cpu_newest.since_zero(), m.cpu_of_threads, used});
  m.channel->set_over();
  execution_.show_clock(m.number, all_.outcome.reached, all_.outcome.reached, false);
  m.channel->set_clock_mode(protocol::ClockMode::held);
}

void Launch::await_end() {
  const WallTime deadline = wall_now() + all_.options.grace;
  for (bool all = false; !all && wall_now() < deadline;) {
    const std::uint32_t rings = all_.bell.rings.load(std::memory_order_acquire);
    all = true;
    for (const auto& m : all_.members) {
      if (!m->channel) continue;
      answers_.after_end(*m);
      all = m->process->ended() && all;
    }
    if (!all) futex_wait_until(all_.bell.rings, rings, std::min(deadline, wall_now() + end_look));
  }
}

void Launch::look_for_outsiders(bool at_the_end) {
  for (const Relative& relative : relatives_of_run(all_.token)) {
    if (!all_.members.has(relative.program)) continue;
    Member& m = *all_.members[relative.program];
    const auto is_member = [&](const auto& one) { return one->process && one->process->pid() == relative.pid; };
    if (std::any_of(all_.members.begin(), all_.members.end(), is_member)) continue;
    m.outsiders[relative.pid] = relative.cpu;
    if (at_the_end) ++m.figures.strays;
  }
}

void Launch::count_outsiders(Member& m) {
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

}  // namespace isochron::programs
