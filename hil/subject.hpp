#pragma once
// What targets act on, as this layer sees it: something that can be brought to a time and has variables with names. The
// scenario puts the world behind it.
//
// Requires: calls come in the order of simulated time.
// Threads:  the server's.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron::hil {

struct Variable {
  std::string name;  // "uav/pose" belongs to robot uav, whose targets may call it "pose"
  std::string type;
  std::size_t size = 0;  // the largest, where sizes vary
  bool fixed_size = true;
  bool readable = true;
  bool writable = false;
};

class Subject {
 public:
  virtual ~Subject() = default;
  [[nodiscard]] virtual const std::vector<Variable>& variables() const = 0;
  virtual Result<Done, std::string> advance_to(SimTime t) = 0;
  /// Somebody asks for a reading at `at`: when it is there. Real sensors take their time (003, Fig. 8).
  virtual SimTime ask(std::uint32_t variable, SimTime at) = 0;
  /// The value at `at`, which is what ask() gave; replaces what is in `value`. Empty: there is none yet.
  virtual void read(std::uint32_t variable, SimTime at, std::vector<std::byte>& value) = 0;
  [[nodiscard]] virtual Result<Done, std::string> check(std::uint32_t variable,
                                                        std::span<const std::byte> value) const = 0;
  virtual void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) = 0;
};

}  // namespace isochron::hil
