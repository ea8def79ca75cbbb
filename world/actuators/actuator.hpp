#pragma once
// An Actuator is what stands between a command and a motor: the command travels (delay), is limited (saturation), comes
// in steps (resolution), and the motor follows as fast as it can (rate limit, then a first-order lag). A command holds
// until the next one.
//
//   command ──delay──► saturate ──► round ──► rate limit ──► lag ──► value
//
// Promises: value_at(t) is a function of the commands sent up to t − delay. Between commands the rate limit and the lag
//           are solved exactly, so the result does not depend on how often it is asked for (beyond rounding).
// Requires: times of commands and of value_at() do not go back.
// Threads:  owner thread.
// Cost:     no allocation after construction.
// Fails:    a command that is not a number, or one too many on its way, is refused by name; the last one holds.

#include <cstdint>
#include <string>
#include <vector>

#include "core/input_error.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "world/engine.hpp"
#include "world/saved.hpp"

namespace isochron::world {

/// Plain data, as the scenario has it.
struct ActuatorSpec {
  Place place;
  std::string robot;
  std::string name;
  std::string actuator;  // its name in the model; empty: robot/name, or name
  SimSpan delay;
  double low = 0;  // low == high: as the model has it
  double high = 0;
  double rate = 0;        // units per second; 0 = unlimited
  SimSpan lag;            // time constant; 0 = none
  double resolution = 0;  // 0 = none
  double initial = 0;
  std::uint32_t on_their_way = 1024;  // how many commands may be in the delay at once
};

/// Every mistake in it; empty: an Actuator of it can be made. `known` is a Catalog's or a World's.
std::vector<Mistake> check(const ActuatorSpec& spec, const std::vector<ActuatorInfo>& known);

/// Why a command was refused, as the user should read it.
struct CommandRefused {
  enum class Why : std::uint8_t { not_a_number, too_many } why = Why::not_a_number;
  const char* actuator = "";
  SimTime at;
};
std::string to_string(const CommandRefused& refused);

class Actuator {
 public:
  /// Throws InputError with every mistake that check() finds.
  Actuator(ActuatorSpec spec, const std::vector<ActuatorInfo>& known);

  [[nodiscard]] const ActuatorSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }  // in `known`

  /// Sent at `now`, felt from now + delay. Of several at one time the last holds.
  Result<Done, CommandRefused> command(SimTime now, double value);
  /// What the motor does at `now`.
  double value_at(SimTime now);
  /// The same, given to the engine; for actuators of a World's parts use World::command().
  void drive(Engine& engine, SimTime now) { engine.set_control(index_, value_at(now)); }
  /// The command in force and those on their way.
  void carry(Carrier& c) { c.list(ring_), c(first_), c(end_), c(now_), c(target_), c(slewed_), c(value_); }

 private:
  struct Sent {
    SimTime felt;
    double value = 0;
  };
  void advance(SimTime to);
  void follow(double seconds);

  ActuatorSpec spec_;
  std::uint32_t index_ = 0;
  double low_, high_;
  std::vector<Sent> ring_;
  std::uint64_t first_ = 0, end_ = 0;  // of the commands that have not been felt
  SimTime now_;
  double target_;  // the command in force, limited and rounded
  double slewed_;  // after the rate limit
  double value_;   // after the lag
};

}  // namespace isochron::world
