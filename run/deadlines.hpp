#pragma once
// How one program keeps time on the wall clock: from its release until it is let go (late), and until it waits for the
// next one (response). Each activation goes into the journal, on /deadlines/PROGRAM.
//
// Threads: one writer; missed() and late() from any. Cost: no allocation after the constructor.

#include <atomic>

#include "rt/histogram.hpp"
#include "run/run_record.hpp"

namespace isochron {

/// One activation of a program on the wall clock.
struct ActivationRecord {
  SimTime release;
  std::int64_t late_ns = 0;
  std::int64_t response_ns = 0;
  bool missed = false;  // the response was longer than its deadline
};
ISOCHRON_MESSAGE(ActivationRecord, "isochron_msgs/msg/Activation", release, late_ns, response_ns, missed)

class Deadlines {
 public:
  Deadlines(RunRecord& record, Producer& producer, const std::string& program)
      : producer_(producer),
        channel_(record.journal().channel<ActivationRecord>("/deadlines/" + program, {.in_digest = false})) {}

  /// The program was let go at `now` for its release.
  void begin(SimTime release, SimTime now) {
    release_ = release;
    late_now_ = now - release;
    late_.record(late_now_.ns());
    running_ = true;
    ++activations_;
  }
  /// It is done with that. `deadline` is from its release.
  void end(SimTime now, SimSpan deadline, SimSpan period) {
    if (!running_) return;
    running_ = false;
    const SimSpan response = now - release_;
    response_.record(response.ns());
    const bool missed = deadline > SimSpan::zero() && response > deadline;
    if (missed) missed_.store(missed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (period > SimSpan::zero() && response > period) ++overruns_;
    producer_.write(channel_, release_, ActivationRecord{release_, late_now_.ns(), response.ns(), missed});
  }
  /// Releases that were never run, because it was still busy with one before.
  void skipped(std::uint64_t releases) { missed_.fetch_add(releases, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }
  [[nodiscard]] const rt::Histogram& late() const { return late_; }

  void fill(ProgramReport& report) const {
    report.activations = activations_;
    report.overruns = overruns_;
    report.missed_deadlines = missed();
    report.timing = Timing{quantiles(late_), quantiles(response_)};
  }

 private:
  static Quantiles quantiles(const rt::Histogram& h) {
    return {WallSpan::from_ns(h.percentile(50)), WallSpan::from_ns(h.percentile(99)), WallSpan::from_ns(h.max())};
  }
  Producer& producer_;
  ChannelId channel_;
  rt::Histogram late_, response_;
  SimTime release_;
  SimSpan late_now_;
  bool running_ = false;
  std::uint64_t activations_ = 0, overruns_ = 0;
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace isochron
