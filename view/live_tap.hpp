#pragma once
// What is kept of a run that is under way, between the journal's writer thread, which says what happens, and those who
// look. The newest record of some channels is kept, all records of those that somebody follows, up to a limit, and of
// every channel the time of its newest record: that is how far each participant has come.
//
// Promises: whoever looks, or does not look, never makes the writer thread wait for more than a copy.
//           Followed records that nobody takes are forgotten, the oldest first, at `queue_bytes`.
// Threads:  the tap's calls from the writer thread, all others from any.

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "journal/tap.hpp"

namespace isochron::view {

struct LiveRecord {
  std::size_t channel = 0;
  SimTime time;
  std::string payload;
};

class LiveTap final : public JournalTap {
 public:
  static constexpr std::size_t channels_max = 4096;
  static constexpr std::size_t queue_bytes = 16U << 20U;

  void defined(std::size_t channel, const ChannelDefinition& definition) override;
  void recorded(std::size_t channel, SimTime time, std::span<const std::byte> payload) override;

  /// Channels from `first` on, in the order of their numbers.
  [[nodiscard]] std::vector<ChannelDefinition> channels(std::size_t first = 0) const;
  [[nodiscard]] std::size_t channel_count() const { return count_.load(std::memory_order_acquire); }
  /// Of the newest record; never() before the first.
  [[nodiscard]] SimTime newest(std::size_t channel) const;

  /// Keep the newest record of every channel, and of those to come.
  void keep_all();
  /// Keep the newest record of a channel from now on.
  void keep(std::size_t channel) { wanted_[channel].fetch_or(keep_bit, std::memory_order_relaxed); }
  [[nodiscard]] LiveRecord kept(std::size_t channel) const;
  /// Queue all records of a channel for take(); counts, so that unfollow() undoes one follow().
  void follow(std::size_t channel);
  void unfollow(std::size_t channel);
  std::deque<LiveRecord> take();
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint8_t keep_bit = 1, follow_bit = 2;
  struct Newest {
    std::atomic<std::int64_t> ns{INT64_MAX};
  };

  std::array<std::atomic<std::uint8_t>, channels_max> wanted_{};
  std::array<Newest, channels_max> newest_{};
  std::atomic<std::size_t> count_{0};
  bool keep_all_ = false;
  std::atomic<std::uint64_t> forgotten_{0};

  mutable std::mutex lock_;
  std::vector<ChannelDefinition> channels_;
  std::vector<LiveRecord> kept_;
  std::vector<int> followers_;
  std::deque<LiveRecord> queue_;
  std::size_t queued_ = 0;
};

}  // namespace isochron::view
