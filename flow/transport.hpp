#pragma once
// What a flow needs of whatever carries it between processes: an ordered, lossless stream of bytes in each direction,
// as TCP, a Unix socket or a pipe in shared memory give it. flow/ knows no sockets beyond its own process runner; link/
// and the scenario layer bring others and call Peer::arrived() with what comes.
//
// Threads: owner thread.

#include <cstddef>
#include <span>

namespace isochron::flow {

class Transport {
 public:
  virtual ~Transport() = default;
  /// Takes all of it, queues what the network does not take now. The order is kept.
  virtual void send(std::span<const std::byte> bytes) = 0;
};

}  // namespace isochron::flow
