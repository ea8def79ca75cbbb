#pragma once
// What time-synchronised steps are compared with: processes that send 64 bytes to all others and wait for theirs, step
// by step, with the bare middleware: no sessions, no flows, no time. With two of them this is a ping-pong.

#include <cstdint>
#include <functional>
#include <memory>

#include "link/carrier.hpp"

namespace isochron::bench {

/// Runs `member(i)` in a process each; each gives how many seconds it took, negative = it failed. The longest of them.
double in_processes(std::uint32_t count, const std::function<double(std::uint32_t)>& member);

using MakeCarrier = std::function<std::unique_ptr<link::Carrier>(std::uint32_t self, std::uint32_t count)>;

/// Steps per second; 0 if it failed.
double bare_exchange(const MakeCarrier& make, std::uint32_t members, std::uint64_t steps);
/// The same over TCP sockets as the kernel has them, and over futexes in shared memory.
double bare_tcp_exchange(std::uint32_t members, std::uint64_t steps);
double bare_memory_exchange(std::uint32_t members, std::uint64_t steps);

}  // namespace isochron::bench
