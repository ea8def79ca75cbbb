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

namespace isochron::protocol {

inline constexpr std::uint32_t magic = 0x49534f43;  // "ISOC"
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t links_max = 32;
inline constexpr std::size_t payload_max = 512 * 1024;
inline constexpr std::size_t ring_size = 4096;
inline constexpr std::size_t name_max = 120;
inline constexpr const char* environment = "ISOCHRON";
inline constexpr const char* run_environment = "ISOCHRON_RUN";

enum class Ask : std::uint32_t {
  none,
  attach,   // number = protocol version, index = kind of program (Attached)
  wait,     // number > 0: the next release of that period; 0: of the declared one; -1: until `time`
  bind,     // name, type: answers index, type, number = size, at most where it varies
  read,     // index: answers payload; of a variable that varies also its stamp, or `nothing`
  write,    // index, payload
  send,     // name = to, type, payload
  receive,  // name = from ("" = anybody), type, time = wait until then at most; answers payload, stamp, name = from
  clock,    // the time; fills or empties the ring
  log,      // payload = text
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
enum class Attached : std::uint32_t { library, interposed };
enum class ClockMode : std::uint32_t { held, flowing, asked, replayed };

struct Exchange {
  std::uint32_t ask = 0;
  std::uint32_t verdict = 0;
  std::uint32_t index = 0;
  std::uint32_t size = 0;    // bytes of payload
  std::int64_t time = 0;     // asked: until; answered: now
  std::int64_t number = 0;   // see Ask
  std::int64_t stamp = 0;    // of a message: when it was sent; of a reading that varies: when it was taken
  char name[name_max] = {};  // ends with 0
  char type[name_max] = {};
};

struct alignas(4096) Link {
  std::atomic<std::uint32_t> owner{0};  // thread id; 0 = free
  std::atomic<std::uint32_t> asked{0};
  std::atomic<std::uint32_t> answered{0};  // the program sleeps on this
  std::atomic<std::uint32_t> sleeping{0};
  Exchange exchange;
  // Clock values, one writer and one reader: the program writes (flowing) or reads (replayed).
  alignas(64) std::atomic<std::uint32_t> ring_head{0};
  alignas(64) std::atomic<std::uint32_t> ring_tail{0};
  std::int64_t ring[ring_size];
  alignas(4096) unsigned char payload[payload_max];
};

/// Written by the coordinator while the program does not run; `turn` is odd meanwhile and even otherwise.
struct alignas(64) ClockFace {
  std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint32_t> mode{0};
  std::atomic<std::int64_t> base{0};
  std::atomic<std::int64_t> limit{0};
  std::atomic<std::uint64_t> counter{0};  // time stamp counter at `base`
  std::atomic<std::uint64_t> scale{0};    // simulated ns for each count, times 2^32
  std::atomic<std::int64_t> newest{0};    // the latest value anybody read: the clock does not go back
  std::int64_t epoch = 0;                 // what CLOCK_REALTIME shows at simulated zero
};

struct Pages {
  std::uint32_t magic_number = magic;
  std::uint32_t version_number = version;
  std::uint64_t size = 0;
  std::atomic<std::uint32_t> over{0};      // the run has ended
  std::atomic<std::uint32_t> owner{0};     // process id: only what the coordinator started talks, not its children
  std::atomic<std::uint32_t> patience{0};  // looks at an answer before sleeping; 0 where the program's CPU time counts
  std::atomic<std::uint32_t> links_used{0};  // no link from here on was ever taken
  ClockFace clock;
  Link links[links_max];
};

struct Bell {
  std::atomic<std::uint32_t> rings{0};
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

}  // namespace isochron::protocol
