#pragma once
// What a program and its coordinator share: one memory page set for each program, in which every thread of it that
// talks has a link, and one doorbell for all. A link carries one request at a time and its answer.
//
//   program                                   coordinator
//   fill exchange, asked = n        ──►       copies the exchange, does it in the order of simulated time
//   ring the doorbell, sleep on answered      fill exchange, answered = n, wake the sleeper if there is one
//
// The memory is an anonymous file whose descriptors the program inherits; the environment tells their numbers:
// ISOCHRON=shm:PAGES,BELL. The layout has fixed sizes and no pointer, so that a program compiled elsewhere or in
// another language agrees. The coordinator trusts nothing in it: it copies a request before looking at it.
//
// The clock of a program is in its pages too. Reading it must not cost a switch:
//
//   held     it stands at `base`                                   zero, and modelled without a cost for looking
//   flowing  base + time executed since, at most `limit`           measured; every value read is left in the ring
//   asked    each look is a request and costs what the model says  modelled, for programs that watch the clock
//   replayed the values are taken from the ring                    recorded
//
// Threads: asked and the exchange belong to the program's thread until asked is stored, then to the coordinator until
//          answered is stored.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/program_board.hpp"
#include "protocol/program_items.hpp"
#include "protocol/system_call.hpp"
#include "protocol/versions.h"

