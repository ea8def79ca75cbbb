#pragma once
// The cost of computing, program by program: turns a compute contract into the time a program owes before its next
// operation. Measured totals and tapes go through the same conversion (whole totals, never pieces), so that a replay
// owes to the nanosecond what the run owed.
//
// Threads: the coordinator's. Cost: no allocation.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/rate.hpp"
#include "programs/spec.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

class ComputeCost {
 public:
  ComputeCost(const ProgramSpec& spec, const std::string& full_name);

  [[nodiscard]] bool measured() const { return std::holds_alternative<MeasuredCompute>(compute_); }
  [[nodiscard]] bool zero() const { return std::holds_alternative<ZeroCompute>(compute_); }
  [[nodiscard]] bool recorded() const { return std::holds_alternative<RecordedCompute>(compute_); }
  [[nodiscard]] protocol::ClockMode clock_mode() const;

  /// What is owed more since the last call, for a total of CPU time.
  SimSpan up_to(CpuTime total);
  /// Simulated ns for each ns of CPU, and back.
  [[nodiscard]] ComputeRate rate() const { return rate_; }

  /// Modelled and zero: what this request costs.
  SimSpan of_request(protocol::Ask ask, bool best_effort);
  /// The same of a call of the simulated system: it is like a wait, a receive, a send, or nothing of these.
  SimSpan of_call(const protocol::Call& call, bool best_effort);

  /// Recorded: the next charge of the tape; none at its end.
  [[nodiscard]] const Charge* next_charge() const;
  void take_charge() { ++at_; }
  /// Recorded: the clock values of a link up to its next request, packed; none at the end.
  [[nodiscard]] std::uint32_t clock_links() const;
  [[nodiscard]] std::span<const std::byte> take_clocks(std::uint32_t link);
  /// Recorded: the order of threads that was not handed out yet.
  [[nodiscard]] std::span<const std::byte> order_left() const {
    return std::span(std::get<RecordedCompute>(compute_).tape->order).subspan(order_at_);
  }
  void take_order(std::size_t bytes) { order_at_ += bytes; }

 private:
  SimSpan draw();

  Compute compute_;
  /// What is owed, with the slowness of the moment.
  [[nodiscard]] SimSpan slowed(SimSpan span) const;

  ComputeRate rate_;
  std::shared_ptr<const double> slowness_;
  SimSpan owed_total_;
  RandomStream random_;
  std::size_t at_ = 0;
  std::size_t order_at_ = 0;
  std::vector<std::size_t> clock_at_;
  bool activation_open_ = false;  // its cost has not been owed yet; starting up is free
  bool gave_output_ = true;
};

}  // namespace isochron::programs
