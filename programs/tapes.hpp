#pragma once
// The tapes of a run, written and played: what computing cost, what was read from clocks, in which order threads met,
// and what was printed by when. A replay that does not come to what its tape has says where it parted.
//
// Threads: the coordinator's.

#include <string>
#include <vector>

#include "programs/ensemble.hpp"

namespace isochron::programs {

class Tapes {
 public:
  explicit Tapes(Ensemble& all) : all_(all) {}

  // Written, of those that are measured.

  void record_request(std::uint32_t program, const Pending& pending);
  void record_blocked(std::uint32_t program);
  void record_stalled(std::uint32_t program, SimTime resumed);
  /// What it read of its clocks and has not been taken yet; before its end.
  void take_last_values(std::uint32_t program);
  void record_end(std::uint32_t program);
  /// What programs executed towards a request that they never made delays the others in a replay as it did in the run.
  void record_unfinished();

  // Played.

  /// From its first moment on.
  void start(std::uint32_t program);
  /// What it owes before its next request is known at once.
  void promise(std::uint32_t program);
  /// The next moment of its tape. Until the tape says that a link woke, none goes on.
  void take_charge(std::uint32_t program);
  /// A request came where the tape may have another one.
  void follow_request(std::uint32_t program, std::uint32_t link, protocol::Ask ask);
  void hand_order(Member& m);
  /// A replay that will not come to what its tape has: everybody stands still, or it computes far beyond what it did
  /// then. "" while it may.
  [[nodiscard]] std::string cannot_follow(std::uint32_t program) const;
  void parted(std::uint32_t program, const std::string& how);

  // Both.

  /// A link goes on: written, or it is the next moment of the tape.
  void wakes(std::uint32_t program, std::uint32_t link);
  /// What it printed on the way to a request, or to its end (null), is told at that time. Threads of a replay that
  /// compute run freely and may have printed more or less by then: what was printed before then counts.
  [[nodiscard]] std::string take_output(std::uint32_t program, const Charge* then);

 private:
  void follow(std::uint32_t program);
  void take_clock_values(std::uint32_t program, std::uint32_t link);
  void take_order(std::uint32_t program, bool all);
  static void hand_clock_values(Member& m, std::uint32_t link);

  Ensemble& all_;
  std::vector<std::byte> taken_;  // room for values of clocks and orders
};

}  // namespace isochron::programs
