#pragma once
// Everything that moves through time is a participant: a physics world, a controller, a planner, a sensor, a board, the
// agents of another machine. Inside Isochron it is known by a small number, its place in the declared order.

#include <compare>
#include <cstdint>

namespace isochron {

class ParticipantId {
 public:
  constexpr ParticipantId() = default;
  constexpr explicit ParticipantId(std::uint32_t index) : index_(index) {}
  [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
  [[nodiscard]] constexpr bool valid() const { return index_ != UINT32_MAX; }
  friend constexpr auto operator<=>(ParticipantId, ParticipantId) = default;

 private:
  std::uint32_t index_ = UINT32_MAX;
};

}  // namespace isochron
