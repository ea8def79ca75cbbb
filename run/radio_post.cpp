#include "run/radio_post.hpp"

#include <algorithm>

namespace isochron {
namespace {

constexpr const char* frame_type = "octets";

/// The body of an agent.
const std::string& body_of(const Scenario& scenario, const std::string& agent) {
  const auto found =
      std::ranges::find(scenario.agents->members, agent, [](const auto& member) { return member.first; });
  return found->second.body.empty() ? agent : found->second.body;
}

}  // namespace

std::string wrong_with_frame(const protocol::Letter& letter) {
  if (letter.type != frame_type) return "sends " + letter.type + " by radio; a frame is sent as `octets`";
  if (!letter.bytes.empty() && letter.bytes.size() <= RadioPost::longest_frame) return "";
  return "sends a frame of " + std::to_string(letter.bytes.size()) + " octets by radio; it must have 1 to " +
         std::to_string(RadioPost::longest_frame);
}

RadioPost::RadioPost(const Scenario& scenario, V2xUnit& unit) : unit_(unit) {
  for (const std::string& car : unit.programmed()) {
    for (const auto& [robot, section] : scenario.robots) {
      if ((section.body.empty() ? robot : section.body) != body_of(scenario, car)) continue;
      names_.push_back(robot + "/v2x");
      cars_.push_back(car);
    }
  }
}

void RadioPost::exchange(programs::Post& post, SimTime now, SimTime until) {
  for (std::uint32_t radio = 0; radio < names_.size(); ++radio) take_sent(post, radio, now);
  unit_.give_programs(until, [&](const v2x::AirDelivery& delivery) {
    for (std::uint32_t radio = 0; radio < names_.size(); ++radio) {
      if (cars_[radio] != delivery.to) continue;
      const SimTime arrives = std::max(delivery.received, now);
      post.hand_in(radio, delivery.sent, arrives, frame_type, std::as_bytes(std::span(delivery.octets)));
      if (on_frame_) on_frame_(names_[radio], arrives, delivery.octets);
    }
  });
}

bool RadioPost::say(const std::string& robot, SimTime at, std::span<const std::byte> octets) {
  const auto found = std::ranges::find(names_, robot + "/v2x");
  return found != names_.end() && unit_.say(cars_[static_cast<std::size_t>(found - names_.begin())], at, octets);
}

void RadioPost::take_sent(programs::Post& post, std::uint32_t radio, SimTime now) {
  while (const auto letter = post.take(radio, now)) {
    if (const std::string wrong = wrong_with_frame(*letter); !wrong.empty()) {
      post.complain(*letter, wrong);
    } else if (!unit_.say(cars_[radio], letter->sent, letter->bytes)) {
      post.complain(*letter, "sends more than its radio can: the frame is dropped");
    }
  }
}

}  // namespace isochron
