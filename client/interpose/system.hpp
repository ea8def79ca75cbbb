#pragma once
// How interposed functions ask the simulated system (programs/system/system.hpp): descriptors that it keeps, and the
// one way to make a call.
//
// Threads: any of the program.

#include <errno.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "client/interpose/clock.hpp"
#include "protocol/system_call.hpp"

namespace isochron::interpose {

using protocol::Call;
using protocol::SystemCall;

/// Whether this process is of a stack: its children, pipes and sockets are simulated.
bool in_stack();
/// What a descriptor is; what is beyond the table is the kernel's.
protocol::Descriptor kind_of(int descriptor);
void set_kind(int descriptor, protocol::Descriptor kind);
inline bool is_simulated(int descriptor) { return kind_of(descriptor) == protocol::Descriptor::simulated; }

/// Makes a call; `out` goes along, what comes back goes to `in`. The result, or an errno, negative. Signals that came
/// meanwhile were handled when it returns.
std::int64_t ask_system(Call& call, const void* out = nullptr, std::size_t out_size = 0, void* in = nullptr,
                        std::size_t room = 0);
/// The same, made again where a signal interrupted it whose handler wants that.
std::int64_t ask_again(Call& call, const void* out = nullptr, std::size_t out_size = 0, void* in = nullptr,
                       std::size_t room = 0);
/// As libc returns it.
template <class T = int>
T returned(std::int64_t result) {
  if (result >= 0) return static_cast<T>(result);
  errno = static_cast<int>(-result);
  return static_cast<T>(-1);
}
inline Call call_of(SystemCall kind, int descriptor = -1, int second = -1) {
  Call call;
  call.call = static_cast<std::uint32_t>(kind);
  call.descriptor = descriptor;
  call.second = second;
  return call;
}
/// Does not wait, where the descriptor or the flags say so; otherwise until the limit.
void set_waiting(Call& call, int flags, std::int64_t limit);

/// Tells the system of a descriptor that stands for a new file; the descriptor is closed where that fails.
int opened_as(Call call, int descriptor);
/// Sends those that the system has for this thread, a bit each. Returns whether all of them want their call made again.
bool take_signals(std::uint64_t bits);
/// The address of a call, both ways.
void put_address(Call& call, const void* address, std::size_t size);
void get_address(const Call& call, void* address, unsigned* size);

/// After a fork that is followed; from the child.
void become_child(long pages);
/// For a new program in this process: environment that it must have. `entries` end with null.
const char* const* environment_to_keep();

ssize_t simulated_read(int descriptor, void* data, std::size_t size, int flags, Call* answer = nullptr);
ssize_t simulated_write(int descriptor, const void* data, std::size_t size, int flags, const void* to = nullptr,
                        std::size_t to_size = 0);
ssize_t print(const void* data, std::size_t size);
/// The time limit that a socket carries itself; forever = none.
std::int64_t receive_limit(int descriptor);
std::int64_t send_limit(int descriptor);

/// What the kernel does, without libc, whose functions lead here.
ssize_t plain_read(int descriptor, void* data, std::size_t size);
ssize_t plain_write(int descriptor, const void* data, std::size_t size);
/// libc's own calls inside libc lead to our function, too.
void lead_here(const char* name, void* ours);

/// Signals that the program has functions for; whether it wants interrupted calls again.
bool restarts_calls(int signal);
void forget_handlers();
bool is_handled(int signal);
std::uint32_t children_told();
/// Whether a file is there to be executed; `search`: as execvp finds it.
bool may_be_executed(const char* file, bool search);
/// It is closed: so is what it stood for.
void closed_descriptor(int descriptor);

}  // namespace isochron::interpose
