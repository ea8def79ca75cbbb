#pragma once
// A channel is the buffer of one flow: one writer, any number of readers, every message in order to each of them.
//
//            consumed by reader 1      written
//                    v                    v
//      ... | m3 | m4 | m5 | m6 | m7 | m8 |        capacity = how far `written` may be ahead of the slowest reader
//                              ^
//                     consumed by reader 0
//
// There is one slot more than the capacity, so that the message a reader consumed last stays where it is until it
// consumes the next: "the latest value" needs no copy.
//
// `bound` is the promise of an event flow: no further message is earlier. The writer stores it after the messages
// before it, and readers load it before they look for messages, so that a reader that sees the promise has seen the
// messages too. The other kinds need none: each message says when the next one comes.
//
// Threads: one writer, each reader one thread; memory may be shared between processes.
// Cost:    never blocks, never allocates. memory_of() says what one channel takes.

#include <atomic>
#include <cstdint>

#include "core/time.hpp"
#include "flow/arena.hpp"
#include "flow/graph.hpp"
#include "flow/payload.hpp"

namespace isochron::flow {

inline constexpr std::size_t cache_line = 64;

struct Slot {
  SimTime time;
  SimTime next;
  void* payload = nullptr;
  std::uint32_t size = 0;  // of the encoded payload, where it is encoded
};

/// One sink's end. `waits` asks the writer for a wake-up.
struct alignas(cache_line) Reader {
  std::atomic<std::uint64_t> consumed{0};
  std::atomic<std::uint32_t> waits{0};
  std::uint32_t node = 0;  // whom to wake
  std::uint32_t input = 0;
};

struct alignas(cache_line) Channel {
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::int64_t> bound{0};
  std::atomic<std::uint32_t> source_waits{0};  // the source asks for a wake-up when room appears
  std::uint32_t capacity = 1;
  std::uint32_t reader_count = 0;
  std::uint32_t source = 0;  // whom to wake
  Slot* slots = nullptr;
  Reader* readers = nullptr;
  std::uint64_t digest = 0;  // of everything sent; the writer's
  // Second line: set up once.
  std::uint32_t flow = 0;
  FlowKind kind = FlowKind::predictive;
  bool encoded = false;    // payloads lie in the slots as bytes
  bool exchanges = false;  // payloads are heap blocks of their own: a held event changes places with a slot's
  const PayloadType* type = nullptr;
  std::size_t payload_room = 0;  // bytes of each slot's payload

  [[nodiscard]] std::uint32_t slot_count() const { return capacity + 1; }
  [[nodiscard]] std::uint64_t least_consumed() const {
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t i = 0; i < reader_count; ++i) {
      const std::uint64_t consumed = readers[i].consumed.load(std::memory_order_seq_cst);
      if (consumed < least) least = consumed;
    }
    return reader_count == 0 ? written.load(std::memory_order_relaxed) : least;
  }
};

struct ChannelPlan {
  std::uint32_t flow = 0;
  std::uint32_t source = 0;
  std::uint32_t readers = 0;
  const OutputInfo* output = nullptr;
  SimTime start;
  std::size_t encoded_room = 0;  // 0 = payloads are objects in place
};

/// Lays a channel out in the arena, its payloads constructed.
Channel* make_channel(Arena& arena, const ChannelPlan& plan);
/// Ends the life of its payloads; the arena keeps the memory.
void clear_channel(Channel& channel);

/// Bytes that a channel with this plan takes: 128 + 64·readers + (capacity + 1)·(32 + payload), each piece rounded up
/// to its alignment.
std::size_t memory_of(const ChannelPlan& plan);

}  // namespace isochron::flow
