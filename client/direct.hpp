#pragma once
// Reads and writes that need nobody else: from and to the board in the program's own pages
// (protocol/program_board.hpp).
//
// Promises: all or nothing; several values are of one turn of the board, and several writes are taken together.
// Threads:  any; each with the link that it owns. Cost: about as many copies as there are values; no system call.

#include "client/transport.hpp"

namespace isochron::client {

/// Does what is asked without asking; false = it must be asked, and nothing has happened.
bool do_directly(protocol::Pages& pages, const protocol::Link& link, protocol::Exchange& exchange,
                 const Payload& payload);

}  // namespace isochron::client
