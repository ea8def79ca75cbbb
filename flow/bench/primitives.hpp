#pragma once
// The bare things that flows between processes are compared with: 64 bytes to and fro, nothing else.

#include <cstdint>

namespace isochron::bench {

/// Round trips per second between two processes that sleep on futexes in shared memory.
double futex_ping_pong(std::uint64_t rounds);
/// Round trips per second between two processes over TCP.
double tcp_ping_pong(std::uint64_t rounds);

}  // namespace isochron::bench
