#include "view/live_tap.hpp"

namespace isochron::view {

void LiveTap::defined(std::size_t channel, const ChannelDefinition& definition) {
  if (channel >= channels_max) return;
  const std::lock_guard guard(lock_);
  channels_.push_back(definition);
  kept_.emplace_back();
  followers_.push_back(0);
  if (keep_all_ || definition.topic == "/scene" || definition.topic == "/tf") keep(channel);
  count_.store(channels_.size(), std::memory_order_release);
}

void LiveTap::recorded(std::size_t channel, SimTime time, std::span<const std::byte> payload) {
  if (channel >= channels_max) return;
  newest_[channel].ns.store(time.ns(), std::memory_order_relaxed);
  const std::uint8_t wanted = wanted_[channel].load(std::memory_order_relaxed);
  if (wanted == 0) return;
  const auto* bytes = reinterpret_cast<const char*>(payload.data());
  const std::lock_guard guard(lock_);
  if ((wanted & keep_bit) != 0) {
    kept_[channel].channel = channel;
    kept_[channel].time = time;
    kept_[channel].payload.assign(bytes, payload.size());
  }
  if ((wanted & follow_bit) == 0) return;
  queue_.push_back({channel, time, std::string(bytes, payload.size())});
  queued_ += payload.size();
  while (queued_ > queue_bytes && queue_.size() > 1) {
    queued_ -= queue_.front().payload.size();
    queue_.pop_front();
    forgotten_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LiveTap::keep_all() {
  const std::lock_guard guard(lock_);
  if (keep_all_) return;
  keep_all_ = true;
  for (std::size_t i = 0; i < channels_.size(); ++i) keep(i);
}

std::vector<ChannelDefinition> LiveTap::channels(std::size_t first) const {
  const std::lock_guard guard(lock_);
  if (first >= channels_.size()) return {};
  return {channels_.begin() + static_cast<std::ptrdiff_t>(first), channels_.end()};
}

SimTime LiveTap::newest(std::size_t channel) const {
  return SimTime::from_ns(newest_[channel].ns.load(std::memory_order_relaxed));
}

LiveRecord LiveTap::kept(std::size_t channel) const {
  const std::lock_guard guard(lock_);
  return channel < kept_.size() ? kept_[channel] : LiveRecord{};
}

void LiveTap::follow(std::size_t channel) {
  const std::lock_guard guard(lock_);
  if (channel >= followers_.size()) return;
  ++followers_[channel];
  wanted_[channel].fetch_or(follow_bit, std::memory_order_relaxed);
}

void LiveTap::unfollow(std::size_t channel) {
  const std::lock_guard guard(lock_);
  if (channel >= followers_.size() || followers_[channel] == 0 || --followers_[channel] > 0) return;
  wanted_[channel].fetch_and(static_cast<std::uint8_t>(~follow_bit), std::memory_order_relaxed);
}

std::deque<LiveRecord> LiveTap::take() {
  const std::lock_guard guard(lock_);
  queued_ = 0;
  return std::move(queue_);
}

}  // namespace isochron::view
