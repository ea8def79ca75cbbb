#include "flow/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <csignal>
#include <cstdio>

namespace isochron::flow {

Children::Children(Assembly& assembly, const Options& options)
    : assembly_(assembly),
      options_(options),
      statuses_(assembly.arena().make_array<NodeStatus>(assembly.nodes().size())),
      control_(assembly.arena().make<RunControl>()),
      texts_(assembly.arena().make_array<Text>(assembly.nodes().size())) {}

RunReport Children::run(const Life& life, const std::function<void()>& forked) {
  std::fflush(nullptr);  // or every child would print what the parent has buffered
  for (std::uint32_t n = 0; n < assembly_.nodes().size(); ++n) fork_one(n, life);
  if (forked) forked();
  {
    const Watchdog watchdog(
        statuses(), options_.stall_after, clock_of(options_),
        [this](const std::vector<WallSpan>& since) { return wait_for_graph(assembly_.graph(), statuses(), since); },
        [this](const WaitForGraph& graph) {
          const std::lock_guard lock(mutex_);
          report_.stall = to_string(graph);
          if (options_.on_stall) options_.on_stall(graph);
          if (options_.end_on_stall) SignalHub::end_all(statuses(), control());
        },
        options_.on_look);
    collect();
  }
  report_.complete = report_.failures.empty();
  for (const NodeStatus& status : statuses()) {
    report_.complete = report_.complete && status.what.load() == static_cast<std::uint32_t>(Wait::For::done);
  }
  return std::move(report_);
}

void Children::fork_one(std::uint32_t node, const Life& life) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) live(node, life, parent);
  pids_.push_back(child > 0 ? child : 0);
  if (child < 0) {
    add_failure(node, "its process could not be started");
    SignalHub::end_all(statuses(), control());
  }
}

void Children::live(std::uint32_t node, const Life& life, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
  int code = 0;
  try {
    life(node);
  } catch (const std::exception& error) {
    std::snprintf(texts_[node].what, sizeof texts_[node].what, "%s", error.what());
    code = 1;
  } catch (...) {
    std::snprintf(texts_[node].what, sizeof texts_[node].what, "it threw something that is not an exception");
    code = 1;
  }
  std::fflush(nullptr);
  control_->finished.fetch_add(1);
  futex_wake(control_->finished);
  _exit(code);
}

void Children::collect() {
  std::size_t left = 0;
  for (const pid_t pid : pids_) left += pid != 0 ? 1 : 0;
  while (left > 0) {
    const std::uint32_t finished = control_->finished.load();
    const bool tapped = options_.recorder != nullptr && drain_taps();
    for (std::uint32_t n = 0; n < pids_.size(); ++n) {
      int status = 0;
      if (pids_[n] == 0 || waitpid(pids_[n], &status, WNOHANG) != pids_[n]) continue;
      buried(n, status);
      --left;
    }
    if (options_.cancel != nullptr && options_.cancel->load()) SignalHub::end_all(statuses(), control());
    if (left == 0 || tapped) continue;
    const WallSpan nap = options_.recorder != nullptr ? WallSpan(std::chrono::microseconds(100))
                                                      : WallSpan(std::chrono::milliseconds(5));
    futex_wait(control_->finished, finished, nap);
  }
  if (options_.recorder != nullptr) {
    while (drain_taps()) {
    }
  }
}

void Children::buried(std::uint32_t node, int status) {
  pids_[node] = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::string what = "its process ended with code " + std::to_string(WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) what = texts_[node].what;
  if (WIFSIGNALED(status)) what = std::string("its process was killed: ") + strsignal(WTERMSIG(status));
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

bool Children::drain_taps() {
  bool any = false;
  for (const Assembly::End& tap : assembly_.taps()) {
    if (tap.channel->written.load() == (*tap).consumed.load()) continue;
    drain_tap(*tap.channel, *tap);
    any = true;
  }
  return any;
}

void Children::drain_tap(Channel& channel, Reader& tap) {
  const std::uint64_t written = channel.written.load();
  void* decoded = channel.encoded ? new_payload(*channel.type) : nullptr;
  for (std::uint64_t n = tap.consumed.load(); n < written; ++n) {
    const Slot& slot = channel.slots[n % channel.slot_count()];
    const void* value = slot.payload;
    if (decoded != nullptr) {
      channel.type->decode(decoded, {static_cast<const std::byte*>(slot.payload), slot.size});
      value = decoded;
    }
    options_.recorder->sent({channel.flow, slot.time, slot.next, channel.type, value});
    tap.consumed.store(n + 1);
    if (channel.source_waits.exchange(0) != 0) SignalHub::wake(statuses_[channel.source]);
  }
  if (decoded != nullptr) delete_payload(*channel.type, decoded);
}

}  // namespace isochron::flow
