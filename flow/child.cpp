#include "flow/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <csignal>
#include <cstdio>

#include "core/time_text.hpp"

namespace isochron::flow {
namespace {

constexpr WallSpan patience = std::chrono::seconds(2);  // with a child that is told to end
constexpr std::size_t rings_together = 64U << 20U;      // bytes of all rings
constexpr std::size_t largest_ring = 1U << 20U, smallest_ring = 64U << 10U;

/// Neighbours share a process; no group is larger than another by more than one.
std::vector<Children::Group> group(std::size_t nodes, std::size_t processes) {
  const std::size_t count = std::min(nodes, std::max<std::size_t>(processes, 1));
  std::vector<Children::Group> groups(count);
  for (std::size_t n = 0; n < nodes; ++n) groups[n * count / nodes].push_back(static_cast<std::uint32_t>(n));
  return groups;
}

}  // namespace

Children::Children(Assembly& assembly, const Options& options, std::uint32_t processes)
    : assembly_(assembly),
      options_(options),
      groups_(group(assembly.nodes().size(), processes)),
      leaders_(assembly.nodes().size()),
      statuses_(assembly.arena().make_array<NodeStatus>(assembly.nodes().size())),
      control_(assembly.arena().make<RunControl>()),
      texts_(assembly.arena().make_array<Text>(groups_.size())) {
  for (const Group& members : groups_) {
    for (const std::uint32_t node : members) leaders_[node] = members.front();
    statuses_[members.front()].state.store(members.front());
  }
  if (options_.observer != nullptr) make_rings();
}

void Children::make_rings() {
  for (const PortRef flow : assembly_.flows()) {
    types_.push_back(assembly_.graph().nodes[flow.node].outputs[flow.port].type);
  }
  const std::size_t each = std::clamp(rings_together / groups_.size(), smallest_ring, largest_ring);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    rings_.push_back(make_sent_ring(assembly_.arena(), each));
    readers_.emplace_back(*rings_.back());
  }
}

std::uint32_t Children::running(std::size_t child) const {
  const std::uint32_t node = statuses_[groups_[child].front()].state.load();
  return node < leaders_.size() ? node : groups_[child].front();
}

RunReport Children::run(const Life& life, const std::function<void()>& forked) {
  std::fflush(nullptr);  // or every child would print what the parent has buffered
  for (std::size_t child = 0; child < groups_.size(); ++child) fork_one(child, life);
  if (forked) forked();
  {
    const Watchdog watchdog(
        statuses(), clock_of(options_),
        [this](const std::vector<WallSpan>& since) { return wait_for_graph(assembly_.graph(), statuses(), since); },
        watchdog_wishes(options_, [this](const WaitForGraph& graph) {
          const std::lock_guard lock(mutex_);
          report_.stall = to_string(graph);
          if (options_.on_stall) options_.on_stall(graph);
          if (options_.end_on_stall) SignalHub::end_all(statuses(), control());
        }));
    collect();
  }
  report_.complete = report_.failures.empty();
  for (const NodeStatus& status : statuses()) {
    report_.complete = report_.complete && status.what.load() == static_cast<std::uint32_t>(Wait::For::done);
  }
  return std::move(report_);
}

void Children::fork_one(std::size_t child, const Life& life) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) live(child, life, parent);
  pids_.push_back(pid > 0 ? pid : 0);
  if (pid < 0) {
    add_failure(groups_[child].front(), "its process could not be started");
    SignalHub::end_all(statuses(), control());
  }
}

void Children::live(std::size_t child, const Life& life, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
  std::optional<SentWriter> writer;
  if (!rings_.empty()) writer.emplace(*rings_[child], options_.in_step, control_->end, clock_of(options_));
  for (const std::uint32_t node : groups_[child]) assembly_.nodes()[node]->set_observer(writer ? &*writer : nullptr);
  int code = 0;
  char* what = texts_[child].what;
  try {
    life(groups_[child]);
  } catch (const std::exception& error) {
    std::snprintf(what, sizeof texts_[child].what, "%s", error.what());
    code = 1;
  } catch (...) {
    std::snprintf(what, sizeof texts_[child].what, "it threw something that is not an exception");
    code = 1;
  }
  std::fflush(nullptr);
  control_->finished.fetch_add(1);
  futex_wake(control_->finished);
  _exit(code);
}

void Children::collect() {
  const WallSpan nap =
      options_.observer != nullptr ? WallSpan(std::chrono::microseconds(100)) : WallSpan(std::chrono::milliseconds(5));
  std::uint32_t look = 0;
  for (std::size_t left = groups_.size(); left > 0;) {
    const std::uint32_t finished = control_->finished.load();
    const bool took = take_sent();
    if (took && ++look % 64 != 0) continue;  // asking for the dead costs a call for each child
    left = bury_the_dead();
    if (options_.cancel != nullptr && options_.cancel->load()) SignalHub::end_all(statuses(), control());
    kill_who_does_not_end();
    if (left > 0 && !took) futex_wait(control_->finished, finished, nap);
  }
  while (take_sent()) {
  }
}

/// How many children are left.
std::size_t Children::bury_the_dead() {
  std::size_t left = 0;
  for (std::size_t child = 0; child < pids_.size(); ++child) {
    int status = 0;
    if (pids_[child] == 0) continue;
    ++left;
    if (waitpid(pids_[child], &status, WNOHANG | WUNTRACED | WCONTINUED) != pids_[child]) continue;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      for (const std::uint32_t node : groups_[child]) statuses_[node].stopped.store(WIFSTOPPED(status) ? 1 : 0);
      continue;
    }
    buried(child, status);
    --left;
  }
  return left;
}

/// The run was ended: by a stall, a failure or from outside. Who is stopped, or hangs in its own code, does not hear
/// it.
void Children::kill_who_does_not_end() {
  if (control_->end.load() == 0) return;
  const WallTime now = clock_of(options_).now();
  if (!ended_at_) ended_at_ = now;
  if (killed_ || now - *ended_at_ < patience) return;
  killed_ = true;
  for (const pid_t pid : pids_) {
    if (pid != 0) kill(pid, SIGKILL);
  }
}

void Children::buried(std::size_t child, int status) {
  pids_[child] = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::uint32_t node = running(child);
  if (killed_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    const bool stopped = statuses_[node].stopped.load() != 0;
    return add_failure(node,
                       stopped ? "its process was stopped by a signal" : "it did not end; its process was killed");
  }
  std::string what = "its process ended with code " + std::to_string(WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) what = texts_[child].what;
  if (WIFSIGNALED(status)) {
    what = std::string("its process was killed: ") + strsignal(WTERMSIG(status)) + " (after " +
           to_string(SimTime::from_ns(statuses_[node].at.load())) + ")";
  }
  add_failure(node, what);
  SignalHub::end_all(statuses(), control());
}

void Children::add_failure(std::uint32_t node, std::string what) {
  statuses_[node].failed.store(1);
  // Those that were busy a moment ago need one to notice that nothing comes any more.
  if (report_.failures.empty()) usleep(2000);
  const std::lock_guard lock(mutex_);
  report_.failures.push_back(make_failure(assembly_.graph(), node, std::move(what), statuses()));
}

bool Children::take_sent() {
  bool any = false;
  for (SentReader& reader : readers_) any = reader.take(*options_.observer, types_) || any;
  return any;
}

}  // namespace isochron::flow
