#pragma once
// When a program that waits periodically goes on, and what its being late means. Decided here for every mode and every
// way of being attached, so that one program meets one rule.
//
//      offset     + period     + 2 periods            releases
//      |          |            |
//      ▐██▌       ▐█████████████▌▐█▌                  a first wait goes on at the release that holds now, or at the
//                              └ overrun: it goes on at once; releases that passed meanwhile are never run
//
// An activation that ends after its deadline is a missed one, and so is each release that was never run. Best-effort
// programs have no deadline.
//
// Promises: releases stand at offset + n * period and only grow. Threads: owner. Cost: some ns; never allocates.

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"

namespace isochron {

/// What the scenario says of a program's time.
struct ReleaseTerms {
  SimSpan every;     // declared period; zero = none
  SimSpan offset;    // of the first release
  SimSpan deadline;  // from a release to the next wait; zero = the period
  bool best_effort = false;
};

class Releases {
 public:
  struct Next {
    SimTime goes_on;            // not before; at once where it is late
    bool overrun = false;       // the next release had passed when it was done
    bool late = false;          // it was done after its deadline
    std::uint64_t skipped = 0;  // releases that are never run
    [[nodiscard]] std::uint64_t missed() const { return skipped + (late ? 1 : 0); }
  };

  /// The program waits for its next release of this period at `now`; it was done with the one before at `done`.
  Next wait(const ReleaseTerms& terms, SimSpan period, SimTime now, SimTime done) {
    if (!started_ || period != period_) return begin(terms, period, now);
    Next next;
    const SimSpan deadline = terms.deadline > SimSpan::zero() ? terms.deadline : period;
    next.late = done - release_ > deadline && !terms.best_effort;
    if (done <= release_ + period) {
      release_ += period;
      next.goes_on = std::max(release_, now);
      return next;
    }
    const std::int64_t passed = (done - release_) / period;
    release_ += period * passed;
    next.goes_on = now;
    if (terms.best_effort) return next;
    next.overrun = true;
    next.skipped = static_cast<std::uint64_t>(passed - 1);
    return next;
  }

  /// The one that it went on for, or will.
  [[nodiscard]] SimTime release() const { return release_; }
  [[nodiscard]] bool started() const { return started_; }

 private:
  Next begin(const ReleaseTerms& terms, SimSpan period, SimTime now) {
    started_ = true;
    period_ = period;
    const SimTime first = SimTime::zero() + terms.offset;
    release_ = now <= first ? first : now - (now - first) % period;
    Next next;
    next.goes_on = std::max(now, release_);
    return next;
  }

  SimSpan period_;
  SimTime release_;
  bool started_ = false;
};

}  // namespace isochron
