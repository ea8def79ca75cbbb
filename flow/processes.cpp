// A process for each node, messages in shared memory (run.hpp). The nodes meet in the same channels as threads do, with
// no socket and no copy between them. Reading a flow's stamp there costs a load, so time needs no messages of its own.

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

}  // namespace

RunReport run_processes(Assembly& assembly, const Options& options) {
  Children children(assembly, options);
  HomeCore home(5 * options.grain);  // a turn that costs less than waking another core
  const bool enough_cores = assembly.nodes().size() <= home.cores();
  return children.run([&](std::uint32_t n) {
    Node& node = *assembly.nodes()[n];
    SignalHub hub(children.statuses(), children.control(), n, clock_of(options), options.disturb);
    if (!enough_cores) home.settle();
    node.start(assembly.graph().start);
    node.set_stop(options.until);
    hub.loop(
        node, [&] { return enough_cores     ? with_a_core_each
                           : home.at_home() ? on_one_core
                                            : crowded; }, home);
    node.finish();
  });
}

}  // namespace isochron::flow
