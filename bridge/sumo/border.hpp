#pragma once
// The border of the detailed area: which of a traffic simulator's cars have a body in the world. A car gets one when it
// comes nearer than `near` to one of ours and keeps it until it is farther than `leave`, so that one that drives along
// the border is not handed over again and again.
//
//         near            leave
//     ours ──────────────────┊──────────►  distance
//          gets a body │ keeps what it has │ has none
//
// Promises: what it decides depends on the cars' names and places and on what it decided before, not on their order.
//           Where bodies are short the nearest get them; a car that has one keeps it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace isochron::sumo {

class Border {
 public:
  /// Requires: 0 < near <= leave.
  Border(std::size_t slots, double near, double leave);

  struct Car {
    std::string name;
    std::array<double, 2> at{};
  };
  /// With nobody of ours there, nobody is near.
  void update(const std::vector<Car>& cars, const std::vector<std::array<double, 2>>& ours);

  /// Who has each slot; "" = nobody.
  [[nodiscard]] const std::vector<std::string>& slots() const { return slots_; }
  /// Cars nearer than `near` for which no slot was left.
  [[nodiscard]] std::uint32_t left_out() const { return left_out_; }

 private:
  std::vector<std::string> slots_;
  double near_, leave_;
  std::uint32_t left_out_ = 0;
};

}  // namespace isochron::sumo
