#pragma once
// How a node in a process of its own tells its parent what it sent: a ring of bytes in shared memory, one for each
// process, which the parent empties into its observer. The node never waits for the parent's turn, only for room.
//
//     record = SentHead, then the payload: as it lies in memory if it is flat, else as CDR; filled up to a multiple of
//              16. A payload that is longer than a quarter of the ring comes in pieces; all but the last say `more`.
//
// Why it is right without locks: tail and head are counts of bytes that only grow, and each has one writer. The child
// stores tail with release after the bytes are there and the parent loads it with acquire before it reads them; the
// parent stores head with release after it has read and the child loads it with acquire before it writes there again.
//
// Promises: records come out in order, whole, once; those of a child that died too, except one that was half written.
//           Once the run is ended a record for which there is no room is not written.
// Threads:  one writer (the child), one reader (the parent).
// Cost:     sent() never allocates for flat types; it blocks while the ring is full, and `in_step` until it is empty.

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/clock.hpp"
#include "core/time.hpp"
#include "flow/arena.hpp"
#include "flow/sent_observer.hpp"

namespace isochron::flow {

struct SentHead {
  std::uint32_t size = 0;  // of the piece that follows
  std::uint32_t flow = 0;
  std::int64_t time = 0;
  std::int64_t next = 0;
  std::int64_t when = 0;  // on the wall clock
  std::int64_t unused = 0;
  std::uint32_t more = 0;
  std::uint32_t skip = 0;  // not 0: nothing but bytes to skip up to the end of the ring
};

struct alignas(64) SentRing {
  std::atomic<std::uint64_t> tail{0};
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::atomic<std::uint32_t> room{0};   // moves when there is more room
  std::atomic<std::uint32_t> waits{0};  // the child sleeps on it
  std::size_t capacity = 0;             // a power of two
  std::byte* bytes = nullptr;
};

SentRing* make_sent_ring(Arena& arena, std::size_t capacity);

/// The child's side.
class SentWriter final : public SentObserver {
 public:
  /// With `in_step` the node goes on only when the parent has taken what it sent: for runs that are held to a pace.
  SentWriter(SentRing& ring, bool in_step, const std::atomic<std::uint32_t>& ended, Clock& clock)
      : ring_(ring), in_step_(in_step), ended_(ended), clock_(clock) {}
  void sent(const Sent& message) override;

 private:
  void put(const SentHead& head, std::span<const std::byte> piece);
  bool await(std::uint64_t head_at_least);

  SentRing& ring_;
  bool in_step_;
  const std::atomic<std::uint32_t>& ended_;  // not 0: the run is over, nobody waits any more
  Clock& clock_;
  std::uint64_t tail_ = 0;
  std::uint64_t head_seen_ = 0;
  std::vector<std::byte> encoded_;
};

/// The parent's side.
class SentReader {
 public:
  explicit SentReader(SentRing& ring) : ring_(ring) {}
  ~SentReader();
  SentReader(SentReader&&) noexcept;
  SentReader(const SentReader&) = delete;
  SentReader& operator=(const SentReader&) = delete;

  /// Hands on what is there, at most some hundred messages; false: nothing was. `types` are those of the flows.
  bool take(SentObserver& observer, std::span<const PayloadType* const> types);

 private:
  void hand_on(SentObserver& observer, const SentHead& head, std::span<const std::byte> payload,
               const PayloadType& type);
  void release();

  SentRing& ring_;
  std::uint64_t head_ = 0;
  std::vector<std::byte> pieces_;
  std::vector<std::pair<const PayloadType*, void*>> values_;  // one of each type that is not flat
};

}  // namespace isochron::flow
