#pragma once
// A Watcher follows the operands of one Watch through the records of a journal and says, for each time at which one of
// them has a new sample, what all of them are then. An operand holds its value until its next sample.
//
//     one channel      each record is one time: it is told at once
//     several          a time is told when every channel has come beyond it, in the order of time, whatever the order
//                      in the file: the same journal, or the same run, gives the same answers. Of equal times the
//                      first records of all channels are told together, then the second ones, …
//
// A name is looked for until a channel has it; before that, and while an agent is not there, nothing is told.
//
// Threads: owner thread.
// Cost:    one channel: no allocation. Several: 24 bytes for each sample that still waits for another channel, at most
//          a million; then the oldest are told with what the others have.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/time.hpp"
#include "expect/meaning.hpp"

namespace isochron::expect {

class Watcher {
 public:
  /// `told` is called with the time; value(program) is valid then.
  using Told = std::function<void(SimTime at)>;
  Watcher(const Watch& watch, Told told);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Looks for the names that are not found yet.
  void look_for_names(const Names& names);
  [[nodiscard]] bool has_all_names() const { return unfound_ == 0; }
  [[nodiscard]] bool uses(std::size_t channel) const { return channels_.contains(channel); }
  /// The channels that it looks at.
  [[nodiscard]] const std::map<std::size_t, SimTime>& channels() const { return channels_; }

  void recorded(std::size_t channel, SimTime time, std::span<const std::byte> record);
  /// There are no more records.
  void finish();

  /// Inside Told. Nothing: an operand of this program has no value now.
  [[nodiscard]] std::optional<double> value(std::size_t program) const;

 private:
  struct Slot {
    std::optional<NumberReader> reader;
    std::size_t channel = 0;
    bool silent_without_sample = false;  // a record without a sample leaves the value as it is
    bool has_value = false;
    bool in_a_plane = false;  // a height that the thing does not have: zero
  };
  enum class Sample { none, gone, there };
  struct Waiting {
    std::int64_t time;
    double value;
    Sample sample;
  };
  Sample sample(std::size_t operand, std::span<const std::byte> record, double& value);
  void hold(std::size_t operand, Sample sample, double value);
  void tell_until(std::int64_t before_ns);
  void shed();

  const Watch& watch_;
  Told told_;
  std::vector<Slot> slots_;
  std::vector<double> values_;
  std::vector<std::deque<Waiting>> waiting_;  // of each operand, where there are several channels
  std::size_t waiting_count_ = 0;
  std::map<std::size_t, SimTime> channels_;  // and the newest time of each
  std::size_t unfound_;
  SimTime now_;
};

}  // namespace isochron::expect
