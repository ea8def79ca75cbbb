#pragma once
// A Plant is the world as those see it who let programs and targets act on it: something that can be brought to a time,
// and that has variables with names. They do not know what is behind it: a physics engine, a recording, a double
// integrator in a test.
//
// Requires: calls come in the order of simulated time: no write or read has an `at` earlier than the one before, and
//           every `at` lies in [time(), time() of the next step). A write at t shows in what is read after t; whether
//           it acts within the step or from its end is the plant's to say.
// Threads:  that of its owner.
// Fails:    advance_to() says what broke; the run ends with that sentence.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron {

struct Variable {
  std::string name;  // "prey/pose" belongs to robot prey, whose programs may call it "pose"; "clock/lamp" as it stands
  std::string type;  // the name that both sides check: float64, float64[3], isochron_msgs/msg/Pose
  std::size_t size = 0;
  bool readable = true;
  bool writable = false;
  bool varies = false;      // a message of up to `size` bytes, as CDR: a picture, a scan
  bool any_finite = false;  // made of float64 alone, and check() accepts all that are finite
};

/// What a variable that varies has to say, and of when it is.
struct Sample {
  std::size_t size = 0;  // 0: nothing yet
  SimTime stamp;
};

class Plant {
 public:
  virtual ~Plant() = default;
  [[nodiscard]] virtual const std::vector<Variable>& variables() const = 0;
  [[nodiscard]] virtual SimTime time() const = 0;
  virtual Result<Done, std::string> advance_to(SimTime t) = 0;
  /// A program asks at `at`: when the answer is there. A sensor that takes its time names a later one.
  virtual SimTime asked(std::uint32_t /*variable*/, SimTime at) { return at; }
  virtual void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) = 0;
  /// The same for a variable that varies; `room` has its size.
  virtual Sample sample(std::uint32_t /*variable*/, SimTime /*at*/, std::span<std::byte> /*room*/) { return {}; }
  /// What read() gave at `at` holds before this time, as long as there is no step and no write in between.
  [[nodiscard]] virtual SimTime holds_until(std::uint32_t /*variable*/, SimTime at) const { return at; }
  /// Whether this value may be written at all (a NaN may not); asked before write(), when the program makes it.
  virtual Result<Done, std::string> check(std::uint32_t variable, std::span<const std::byte> value) const = 0;
  virtual void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) = 0;
};

}  // namespace isochron
