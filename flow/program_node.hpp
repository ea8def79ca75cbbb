#pragma once
// A node that is a program of its own, in any language. This side is an ordinary node, so it runs wherever nodes run;
// for each message that comes and each that is due it asks the program, over a socket that the program finds as the
// file descriptor named by ISOCHRON_NODE_FD. The frames are in program_wire.hpp and docs/node_protocol.md.
//
//     node                                   program
//     hello: type, parameters        ──►
//                                    ◄──     ports: inputs, outputs, parameters that it knows
//     start, message, fill, finish   ──►
//                                    ◄──     filled, event, ready, failed
//
// Promises: the program sees what a node in C++ sees, in the same order; the messages are the same. Where it has no
//           event outputs, messages to it are not waited for, only those from it.
// Fails:    a program that cannot be started or says nothing sensible: InputError when the node is made. One that ends,
//           fails or breaks a promise while it runs: the step throws, with the reason.
// Threads:  as UserNode. The program is started when the node is made and ended when it is destroyed; after a fork it
//           belongs to the process that runs the node.

#include <memory>
#include <string>
#include <vector>

#include "flow/parameters.hpp"
#include "flow/user_node.hpp"

namespace isochron::flow {

struct ProgramCommand {
  std::vector<std::string> words;  // the executable and its arguments
  std::string folder;              // where it runs; "" = here
};

/// `type` "" = the only one that the program has.
std::unique_ptr<UserNode> make_program_node(const ProgramCommand& command, const std::string& type,
                                            const Parameters& parameters);

struct ProgramType {
  std::string name, about;
};
/// What a program says of itself.
std::vector<ProgramType> types_of_program(const ProgramCommand& command);

}  // namespace isochron::flow
