#include "flow/run.hpp"

#include "flow/check.hpp"
#include "flow/executor.hpp"

namespace isochron::flow {
namespace {
constexpr std::pair<How, const char*> words[] = {{How::thread, "thread"},   {How::pool, "pool"},
                                                 {How::threads, "threads"}, {How::processes, "processes"},
                                                 {How::tcp, "tcp"},         {How::free, "free"}};

AssemblyPlan plan_for(const Options& options) {
  AssemblyPlan plan;
  const bool processes = options.how == How::processes || options.how == How::tcp;
  plan.memory = processes ? Arena::Kind::shared : Arena::Kind::own;
  plan.split = options.how == How::tcp;
  plan.largest_message = options.largest_message;
  plan.settings.digest = options.digest;
  plan.settings.observer = processes ? nullptr : options.observer;
  plan.settings.hold_limit = options.hold_limit;
  plan.settings.poison = options.poison;
  return plan;
}

RunReport run_assembly(Assembly& assembly, const Options& options) {
  switch (options.how) {
    case How::pool:
      return run_pool(assembly, options);
    case How::threads:
      return run_threads(assembly, options);
    case How::processes:
      return run_processes(assembly, options);
    case How::tcp:
      return run_tcp(assembly, options);
    default:
      return run_serial(assembly, options);
  }
}
}  // namespace

const char* to_string(How how) {
  for (const auto& [value, word] : words) {
    if (value == how) return word;
  }
  return "?";
}

Result<How, std::string> parse_how(std::string_view text) {
  std::string known;
  for (const auto& [value, word] : words) {
    if (text == word) return value;
    known += std::string(known.empty() ? "" : ", ") + word;
  }
  return fail("`" + std::string(text) + "` is not a way to run flows; write one of " + known);
}

std::string to_string(const NodeFailure& failure) {
  std::string text = "node " + failure.node + " failed: " + failure.what;
  for (const std::string& waiting : failure.waited_for_by) text += "\n  " + waiting;
  return text;
}

NodeFailure make_failure(const Graph& graph, std::uint32_t node, std::string what,
                         std::span<const NodeStatus> statuses) {
  return {graph.nodes[node].name, std::move(what), waiting_for(graph, node, statuses)};
}

Clock& clock_of(const Options& options) {
  static WallClock wall;
  return options.clock != nullptr ? *options.clock : wall;
}

Watchdog::Wishes watchdog_wishes(const Options& options, std::function<void(const WaitForGraph&)> on_stall) {
  return {options.stall_after, std::move(on_stall), options.on_look, options.excused};
}

void start_nodes(Assembly& assembly, SimTime until) {
  for (Node* node : assembly.nodes()) {
    node->start(assembly.graph().start);
    node->set_stop(until);
  }
}

FlowOutcome make_outcome(Assembly& assembly, RunReport report) {
  FlowOutcome outcome;
  outcome.complete = report.complete;
  outcome.failures = std::move(report.failures);
  outcome.stall = std::move(report.stall);
  for (const auto& ways : assembly.ways()) {
    const Channel* channel = ways.front();
    outcome.flow_digests.push_back(channel->digest);
    outcome.digest = mix(outcome.digest, channel->digest);
    outcome.messages += channel->written.load();
  }
  return outcome;
}

FlowOutcome run_here(System& system, const Options& options) {
  if (options.how == How::free) return run_free(system, options);
  Assembly assembly(system, plan_for(options));
  return make_outcome(assembly, run_assembly(assembly, options));
}

FlowOutcome run(System& system, const Options& options) {
  require_good(system.graph(), options.until);
  const bool own_processes = options.how == How::processes || options.how == How::tcp;
  const bool may_give_up = !own_processes && (options.end_on_stall || options.catch_crashes);
  return may_give_up ? run_guarded(system, options) : run_here(system, options);
}

}  // namespace isochron::flow
