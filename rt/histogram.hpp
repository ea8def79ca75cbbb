#pragma once
// Counts how often each duration occurred, for loops that run for hours: recording is a few instructions into a fixed
// table. Up to 64 ns each value has a bucket of its own; above, every power of two is split into 64, so that a value
// is known to 1.6 %.
//
//     value    0 1 2 … 63 | 64 65 … 127 | 128 130 … 254 | 256 260 …
//     bucket   one each   | one each    | two each      | four each …
//
// Promises: count, sum, min and max are exact; percentiles are the upper end of their bucket, at most max.
// Threads:  one writer; any thread may read meanwhile and sees counts that were true a moment ago.
// Cost:     record() ~2 ns, never allocates; 20 KB.
// Fails:    negative values count as 0 and values above 18 minutes as the last bucket; min and max stay true.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace isochron::rt {

class Histogram {
 public:
  static constexpr int sub_bits = 6;
  static constexpr int value_bits = 40;
  static constexpr std::size_t buckets = (value_bits - sub_bits + 1) << sub_bits;

  void record(std::chrono::nanoseconds value) { record(value.count()); }
  void record(std::int64_t ns) {
    add(counts_[bucket_of(ns)], 1);
    add(count_, 1);
    add(sum_, ns);
    if (ns < get(min_)) set(min_, ns);
    if (ns > get(max_)) set(max_, ns);
  }

  [[nodiscard]] std::uint64_t count() const { return get(count_); }
  [[nodiscard]] std::int64_t min() const { return count() == 0 ? 0 : get(min_); }
  [[nodiscard]] std::int64_t max() const { return count() == 0 ? 0 : get(max_); }
  [[nodiscard]] double mean() const {
    return count() == 0 ? 0.0 : static_cast<double>(get(sum_)) / static_cast<double>(count());
  }

  /// The least value that p percent of all do not exceed, to 1.6 %; 0 when there are none.
  [[nodiscard]] std::int64_t percentile(double p) const {
    const std::uint64_t all = count();
    if (all == 0) return 0;
    const auto wanted =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(all) * std::clamp(p, 0.0, 100.0) / 100));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      seen += get(counts_[i]);
      if (seen >= std::max<std::uint64_t>(wanted, 1))
        return i + 1 == buckets ? max() : std::clamp(last_of(i), min(), max());
    }
    return max();
  }

  /// Adds all that another one recorded. Its writer may go on meanwhile; this one's may not.
  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < buckets; ++i) add(counts_[i], get(other.counts_[i]));
    add(count_, get(other.count_));
    add(sum_, get(other.sum_));
    set(min_, std::min(get(min_), get(other.min_)));
    set(max_, std::max(get(max_), get(other.max_)));
  }

  void clear() {
    for (auto& count : counts_) set(count, std::uint64_t{0});
    set(count_, std::uint64_t{0});
    set(sum_, std::int64_t{0});
    set(min_, std::numeric_limits<std::int64_t>::max());
    set(max_, std::numeric_limits<std::int64_t>::min());
  }

  /// Calls f(least, last, count) for every bucket that counted something, in order.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < buckets; ++i) {
      if (const std::uint64_t n = get(counts_[i]); n != 0) f(i == 0 ? 0 : last_of(i - 1) + 1, last_of(i), n);
    }
  }

  static constexpr std::size_t bucket_of(std::int64_t ns) {
    if (ns < 0) return 0;
    const auto value = static_cast<std::uint64_t>(ns);
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - 1 - sub_bits);
    const std::size_t bucket = (static_cast<std::size_t>(shift) << sub_bits) + static_cast<std::size_t>(value >> shift);
    return std::min(bucket, buckets - 1);
  }
  /// The greatest value of a bucket.
  static constexpr std::int64_t last_of(std::size_t bucket) {
    constexpr std::size_t in_octave = std::size_t{1} << sub_bits;
    if (bucket < 2 * in_octave) return static_cast<std::int64_t>(bucket);
    const std::size_t shift = bucket / in_octave - 1;
    return static_cast<std::int64_t>(((bucket - shift * in_octave + 1) << shift) - 1);
  }

 private:
  // Plain loads and stores for the processor, but whole ones for a thread that reads meanwhile.
  template <class T>
  static T get(const T& place) {
    return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_relaxed);
  }
  template <class T>
  static void set(T& place, T value) {
    std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);
  }
  template <class T>
  static void add(T& place, std::type_identity_t<T> by) {
    set(place, static_cast<T>(get(place) + by));
  }

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace isochron::rt
