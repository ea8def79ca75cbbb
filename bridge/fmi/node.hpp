#pragma once
// A node that is an FMU. It is written once, against the C interface of nodes (core/isochron_node.h), and so runs in
// two places:
//
//   shared   in the process that runs the node, as the executor has it. A step costs what the FMU's step costs. An FMU
//            that crashes is named, and the journal is whole (flow/crash.hpp).
//   own      in the program `isochron_fmu`, a process for this node alone (flow/program_node.hpp). For FMUs that may be
//            instantiated once in a process, that end the process, or that change what is common to all of it: signal
//            handlers, rounding, the working folder. A step costs two messages between processes more.
//
// Its outputs are those of its spec, and `log`: what the FMU says, as rcl_interfaces/msg/Log, events. Where steps have
// costs that vary, `cost` tells them. Where there are intermediate outputs, which are events inside of a step, the step
// from t is made at t, when all that acts on it has been heard: `step` is the observation that does it.
//
// Fails: making it throws InputError where the binary cannot be loaded or the FMU's program not be started.

#include <memory>
#include <string>

#include "bridge/fmi/spec.hpp"
#include "core/isochron_node.h"
#include "flow/user_node.hpp"

namespace isochron::fmi {

inline constexpr const char* log_flow = "log";
inline constexpr const char* step_flow = "step";  // of FMUs with intermediate outputs: when a step is made
inline constexpr const char* node_program = "isochron_fmu";

/// The one type in it takes its spec as the parameter `spec`.
const isochron_node_list& node_types();

/// In this process.
std::unique_ptr<flow::UserNode> make_node(const NodeSpec& spec);
/// In a process of its own: `program` is isochron_fmu, `fmu` is shown to people who look at processes.
std::unique_ptr<flow::UserNode> make_node_in_process(const NodeSpec& spec, const std::string& program,
                                                     const std::string& fmu);

}  // namespace isochron::fmi
