#include "core/gate.hpp"

#include <algorithm>

#include "core/ensure.hpp"

namespace isochron {

void ProgressTable::reached(ParticipantId who, SimTime t) {
  ENSURE(t >= at_[who.index()], "progress cannot go back");
  at_[who.index()] = t;
}

ParticipantId ProgressTable::slowest(ParticipantId except) const {
  ParticipantId slowest;
  for (std::uint32_t i = 0; i < at_.size(); ++i) {
    if (i == except.index()) continue;
    if (!slowest.valid() || at_[i] < at_[slowest.index()]) slowest = ParticipantId(i);
  }
  return slowest;
}

Admission LeadGate::admit(ParticipantId who, SimTime to) const {
  const ParticipantId slowest = table_.slowest(who);
  if (!slowest.valid() || table_.at(slowest) + lead_ >= to) return {};
  return {slowest, to - lead_};
}

Admission PromiseGate::admit(ParticipantId who, SimTime to) const {
  for (const ParticipantId input : inputs_of_[who.index()]) {
    if (promises_.at(input) < to) return {input, to};
  }
  return {};
}

std::vector<ParticipantId> find_wait_cycle(const Gate& gate, const std::vector<SimTime>& wants) {
  // Everybody waits for at most one participant, so walking on from anywhere ends or goes round.
  std::vector<std::uint32_t> seen_in_walk(wants.size(), 0);
  for (std::uint32_t start = 0; start < wants.size(); ++start) {
    ParticipantId who(start);
    std::vector<ParticipantId> walk;
    while (who.valid() && wants[who.index()] != SimTime::never() && seen_in_walk[who.index()] == 0) {
      seen_in_walk[who.index()] = start + 1;
      walk.push_back(who);
      who = gate.admit(who, wants[who.index()]).waits_for;
    }
    const auto back = std::find(walk.begin(), walk.end(), who);
    if (who.valid() && back != walk.end()) return {back, walk.end()};
  }
  return {};
}

}  // namespace isochron
