#pragma once
// A Gate admits a participant to a time, or says for whom it waits. The modes of Isochron differ in two things only:
// where progress comes from, and which gate guards it. The gates here are decisions over a table of progress; they
// read no clock and block nobody. Whoever runs participants (a coordinator, a state cache) asks, and asks again after
// progress was made.
//
// Promises: admit(p, t) stays admitted once it is: progress only grows. When nobody is admitted to its next time and
//           nobody runs, following `waits_for` leads into a cycle: that cycle is the stall report.
// Cost:     O(participants) for each question; no allocation after set-up.

#include <optional>
#include <vector>

#include "core/participant.hpp"
#include "core/time.hpp"

namespace isochron {

/// Admitted, or held by the participant whose progress must reach `needs` first.
struct Admission {
  ParticipantId waits_for;  // invalid = admitted
  SimTime needs;
  [[nodiscard]] constexpr bool admitted() const { return !waits_for.valid(); }
  explicit constexpr operator bool() const { return admitted(); }
};

class Gate {
 public:
  virtual ~Gate() = default;
  [[nodiscard]] virtual Admission admit(ParticipantId who, SimTime to) const = 0;
};

/// How far each participant has come, as its gates see it. Participants that left hold nobody back.
class ProgressTable {
 public:
  explicit ProgressTable(std::size_t participants, SimTime start = SimTime::zero()) : at_(participants, start) {}

  void reached(ParticipantId who, SimTime t);
  void leave(ParticipantId who) { at_[who.index()] = SimTime::never(); }
  [[nodiscard]] SimTime at(ParticipantId who) const { return at_[who.index()]; }
  /// The participant that has come least far; the lower index among equals. Skips `except`.
  [[nodiscard]] ParticipantId slowest(ParticipantId except = {}) const;
  [[nodiscard]] std::size_t size() const { return at_.size(); }

 private:
  std::vector<SimTime> at_;
};

/// Goes on while nobody is more than `lead` behind the time asked for. `lead` = one quantum gives `consistent`,
/// two heartbeats give `heartbeat`, zero gives lock-step.
class LeadGate final : public Gate {
 public:
  LeadGate(const ProgressTable& table, SimSpan lead) : table_(table), lead_(lead) {}
  [[nodiscard]] Admission admit(ParticipantId who, SimTime to) const override;

 private:
  const ProgressTable& table_;
  SimSpan lead_;
};

/// Goes on when every input's promise has passed the time asked for: no input can still be earlier (`repeatable`), no
/// answer leaves before simulated time reaches it (`hil`). Reads from the table what others promised.
class PromiseGate final : public Gate {
 public:
  PromiseGate(const ProgressTable& promises, std::vector<std::vector<ParticipantId>> inputs_of)
      : promises_(promises), inputs_of_(std::move(inputs_of)) {}
  [[nodiscard]] Admission admit(ParticipantId who, SimTime to) const override;

 private:
  const ProgressTable& promises_;
  std::vector<std::vector<ParticipantId>> inputs_of_;
};

/// The cycle of participants that wait for each other, if there is one: each waits for the next, the last for the
/// first. `wants[i]` is the time that participant i asks for; never() = it asks for nothing.
std::vector<ParticipantId> find_wait_cycle(const Gate& gate, const std::vector<SimTime>& wants);

}  // namespace isochron
