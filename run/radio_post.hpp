#pragma once
// The radios of cars that programs drive, as those programs use them: send("v2x", frame), receive("v2x"). A frame is
// the octets of one message as it goes over the air (SAE J2735, UPER), of type `octets`.
//
// Promises: a frame reaches programs at the time at which the medium delivered it. What a program sends goes on the air
//           one heartbeat later.
// Fails:    what is no frame, or is too much for a radio, is refused with a sentence to the program that sent it.
// Threads:  its client's programs'.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "programs/correspondent.hpp"
#include "scenario/scenario.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {

class RadioPost final : public programs::Correspondent {
 public:
  /// `scenario` has the robots of this client.
  RadioPost(const Scenario& scenario, V2xUnit& unit);

  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  void exchange(programs::Post& post, SimTime now, SimTime until) override;
  /// Who else is told of each frame that a car hears, before it arrives; `radio` as in names().
  using OnFrame = std::function<void(const std::string& radio, SimTime arrives, std::span<const std::uint8_t> octets)>;
  void tell_frames(OnFrame on_frame) { on_frame_ = std::move(on_frame); }
  /// Sends what did not come from a program at the desk. False: it is more than a radio can, or there is none.
  bool say(const std::string& robot, SimTime at, std::span<const std::byte> octets);
  static constexpr std::size_t longest_frame = 1400;  // as IEEE 1609.3 has it

 private:
  void take_sent(programs::Post& post, std::uint32_t radio, SimTime now);

  V2xUnit& unit_;
  std::vector<std::string> names_;  // "car01/v2x"
  std::vector<std::string> cars_;   // of each
  OnFrame on_frame_;
};

/// Why a radio does not send what a program gave it; "" = it does.
std::string wrong_with_frame(const protocol::Letter& letter);

}  // namespace isochron
