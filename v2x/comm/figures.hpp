#pragma once
// A run's radio in a few numbers: what was delivered at which distance, how late, what happened to the rest, and how
// busy the channel was. Fed with the log, live or from a journal.
//
// Threads: owner thread.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "v2x/comm/messages.hpp"
#include "v2x/radio/medium.hpp"

namespace isochron::v2x {

inline constexpr std::array<const char*, 7> fate_names{"delivered", "lost",    "weak",   "busy",
                                                       "garbled",   "expired", "dropped"};

class AirFigures {
 public:
  static constexpr double bin_m = 20;
  static constexpr double latency_bin_s = 1e-4;

  void take(const AirLog& log);

  struct Bin {
    std::uint64_t offered = 0, delivered = 0;
    [[nodiscard]] double share() const {
      return offered == 0 ? 0 : static_cast<double>(delivered) / static_cast<double>(offered);
    }
  };
  struct Latency {
    double mean_s = 0, p50_s = 0, p99_s = 0, max_s = 0;
  };
  struct Interference {
    std::uint64_t altered = 0, delayed = 0, dropped = 0, replayed = 0, invented = 0;  // by an attacker
    std::uint64_t refused_old = 0, refused_unreadable = 0, refused_untrusted = 0;     // by those who heard it
  };
  [[nodiscard]] const Interference& interference() const { return interference_; }
  [[nodiscard]] bool empty() const { return frames_ == 0; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  [[nodiscard]] const std::map<int, std::uint64_t>& frames_by_type() const { return types_; }
  [[nodiscard]] const std::vector<Bin>& by_distance() const { return bins_; }  // bin_m wide each
  [[nodiscard]] const std::array<std::uint64_t, fate_names.size()>& fates() const { return fates_; }
  [[nodiscard]] const std::vector<std::uint64_t>& latencies() const { return latencies_; }  // latency_bin_s wide each
  [[nodiscard]] Latency latency() const;
  [[nodiscard]] double busy_mean() const { return busy_count_ == 0 ? 0 : busy_sum_ / static_cast<double>(busy_count_); }
  [[nodiscard]] double busy_max() const { return busy_max_; }

 private:
  void take(const AirFrame& frame);

  std::uint64_t frames_ = 0;
  std::map<int, std::uint64_t> types_;
  std::vector<Bin> bins_;
  std::array<std::uint64_t, fate_names.size()> fates_{};
  std::vector<std::uint64_t> latencies_;
  double latency_sum_ = 0, latency_max_ = 0;
  double busy_sum_ = 0, busy_max_ = 0;
  std::uint64_t busy_count_ = 0;
  Interference interference_;
};

/// One JSON object.
std::string to_json(const AirFigures& figures);

}  // namespace isochron::v2x
