#pragma once
// A Producer is a thread's way into the journal: a ring of its own, emptied by the journal's writer thread. Recording
// must never disturb what is recorded, so a full ring drops the record and counts it; runs that must repeat choose to
// wait instead (WhenFull::block).
//
//     Producer& record = journal.producer("planner");
//     record.write(pose_channel, now, pose);                       // a message, encoded in place
//     auto room = record.reserve(raw_channel, now, 64'000);        // or fill the bytes oneself
//     if (room.data() != nullptr) { fill(room); record.commit(); }
//
// Promises: with WhenFull::drop no call ever blocks. accepted + dropped = what was asked for, for each channel.
// Requires: commit() after each reserve() that gave room. Simulated times are not negative. Channels that count in the
//           digest are written by one producer each, since nobody could say in which order two wrote.
// Threads:  one at a time (hand it over with a lock or a join); counts any.
// Cost:     no allocation, no system call, no lock.

#include <atomic>
#include <memory>
#include <string>

#include "core/cdr.hpp"
#include "journal/record_ring.hpp"

namespace isochron {

/// Names a channel of one journal.
struct ChannelId {
  std::uint16_t number = 0;
  friend bool operator==(ChannelId, ChannelId) = default;
};

enum class WhenFull { drop, block };

class Producer {
 public:
  /// What empties the ring when nobody else does: a journal without a thread of its own.
  class Drain {
   public:
    virtual ~Drain() = default;
    virtual void drain() = 0;
  };
  /// `drain` null: the ring is emptied by another thread.
  Producer(std::string name, std::size_t ring_bytes, WhenFull when_full, std::size_t channels_max, Drain* drain);

  /// False: dropped, and counted.
  template <Message T>
  bool write(ChannelId channel, SimTime time, const T& message) {
    const std::span<std::byte> room = reserve(channel, time, cdr_size(message));
    if (room.data() == nullptr) return false;
    cdr_write(message, room);
    commit();
    return true;
  }
  bool write_bytes(ChannelId channel, SimTime time, std::span<const std::byte> bytes);

  /// Room for one record in the ring, to be filled and committed; data() == nullptr: dropped, and counted.
  std::span<std::byte> reserve(ChannelId channel, SimTime time, std::size_t size) {
    ENSURE(time.ns() >= 0, "a record from before the start of the run");
    const std::span<std::byte> room = ring_.reserve(channel.number, time, size);
    return room.data() != nullptr ? room : reserve_in_full_ring(channel, time, size);
  }
  void commit() { ring_.commit(); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_total_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped(ChannelId channel) const {
    return dropped_[channel.number].load(std::memory_order_relaxed);
  }
  /// For the journal alone.
  RecordRing& ring() { return ring_; }

 private:
  std::span<std::byte> reserve_in_full_ring(ChannelId channel, SimTime time, std::size_t size);
  void count_dropped(ChannelId channel);

  std::string name_;
  RecordRing ring_;
  WhenFull when_full_;
  Drain* drain_;
  std::atomic<std::uint64_t> dropped_total_{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> dropped_;  // by channel
};

}  // namespace isochron
