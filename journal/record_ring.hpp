#pragma once
// A ring of records of any size between one producer and the journal's writer thread. The producer gets the place of
// its record in the ring and fills it there; nothing is copied twice, and nothing is allocated.
//
//      0                                                                  capacity
//      |  …free… | record | record | record | …free…            | skip    |
//                ^ head (writer thread)     ^ tail (producer)     a record never wraps: if it does not fit before
//                                                                 the end, the rest is skipped
//     record = size u32, channel u32, time i64, 4 bytes unused, payload, filled up to a multiple of 8
//
// The payload starts 4 bytes after a multiple of 8, so that behind the 4 bytes of a CDR header doubles lie aligned.
//
// Why it is right without locks: head and tail are counts of bytes that only grow, and each has one writer. The
// producer writes only into [tail, head + capacity), the writer thread reads only [head, tail). The producer stores
// tail with release after the record's bytes are there; the reader loads it with acquire before it reads them, so it
// sees them whole. The reader stores head with release after it has read; the producer loads it with acquire before it
// writes there again, so it never overwrites what is still read. Each side keeps the last value that it saw of the
// other's count: that value is too small at worst, which only makes it look again.
//
// Promises: records come out in order, whole, once.
// Requires: reserve() then commit(); a record takes at most half of the ring (then it fits as soon as the ring is
// empty). Threads:  one producer, one consumer. Cost:     never allocates after construction; wait_for_room() is the
// only call that blocks.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "core/ensure.hpp"
#include "core/time.hpp"

namespace isochron {

class RecordRing {
 public:
  explicit RecordRing(std::size_t bytes)
      : capacity_(std::bit_ceil(bytes < least ? least : bytes)),
        storage_(new (std::align_val_t{64}) std::byte[capacity_]) {
    std::memset(storage_.get(), 0, capacity_);  // so that no page is missing later
  }

  struct Record {
    std::uint32_t channel = 0;
    SimTime time;
    std::span<const std::byte> payload;
  };

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool can_ever_hold(std::size_t size) const { return size <= capacity_ / 2 - head_size; }
  /// Bytes in use, about. Threads: any.
  [[nodiscard]] std::size_t used() const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail < head ? 0 : static_cast<std::size_t>(tail - head);
  }

  // ---- the producer's side ----

  /// Where the payload goes; data() == nullptr: no room now.
  std::span<std::byte> reserve(std::uint32_t channel, SimTime time, std::size_t size) {
    const std::size_t stride = stride_of(size);
    const std::size_t place = tail_mine_ & (capacity_ - 1);
    const std::size_t to_end = capacity_ - place;
    const std::size_t skip = stride > to_end ? to_end : 0;
    if (!room_for(skip + stride)) return {};
    if (skip != 0) put(place, skip_mark);
    std::byte* record = storage_.get() + (skip != 0 ? 0 : place);
    const auto size32 = static_cast<std::uint32_t>(size);
    const std::int64_t ns = time.ns();
    std::memcpy(record, &size32, 4);
    std::memcpy(record + 4, &channel, 4);
    std::memcpy(record + 8, &ns, 8);
    reserved_ = skip + stride;
    return {record + head_size, size};
  }

  /// Hands the reserved record over.
  void commit() {
    tail_mine_ += reserved_;
    reserved_ = 0;
    tail_.store(tail_mine_, std::memory_order_release);
  }

  /// Blocks until the consumer has released something since the last look.
  void wait_for_room() { head_.wait(head_seen_, std::memory_order_acquire); }

  // ---- the consumer's side ----

  /// The oldest record, if there is one; it stays in place until release().
  bool peek(Record& record) {
    if (head_mine_ == tail_seen_) tail_seen_ = tail_.load(std::memory_order_acquire);
    if (head_mine_ == tail_seen_) return false;
    std::size_t place = head_mine_ & (capacity_ - 1);
    if (get(place) == skip_mark) {
      head_mine_ += capacity_ - place;
      place = 0;
    }
    const std::byte* at = storage_.get() + place;
    std::int64_t ns = 0;
    std::memcpy(&record.channel, at + 4, 4);
    std::memcpy(&ns, at + 8, 8);
    record.time = SimTime::from_ns(ns);
    record.payload = {at + head_size, get(place)};
    return true;
  }
  /// Goes on to the next; its bytes stay until release().
  void pop(const Record& record) { head_mine_ += stride_of(record.payload.size()); }
  /// Gives the room of all popped records back.
  void release() { head_.store(head_mine_, std::memory_order_release); }
  void wake_producer() { head_.notify_one(); }

 private:
  static constexpr std::size_t least = 4096;
  static constexpr std::size_t head_size = 20;
  static constexpr std::uint32_t skip_mark = 0xFFFFFFFF;

  static std::size_t stride_of(std::size_t size) { return (head_size + size + 7) & ~std::size_t{7}; }
  void put(std::size_t place, std::uint32_t value) { std::memcpy(storage_.get() + place, &value, sizeof value); }
  [[nodiscard]] std::uint32_t get(std::size_t place) const {
    std::uint32_t value = 0;
    std::memcpy(&value, storage_.get() + place, sizeof value);
    return value;
  }
  bool room_for(std::size_t bytes) {
    if (tail_mine_ + bytes - head_seen_ <= capacity_) return true;
    head_seen_ = head_.load(std::memory_order_acquire);
    return tail_mine_ + bytes - head_seen_ <= capacity_;
  }

  struct FreeAligned {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
  };
  std::size_t capacity_;
  std::unique_ptr<std::byte[], FreeAligned> storage_;

  // One cache line for each thread's own counts, one for each that they share.
  alignas(64) std::uint64_t tail_mine_ = 0;
  std::uint64_t head_seen_ = 0;
  std::size_t reserved_ = 0;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::uint64_t head_mine_ = 0;
  std::uint64_t tail_seen_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

}  // namespace isochron
