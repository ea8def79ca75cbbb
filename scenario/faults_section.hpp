#pragma once
// The part of a scenario's vocabulary for what is bad on purpose: links between clients and server of agents, between
// nodes over TCP and to targets in mode hil (docs/agents.md), and what breaks at a time (docs/expectations.md). One
// seed, one sequence of faults.

#include <optional>
#include <string>
#include <vector>

#include "link/faults.hpp"
#include "scenario/mark.hpp"
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

/// Something that breaks at a time of the run, for a while. One key says what (scenario/timed_faults.cpp has them all);
/// it becomes a mark, as if a person had done it.
struct TimedFault : Section {
  std::optional<SimSpan> at;
  std::vector<SimSpan> between;
  std::uint32_t times = 1;
  std::string blind, freeze, bias, cut, delay, stop, slow, kill, unplug, push, set, change, disk, blade;
  std::vector<std::string> link;
  Share loss;
  SimSpan lag;
  std::optional<std::array<double, 3>> wind;
  SimSpan lasts;
  std::array<double, 3> force{};
  double value = 0;
  double by = 0;
  std::string to;
};
template <class V>
void describe(V& v, TimedFault& s) {
  v.optional("at", s.at, "when it begins: at the step of the world that begins then, or the first after it");
  v.optional("between", s.between, "instead of `at`: at a random time between these two, of the scenario's seed");
  v.optional("times", s.times, "with `between`: how often");
  v.optional("blind", s.blind, "ROBOT/SENSOR: whoever reads it gets what it had last");
  v.optional("freeze", s.freeze, "ROBOT/SENSOR: goes on with new stamps, and says what it said last");
  v.optional("bias", s.bias,
             "ROBOT/SENSOR.FIELD: off by `by`, as in prey/imu.angular_velocity.z, or a list of numbers");
  v.optional("cut", s.cut, "ROBOT, or one actuator of it: commands are lost; the last ones hold, so that it is stuck");
  v.optional("delay", s.delay, "ROBOT/PROGRAM: computes longer, by `for`; a controller in a library misses releases");
  v.optional("stop", s.stop, "ROBOT/PROGRAM: stands still from its next request on, and leaves its CPU to others");
  v.optional("slow", s.slow, "ROBOT/PROGRAM: computing costs it `by` times as much, for `for`");
  v.optional("kill", s.kill, "ROBOT/PROGRAM: ends at its next request, as if it had crashed; `on_exit` says what then");
  v.optional("unplug", s.unplug, "ROBOT/PROGRAM on a board: its connection breaks; `on_loss` says what then");
  v.optional("link", s.link, "[A, B], robots or programs: messages between them are lost, or [A]: to and from A");
  v.optional("loss", s.loss, "of a link: the share of messages that is lost; all if neither `loss` nor `lag` is given");
  v.optional("lag", s.lag, "of a link: how much later messages come");
  v.optional(
      "blade", s.blade,
      "AIRCRAFT/motor1 and up: a blade of that rotor breaks; it keeps `by` of its thrust and torque, nothing if left "
      "out");
  v.optional("disk", s.disk, "`full`: the journal finds no space from then on");
  v.optional("wind", s.wind, "a gust: the wind's velocity, m/s in the world frame, for `for`");
  v.optional("change", s.change, "a key of this scenario that can be changed in the middle of a run; with `to`");
  v.optional("push", s.push, "a body, with `force`");
  v.optional("set", s.set, "an actuator is told `value`, once");
  v.optional("for", s.lasts, "how long it lasts");
  v.optional("force", s.force, "of a push: N, world frame");
  v.optional("value", s.value, "of a set");
  v.optional(
      "by", s.by,
      "of slow: how many times as much, as in 4; of bias: how much is added, in the field's unit; of blade: the share "
      "that is left");
  v.optional("to", s.to, "of a change: the value; for good where there is no `for`");
}

struct FaultsSection : Section {
  Share loss, duplicate;
  DelayText delay;
  bool reorder = false;
  std::optional<std::uint64_t> seed;
  std::vector<TimedFault> timeline;
  std::optional<std::vector<Mark>> marks;  // not of the file: all that is done to a world of flows
};
/// A list is the timeline.
inline std::vector<TimedFault>& list_form(FaultsSection& section) { return section.timeline; }
template <class V>
void describe(V& v, FaultsSection& s) {
  v.optional("loss", s.loss, "share of datagrams lost, each way, as in 5%; streams wait until it is sent again");
  v.optional("delay", s.delay, "each way, as in 20ms±5");
  v.optional("duplicate", s.duplicate, "share that comes twice");
  v.optional("reorder", s.reorder, "one in ten is overtaken by those behind it");
  v.optional("seed", s.seed, "of the faults; the scenario's if left out");
  v.optional("timeline", s.timeline,
             "what breaks when; `faults: [{at: 2s, blind: prey/imu, for: 1s}]` says it in short");
}
link::Faults to_faults(const FaultsSection& section, std::uint64_t scenario_seed);

}  // namespace isochron
