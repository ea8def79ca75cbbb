#pragma once
// The part of a scenario's vocabulary that is about simulated networks between robots, over which unmodified programs
// talk; see docs/stacks.md.

#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/faults_section.hpp"
#include "scenario/section.hpp"

namespace isochron {

/// Bits in a second: 10Mbit/s.
struct BitRate {
  double bits_per_s = 0;
  static constexpr const char* expected = "a rate such as 10Mbit/s or 500kbit/s";
  static Result<BitRate, std::string> parse(const std::string& text);
};

struct CutSection : Section {
  std::vector<std::string> robots;
  SimSpan from;
  std::optional<SimSpan> until;
};
template <class V>
void describe(V& v, CutSection& s) {
  v.required("robots", s.robots, "those that reach nobody but each other");
  v.optional("from", s.from, "when it begins");
  v.optional("until", s.until, "when it is over; never if left out");
}

struct SimulatedNetworkSection : Section {
  Named<std::string> hosts;
  SimSpan latency = std::chrono::microseconds(100);
  SimSpan jitter;
  BitRate rate;
  Share loss;
  std::vector<CutSection> cuts;
};
template <class V>
void describe(V& v, SimulatedNetworkSection& s) {
  v.required("hosts", s.hosts, "robots that are on it and their IPv4 addresses, as in `rover: 10.0.0.1`");
  v.optional("latency", s.latency, "how long a message is under way");
  v.optional("jitter", s.jitter, "up to this much longer, evenly, by the seed");
  v.optional("rate", s.rate, "how much a robot may send to another, as in 10Mbit/s; as much as it likes if left out");
  v.optional("loss", s.loss, "share of datagrams that are lost, by the seed; streams send again and are late instead");
  v.optional("cuts", s.cuts, "when which robots are cut off");
}

/// Who a program's children, pipes and sockets belong to.
enum class SystemKind { simulated, host };
template <>
struct Words<SystemKind> {
  static constexpr std::array<const char*, 2> list{"simulated", "host"};
};

/// What a program sees that reads the processor's time stamp counter by itself.
enum class CounterKind { host, simulated, refused };
template <>
struct Words<CounterKind> {
  static constexpr std::array<const char*, 3> list{"host", "simulated", "refused"};
};

}  // namespace isochron
