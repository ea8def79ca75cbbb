// A process for each node, messages in shared memory (run.hpp). The nodes meet in the same channels as threads do, with
// no socket and no copy between them. Reading a flow's stamp there costs a load, so time needs no messages of its own.

#include "flow/child.hpp"

namespace isochron::flow {
namespace {
// Between processes the other side often sits on another core that is just about to answer: looking a little longer is
// cheaper than being woken, and yielding lets those on the same core go on.
constexpr Patience patience{2000, 400};
}  // namespace

RunReport run_processes(Assembly& assembly, const Options& options) {
  Children children(assembly, options);
  return children.run([&](std::uint32_t n) {
    Node& node = *assembly.nodes()[n];
    SignalHub hub(children.statuses(), children.control(), n, options.disturb);
    node.start(assembly.graph().start);
    node.set_stop(options.until);
    hub.loop(node, patience);
    node.finish();
  });
}

}  // namespace isochron::flow
