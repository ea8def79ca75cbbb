#pragma once
// A program that is called instead of executed: a controller in a library, which computes on the coordinator's own
// thread when it is released. It shares its robot's virtual CPU with programs that are executables, under every compute
// contract, and what it writes is written when its computing is over.
//
// Threads: the coordinator's. An activation cannot be preempted here; on the virtual CPU it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron::programs {

class CalledProgram {
 public:
  struct Command {
    std::uint32_t variable = 0;  // of the plant, a float64
    double value = 0;
  };
  /// What it says to others and hears of them, during a call.
  class Letters {
   public:
    virtual ~Letters() = default;
    /// The oldest of this type from `from` that has arrived; false: there is none.
    virtual bool receive(std::string_view from, std::string_view type, std::vector<std::byte>& into) = 0;
    /// It leaves when the activation is over.
    virtual void send(std::string_view to, std::string_view type, std::span<const std::byte> bytes) = 0;
  };
  virtual ~CalledProgram() = default;
  /// One activation, with the world as it is at `at`. What it wants holds until the next call.
  /// Fails: what it threw, or what it wrote that cannot be written.
  virtual Result<std::span<const Command>, std::string> call(SimTime at, Letters& letters) = 0;
};

}  // namespace isochron::programs
