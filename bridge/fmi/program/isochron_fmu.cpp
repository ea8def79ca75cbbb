// An FMU in a process of its own: started by a node, which tells it what to do over ISOCHRON_NODE_FD
// (docs/node_protocol.md).

#include "bridge/fmi/node.hpp"
#include "client/node/isochron_node_program.h"

int main() { return isochron_node_main(&isochron::fmi::node_types()); }
