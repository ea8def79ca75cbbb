#pragma once
// What programs ask is taken to the desk, and they are answered. Each answer happens at one simulated time, given by
// the timeline.
//
// Threads: the coordinator's. Cost: no allocation after the first requests, but for what the desk allocates.

#include "programs/execution.hpp"
#include "programs/foreign_calls.hpp"
#include "programs/stacks.hpp"
#include "programs/tapes.hpp"
#include "programs/teller.hpp"

namespace isochron::programs {

class Answers {
 public:
  Answers(Ensemble& all, Tapes& tapes, Execution& execution, ForeignCalls& foreign_calls, Stacks& stacks,
          Teller& teller)
      : all_(all),
        tapes_(tapes),
        execution_(execution),
        foreign_calls_(foreign_calls),
        stacks_(stacks),
        teller_(teller) {}

  /// What the program came to last happens at `at`.
  void operate(std::uint32_t program, SimTime at);
  /// A link goes on.
  void wake(const Timeline::Event& event);
  /// The run is over, and so it is told; only its last read is done.
  void after_end(Member& m);

 private:
  bool held_up(Member& m, SimTime at);
  void count(Member& m, const Pending& pending, SimTime at);
  void answer(std::uint32_t program, const Pending& pending, SimTime at);
  void looked_at_clock(Member& m);
  void suspend(std::uint32_t program, const Pending& pending, const Desk::Suspend& later);
  void reply(Member& m, std::uint32_t link, SimTime at);
  void left(std::uint32_t program, SimTime at);

  Ensemble& all_;
  Tapes& tapes_;
  Execution& execution_;
  ForeignCalls& foreign_calls_;
  Stacks& stacks_;
  Teller& teller_;
  Reply reply_;
};

}  // namespace isochron::programs