namespace isochron::protocol {

inline constexpr std::uint32_t magic = 0x49534f43;  // "ISOC"
inline constexpr std::uint32_t version = ISOCHRON_PROGRAM_VERSION;
// What nobody uses costs addresses, no memory. Of those 32-bit processors have few, and no host runs there.
inline constexpr std::size_t links_max = sizeof(void*) >= 8 ? 1024 : 16;
inline constexpr std::size_t payload_max = 8 << 20;  // a picture of 1920 x 1080, or 250,000 points of a scan
inline constexpr std::size_t ring_size = 32768;
inline constexpr std::size_t order_size = 65536;
inline constexpr std::size_t family_max = 256;
inline constexpr std::size_t input_max = 1 << 20;
inline constexpr std::size_t name_max = 120;
inline constexpr std::size_t urgencies_max = 256;
inline constexpr const char* environment = "ISOCHRON";
inline constexpr const char* run_environment = "ISOCHRON_RUN";
inline constexpr const char* descriptors_environment = "ISOCHRON_FDS";  // "/proc/PID/fd": where they are open for sure

enum class Ask : std::uint32_t {
  none,
  attach,   // number = protocol version, index = kind of program (Attached)
  wait,     // number > 0: the next release of that period; 0: of the declared one; -1: until `time`. index = 1: threads
            // have the baton in turn; size = how many could go on now, stamp = how many answers they went on by
  bind,     // name, type: answers index, type, number = size, at most where it varies
  read,     // index: answers payload; of a variable that varies also its stamp, or `nothing`
            // index = several: payload names them (program_items.hpp); answers them all, of one time
  write,    // index, payload; index = several: all or nothing
  send,     // name = to, type, payload
  receive,  // name = from ("" = anybody), type, time = wait until then at most; answers payload, stamp, name = from
  clock,    // the time; fills or empties the ring
  log,      // payload = text
  idle,     // no thread of it can go on by itself; stamp as in wait. Nobody waits for the answer
  call,     // of the simulated system (system_call.hpp), in the link's `call`; index, size and stamp as in wait
};
enum class Verdict : std::uint32_t {
  ok,
  nothing,       // no message
  ended,         // the run is over
  unknown_name,  // the message is in the payload, here and below
  wrong_type,
  too_large,
  refused,
  wrong_version,
};
/// Of an interpreter it is known that it looks at the clock while it loads a program.
enum class Attached : std::uint32_t { library, interposed, interpreter };
enum class ClockMode : std::uint32_t { held, flowing, asked, replayed };

struct Exchange {
  std::uint32_t ask = 0;
  std::uint32_t verdict = 0;
  std::uint32_t index = 0;
  std::uint32_t size = 0;    // bytes of payload
  std::int64_t time = 0;     // asked: until; answered: now
  std::int64_t number = 0;   // see Ask
  std::int64_t stamp = 0;    // of a message: when it was sent; of a reading that varies: when it was taken
                             // asked on the wall clock: when, by the program's own clock
  char name[name_max] = {};  // ends with 0
  char type[name_max] = {};
};

struct alignas(4096) Link {
  std::atomic<std::uint32_t> owner{0};  // thread id; 0 = free
  std::atomic<std::uint32_t> asked{0};
  std::atomic<std::uint32_t> answered{0};  // the program sleeps on this
  std::atomic<std::uint32_t> sleeping{0};
  std::atomic<std::uint32_t> passed{0};  // of a wait with the baton: others may run; the program sleeps on this
  std::atomic<std::uint32_t> ticket{0};  // requests are taken in the order in which they were made
  Exchange exchange;
  Call call;
  std::atomic<std::uint64_t> signals{0};  // that the thread sends to itself when it is answered, a bit each
  // Clock values, one writer and one reader: the program writes (flowing) or reads (replayed). Bytes, as
  // protocol/clock_values.hpp packs them.
  alignas(64) std::atomic<std::uint32_t> ring_head{0};
  std::int64_t ring_last{0};  // the program's: the value before
  alignas(64) std::atomic<std::uint32_t> ring_tail{0};
  unsigned char ring[ring_size];
  alignas(4096) unsigned char payload[payload_max];
};

/// What a program of a stack sees that reads the processor's time stamp counter by itself.
enum class CounterUse : std::uint32_t { host, simulated, refused };

/// Written by the coordinator while the program does not run; `turn` is odd meanwhile and even otherwise.
struct alignas(64) ClockFace {
  std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint32_t> mode{0};
  std::atomic<std::int64_t> base{0};
  std::atomic<std::int64_t> limit{0};
  std::atomic<std::uint64_t> counter{0};  // time stamp counter at `base`
  std::atomic<std::uint64_t> scale{0};    // simulated ns for each count, times 2^32
  std::atomic<std::int64_t> newest{0};    // the latest value anybody read: the clock does not go back
  std::atomic<std::int64_t> waited{0};    // of `base`: what the program has not executed; the rest is its CPU time
  std::atomic<std::int64_t> newest_cpu{0};
  std::atomic<std::uint32_t> first_look{0};  // the next look is a request: the program has started up
  std::int64_t epoch = 0;                    // what CLOCK_REALTIME shows at simulated zero
  std::uint64_t rate = 0;                    // simulated ns for each ns of CPU here, times 2^32
  CounterUse counter_use = CounterUse::host;
  std::atomic<std::int64_t> wall{0};  // CLOCK_MONOTONIC at `base`, where the program may not read the counter
};

/// Processes that came from the program and take no part: what it forked, and what it started in a child. Each enters
/// itself when it begins, and once, also if it begins again as another program.
struct Family {
  std::atomic<std::uint32_t> members[family_max];  // process ids; 0 = free
  std::atomic<std::uint32_t> more{0};              // that found no place
};

/// A line of standard input and when it comes; its text follows, then the next line.
struct InputLine {
  std::int64_t at = 0;
  std::uint32_t size = 0;
  std::uint32_t unused = 0;
};

/// The order in which threads of a program met (client/interpose/order.hpp): pairs of a thread's number and how many
/// operations it made, packed as clock values are. 0 operations: here it asked for room.
struct OrderLog {
  std::atomic<std::uint32_t> head{0};
  std::atomic<std::uint32_t> tail{0};
  std::atomic<std::uint32_t> open_thread{0};  // the run that goes on
  std::atomic<std::uint32_t> open_count{0};
  unsigned char bytes[order_size];
};

/// What a program asked for one of its threads with sched_setscheduler, nice and the like.
struct Urgency {
  std::atomic<std::uint32_t> thread{0};  // 0 = free
  std::atomic<std::int32_t> rank{0};     // > 0: real-time priority; 0: ordinary; < 0: nice or idle
};

struct Pages {
  std::uint32_t magic_number = magic;
  std::uint32_t version_number = version;
  std::uint64_t size = 0;
  std::atomic<std::uint32_t> over{0};      // the run has ended
  std::atomic<std::uint32_t> owner{0};     // process id: only what the coordinator started talks, not its children
  std::atomic<std::uint32_t> patience{0};  // looks at an answer before sleeping; 0 where the program's CPU time counts
  std::atomic<std::uint32_t> links_used{0};     // no link from here on was ever taken
  std::atomic<std::uint32_t> asks{0};           // tickets given out
  std::atomic<std::uint32_t> links_missing{0};  // threads that found no link
  std::atomic<std::uint32_t> urgencies_changed{0};
  std::uint32_t cores{1};                  // of the robot's computer
  std::uint64_t seed = 0;                  // of what a program that knows nothing of us draws from the kernel
  std::uint32_t input_size = 0;            // bytes of `input`
  std::atomic<std::uint32_t> input_at{0};  // up to here it was handed over
  std::uint32_t stack = 0;                 // 1: its children, pipes and sockets are the simulated system's
  std::uint32_t process = 0;               // its number there
  std::uint32_t prints = 0;                // 1: what it prints has its place among what its relatives print
  std::atomic<std::uint64_t> handled{0};   // those that it has functions for
  std::atomic<std::uint64_t> ignored{0};
  char host[64] = {};  // name of its computer
  ClockFace clock;
  Family family;
  Link links[links_max];
  Urgency urgencies[urgencies_max];
  OrderLog order;
  unsigned char input[input_max];
  std::atomic<Descriptor> descriptors[descriptors_max];
  alignas(4096) Board board;
  Notes notes[notes_max];  // by link
};

/// All of the pages but the links: what a process maps that takes no part.
inline constexpr std::size_t head_size = 4096;
static_assert(offsetof(Pages, links) == head_size);

struct Bell {
  std::atomic<std::uint32_t> rings{0};
};
inline constexpr std::size_t bell_size = 4096;

static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

}  // namespace isochron::protocol
