#include "journal/producer.hpp"

namespace isochron {

Producer::Producer(std::string name, std::size_t ring_bytes, WhenFull when_full, std::size_t channels_max, Drain* drain)
    : name_(std::move(name)),
      ring_(ring_bytes),
      when_full_(when_full),
      drain_(drain),
      dropped_(std::make_unique<std::atomic<std::uint64_t>[]>(channels_max)) {}

bool Producer::write_bytes(ChannelId channel, SimTime time, std::span<const std::byte> bytes) {
  const std::span<std::byte> room = reserve(channel, time, bytes.size());
  if (room.data() == nullptr) return false;
  if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
  commit();
  return true;
}

std::span<std::byte> Producer::reserve_in_full_ring(ChannelId channel, SimTime time, std::size_t size) {
  // What is too large for the ring would be waited for in vain.
  while (when_full_ == WhenFull::block && ring_.can_ever_hold(size)) {
    if (drain_ != nullptr) {
      drain_->drain();
    } else {
      ring_.wait_for_room();
    }
    const std::span<std::byte> room = ring_.reserve(channel.number, time, size);
    if (room.data() != nullptr) return room;
  }
  count_dropped(channel);
  return {};
}

void Producer::count_dropped(ChannelId channel) {
  // One thread at a time counts: no read-modify-write is needed, only that others may look.
  auto& count = dropped_[channel.number];
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  dropped_total_.store(dropped() + 1, std::memory_order_relaxed);
}

}  // namespace isochron
