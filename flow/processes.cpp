// Nodes in processes, messages in shared memory (run.hpp). The nodes meet in the same channels as threads do, with no
// socket and no copy between them. Reading a flow's stamp there costs a load, so time needs no messages of its own.
// More nodes than Options::processes share processes, neighbours first.

#include "flow/child.hpp"
#include "flow/home_core.hpp"

namespace isochron::flow {
namespace {

// While there is a core for everybody, the other side sits on another one and is just about to answer: looking a little
// longer is cheaper than being woken. With more nodes than cores those with cheap turns share one (home_core.hpp),
// where looking is in vain and yielding is the hand-over.
constexpr Patience with_a_core_each{2000, 400};
constexpr Patience crowded{48, 400};
constexpr Patience on_one_core{1, 1000};

/// Where nodes must share anyway, few processes are quicker: each turn of one serves all its nodes.
std::uint32_t processes_for(std::size_t nodes, const Options& options) {
  constexpr std::size_t each_its_own = 32;
  if (options.processes != 0) return options.processes;
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  return nodes <= each_its_own ? static_cast<std::uint32_t>(nodes) : 2 * cores;
}

}  // namespace

RunReport run_processes(Assembly& assembly, const Options& options) {
  Children children(assembly, options, processes_for(assembly.nodes().size(), options));
  StatementBoard board(assembly);
  HomeCore home(5 * options.grain);  // a turn that costs less than waking another core
  const bool enough_cores = children.count() <= home.cores();
  return children.run([&](const Children::Group& group) {
    std::vector<Node*> nodes;
    NodeStatus& leader = children.statuses()[group.front()];
    SignalHub hub(children.statuses(), children.control(), board, group.front(), clock_of(options), options.disturb,
                  children.leaders());
    if (!enough_cores) home.settle();
    for (const std::uint32_t n : group) {
      leader.state.store(n);
      nodes.push_back(assembly.nodes()[n]);
      nodes.back()->start(assembly.graph().start);
      nodes.back()->set_stop(options.until);
    }
    hub.loop(
        nodes, [&] { return enough_cores     ? with_a_core_each
                            : home.at_home() ? on_one_core
                                             : crowded; }, home);
    for (Node* node : nodes) {
      leader.state.store(node->index());
      node->finish();
    }
  });
}

}  // namespace isochron::flow
