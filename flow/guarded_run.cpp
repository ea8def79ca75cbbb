// Runs nodes on a thread that can be given up (run.hpp): one that hangs in its own code cannot be ended from outside,
// and one that crashed never returns. Whoever waits then goes on without it; the thread and all that it uses stay
// behind.

#include <memory>
#include <mutex>
#include <thread>

#include "core/time_text.hpp"
#include "flow/crash.hpp"
#include "flow/executor.hpp"
#include "flow/futex.hpp"

namespace isochron::flow {
namespace {

using namespace std::chrono_literals;

constexpr WallSpan patience = 1s;  // from a stall that ends the run until somebody is given up

/// What the two threads share; it lives as long as either.
struct Meeting {
  explicit Meeting(const Options& wishes) : options(wishes) {}
  Options options;
  std::atomic<std::uint32_t> bell{0};  // moves when there is news
  std::atomic<bool> done{false};
  std::atomic<bool> stalled{false};
  std::mutex mutex;
  WaitForGraph standing;
  FlowOutcome outcome;
  std::exception_ptr error;

  void ring() {
    bell.fetch_add(1);
    futex_wake(bell);
  }
};

void listen_for_stalls(Meeting& meeting) {
  const auto told = meeting.options.on_stall;
  meeting.options.on_stall = [&meeting, told](const WaitForGraph& graph) {
    if (told) told(graph);
    const std::lock_guard lock(meeting.mutex);
    meeting.standing = graph;
    meeting.stalled.store(true);
    meeting.ring();
  };
}

/// The end of a run in which somebody stays behind.
FlowOutcome give_up(Meeting& meeting, std::vector<NodeFailure> failures) {
  const std::lock_guard lock(meeting.mutex);
  FlowOutcome outcome;
  outcome.given_up = true;
  outcome.stall = to_string(meeting.standing);
  outcome.failures = std::move(failures);
  return outcome;
}

std::vector<NodeFailure> hung_nodes(Meeting& meeting) {
  const std::lock_guard lock(meeting.mutex);
  std::vector<NodeFailure> failures;
  for (const Waiting& waiting : meeting.standing) {
    if (waiting.what != Waiting::For::own_code) continue;
    failures.push_back({waiting.node, "it does not come back from its own code after " + to_string(waiting.at), {}});
  }
  return failures;
}

}  // namespace

FlowOutcome run_guarded(System& system, const Options& options) {
  auto meeting = std::make_shared<Meeting>(options);
  listen_for_stalls(*meeting);
  std::optional<CrashWatch> crashes;
  if (options.catch_crashes) crashes.emplace(meeting->bell);
  std::thread runner([meeting, &system] {
    const SignalStack stack;
    try {
      meeting->outcome = run_here(system, meeting->options);
    } catch (...) {
      meeting->error = std::current_exception();
    }
    meeting->done.store(true);
    meeting->ring();
  });
  std::optional<WallTime> give_up_at;
  while (!meeting->done.load()) {
    const std::uint32_t heard = meeting->bell.load();
    if (crashes) {
      if (const auto crash = crashes->crash()) {
        runner.detach();
        const std::string when = " (at " + to_string(system.node(crash->node).now()) + ")";
        return give_up(*meeting, {{system.graph().nodes[crash->node].name, crash->what + when, {}}});
      }
    }
    if (options.end_on_stall && meeting->stalled.load()) {
      const WallTime now = clock_of(options).now();
      if (!give_up_at) give_up_at = now + patience;
      if (now >= *give_up_at) {
        runner.detach();
        return give_up(*meeting, hung_nodes(*meeting));
      }
    }
    if (!meeting->done.load()) futex_wait(meeting->bell, heard, 100ms);
  }
  runner.join();
  if (meeting->error) std::rethrow_exception(meeting->error);
  return std::move(meeting->outcome);
}

}  // namespace isochron::flow
