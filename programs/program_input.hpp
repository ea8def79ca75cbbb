#pragma once
// What becomes the standard input of a program: nothing, a file, a text, or a pipe into which lines come at their
// times. These lines go into the shared pages; the library that is preloaded into the program puts them into the pipe.
//
// Fails: InputError for a file that cannot be read and for too many lines.

#include <string>

#include "link/fd.hpp"
#include "programs/spec.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

/// The descriptor to read from. `name` is the program's, for messages.
link::Fd open_input(const ProgramInput& input, const std::string& name, protocol::Pages& pages);

}  // namespace isochron::programs
