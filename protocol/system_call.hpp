#pragma once
// What a process of a stack asks of the simulated system: its pipes, sockets, children and signals are kept by the
// coordinator, where all of them pass in the order of simulated time (docs/stacks.md). A call lies in its link beside
// the exchange; bytes go through the link's payload, both ways.
//
// Descriptors are the process's own numbers. A real descriptor of the same kind stands for each of them, so that what
// nobody interposes (fstat, isatty, O_NONBLOCK, close-on-exec) is answered by the kernel.
//
// Threads: the link's owner until it asks, then the coordinator's. The coordinator trusts nothing in it.

#include <cstdint>

namespace isochron::protocol {

enum class SystemCall : std::uint32_t {
  none,
  pipe,         // descriptor: reads, second: writes
  socket,       // a = family, b = type without flags, c = protocol
  socket_pair,  // descriptor, second; a, b, c as above
  event,        // an eventfd; a = count, b = 1: a semaphore
  timer,        // a timerfd
  timer_set,    // a = first, b = interval, by simulated time; first < 0: disarm. Answers the old ones
  timer_get,
  poll_set,         // an epoll
  poll_add,         // descriptor = epoll, second; a = events, b = data, flags = 1 add, 2 change, 3 remove
  poll_wait,        // descriptor = epoll; a = most; until. Payload: PollEvents
  poll,             // payload: PollOne for each; until. Answers how many, and them
  bind,             // address
  listen,           // a = backlog
  connect,          // address
  accept,           // second = the descriptor that stands for the connection
  read,             // a = room; flags; until. Answers bytes, address, and in `second` message flags
  write,            // payload; flags; address where it has one; until
  shutdown,         // a = how
  close,            // descriptor
  duplicate,        // descriptor, second
  name,             // a = 0 its own, 1 the peer's: answers address
  option,           // a = level, b = name, c = value: those that the system itself must know
  error,            // SO_ERROR: answers and clears it
  available,        // FIONREAD
  look_up,          // payload = a host's name: answers address
  fork,             // answers a = descriptor of the child's pages in the coordinator, b = its process number
  forked,           // a = real process id, or -1: it failed
  wait_child,       // a = process number, -1 = any; flags = options; until. Answers it, a = its real id
  kill,             // a = process number, < -1: group, b = signal
  wait_signal,      // until a signal comes
  parent,           // answers the parent's process number
  print,            // payload: on the program's own output
  semaphore,        // a = count; payload = its name, or nothing; flags = as of sem_open. Answers its number
  semaphore_take,   // a = number; until
  semaphore_give,   // a = number
  semaphore_count,  // a = number
  refused,          // payload: what cannot be followed, as a sentence
};

/// Flags of read and write beside those of recv and send, of which these many bits are passed on.
inline constexpr std::uint32_t does_not_wait = 1u << 30;
inline constexpr std::uint32_t of_socket = 1u << 29;  // recv and send: of nothing else
inline constexpr std::uint32_t message_flags = (1u << 20) - 1;

struct Call {
  std::uint32_t call = 0;
  std::int32_t descriptor = -1;
  std::int32_t second = -1;
  std::uint32_t flags = 0;
  std::int64_t a = 0, b = 0, c = 0;
  std::int64_t until = INT64_MAX;
  std::int64_t result = 0;  // or an errno, negative
  std::uint32_t size = 0;   // bytes of payload
  std::uint32_t address_size = 0;
  unsigned char address[112] = {};
};

struct PollOne {
  std::int32_t descriptor = -1;
  std::int16_t events = 0;
  std::int16_t found = 0;
};
struct PollEvent {
  std::uint32_t events = 0;
  std::uint32_t unused = 0;
  std::uint64_t data = 0;
};

/// What a descriptor of a process is.
enum class Descriptor : unsigned char { system, simulated, output };
inline constexpr int descriptors_max = 4096;
inline constexpr std::uint32_t first_process = 1000;  // number of a run's first process

}  // namespace isochron::protocol
