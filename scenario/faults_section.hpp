#pragma once
// The part of a scenario's vocabulary for links that are bad on purpose: those between clients and server of agents,
// between nodes over TCP, and to targets in mode hil. One seed, one sequence of faults; see docs/agents.md.

#include <optional>
#include <string>

#include "link/faults.hpp"
#include "scenario/section.hpp"

namespace isochron {

/// A share of something: 5% or 0.05.
struct Share {
  double value = 0;
  static constexpr const char* expected = "a share such as 5% or 0.05";
  static Result<Share, std::string> parse(const std::string& text);
};
/// A delay and how much it varies: 20ms±5.
struct DelayText {
  WallSpan delay{}, jitter{};
  static constexpr const char* expected = "a delay such as 20ms or 20ms±5";
  static Result<DelayText, std::string> parse(const std::string& text);
};

struct FaultsSection : Section {
  Share loss, duplicate;
  DelayText delay;
  bool reorder = false;
  std::optional<std::uint64_t> seed;
};
template <class V>
void describe(V& v, FaultsSection& s) {
  v.optional("loss", s.loss, "share of datagrams lost, each way, as in 5%; streams wait until it is sent again");
  v.optional("delay", s.delay, "each way, as in 20ms±5");
  v.optional("duplicate", s.duplicate, "share that comes twice");
  v.optional("reorder", s.reorder, "one in ten is overtaken by those behind it");
  v.optional("seed", s.seed, "of the faults; the scenario's if left out");
}
link::Faults to_faults(const FaultsSection& section, std::uint64_t scenario_seed);

}  // namespace isochron
