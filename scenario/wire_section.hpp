#pragma once
// The part of a scenario's vocabulary that ties variables of a robot to datagrams or a stream, so that a stack that
// knows nothing of Isochron drives it (docs/stacks.md).

#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/fmu_section.hpp"
#include "scenario/section.hpp"

namespace isochron {

/// How a message is written: a line of JSON, or its fields one after the other without gaps.
enum class WireForm : std::uint8_t { json, little, big };
template <>
struct Words<WireForm> {
  static constexpr std::array<const char*, 3> list{"json", "little", "big"};
};

struct WireSection : Section {
  std::optional<std::uint32_t> udp, tcp;
  std::string to;
  SimSpan every = std::chrono::milliseconds(10);
  WireForm form = WireForm::json;
  VariableTexts sends, takes;
  bool v2x = false;
};
template <class V>
void describe(V& v, WireSection& s) {
  v.optional("udp", s.udp, "its port on the robot's host in the simulated network: one message a datagram");
  v.optional("tcp", s.tcp, "or its port for connections: one message after the other");
  v.optional(
      "to", s.to,
      "with `udp`, where messages go: a PORT of the same robot, or ROBOT:PORT; if left out, to whoever wrote last");
  v.optional("every", s.every, "time between two messages that are sent, a multiple of the world's step");
  v.optional("form", s.form,
             "json: one object, on a line of its own where it is a stream; little, big: the fields as binary numbers "
             "of that byte order, without gaps");
  v.optional("sends", s.sends,
             "what is sent, `FIELD: VARIABLE` in order: variables as programs read them (`speed`, `pose.position.x`, "
             "`lidar.ranges`), `time`, `time_ns`, `count`, or a number; binary ones with a type in front, as in "
             "`float32 speed` or `float32[360] lidar.ranges`");
  v.optional(
      "takes", s.takes,
      "what is taken, `FIELD: VARIABLE` in order: variables that programs write (`throttle`, `wrench.force.x`), a "
      "number that must be there, or `-` for what is passed over; binary ones with a type in front");
  v.optional("v2x", s.v2x,
             "with `udp`, instead of both: the robot's radio; a datagram is a frame, heard or to be sent, and `to` is "
             "where frames go that it hears");
}

struct Scenario;
/// Adds everything that is wrong with the wires of its robots.
void check_wires(const Scenario& scenario, std::vector<Mistake>& mistakes);

}  // namespace isochron
