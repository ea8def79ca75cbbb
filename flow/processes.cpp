// A process for each node, messages in shared memory (run.hpp). The nodes meet in the same channels as threads do, with
// no socket and no copy between them. Reading a flow's stamp there costs a load, so time needs no messages of its own.

#include "flow/child.hpp"

namespace isochron::flow {
namespace {

/// While there is a core for everybody, the other side sits on another one and is just about to answer: looking a
/// little longer is cheaper than being woken. With more nodes than cores whoever is waited for may need this very core:
/// look briefly, then yield it, which costs a microsecond where waking somebody costs tens.
Patience patience_for(std::size_t nodes) {
  const bool crowded = nodes > std::max(std::thread::hardware_concurrency(), 1U);
  return crowded ? Patience{48, 1000} : Patience{2000, 400};
}

}  // namespace

RunReport run_processes(Assembly& assembly, const Options& options) {
  Children children(assembly, options);
  return children.run([&](std::uint32_t n) {
    Node& node = *assembly.nodes()[n];
    SignalHub hub(children.statuses(), children.control(), n, clock_of(options), options.disturb);
    node.start(assembly.graph().start);
    node.set_stop(options.until);
    hub.loop(node, patience_for(assembly.nodes().size()));
    node.finish();
  });
}

}  // namespace isochron::flow
