// Listens to the radio of its car and says whom it does not believe, and why. A message with a valid form, and even one
// with a valid signature, may be untrue: these checks compare what is said with what was said before, with what others
// say, and with where this car itself is. Usage: as a program of a robot with a radio (see plausibility.yaml).

#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "client/client.hpp"
#include "msg/robot_types.hpp"
#include "v2x/codec/codec.hpp"
#include "v2x/station/geo_frame.hpp"

namespace {

using namespace isochron;

constexpr double jump_m = 3;          // more than its speed and braking explain
constexpr double fastest_change = 9;  // m/s², of any vehicle
constexpr double near_m = 60;         // who begins to speak here was there before, and silent
constexpr double listened_s = 1;      // after that, whoever is near is known
constexpr double touching_m = 1.5;    // two middles so close are one vehicle, or none
constexpr int alike_for = 10;         // messages: two who move exactly alike for so long are one

struct Vehicle {
  double heard_s = 0;
  v2x::Vec3 at;
  double speed = 0, heading = 0, acceleration = 0;
  std::map<std::uint32_t, int> alike;  // how often another one said exactly the same of its motion
};

class Guard {
 public:
  explicit Guard(Robot& robot) : robot_(robot) {}

  void hear(double now_s, const std::vector<std::uint8_t>& octets) {
    const auto frame = v2x::decode(octets);
    if (!frame.ok()) return;  // refused by the unit already
    if (const auto* bsm = std::get_if<v2x::Bsm>(&frame->message)) look_at(now_s, bsm->core);
    if (const auto* spat = std::get_if<v2x::Spat>(&frame->message)) look_at(now_s, *spat);
  }

 private:
  void look_at(double now_s, const v2x::BsmCore& core) {
    if (!core.latitude_deg || !core.longitude_deg || !core.speed_m_s || !core.heading_rad) return;
    Vehicle said;
    said.heard_s = now_s;
    said.at = frame_.from(*core.latitude_deg, *core.longitude_deg);
    said.speed = *core.speed_m_s;
    said.heading = *core.heading_rad;
    said.acceleration = core.acceleration.longitudinal_m_s2.value_or(0);
    const auto before = vehicles_.find(core.id);
    const auto own = robot_.read<Motion>("pose").position;
    const double from_me = std::hypot(said.at.x - own[0], said.at.y - own[1]);
    if (before == vehicles_.end()) {
      if (now_s > listened_s && from_me < near_m)
        doubt(now_s, core.id, "appears out of nowhere, " + metres(from_me) + " from here");
    } else {
      compare(now_s, core.id, before->second, said);
      said.alike = std::move(before->second.alike);
    }
    if (from_me < touching_m) doubt(now_s, core.id, "says that it is where this car is");
    compare_with_others(now_s, core.id, said);
    vehicles_[core.id] = std::move(said);
  }

  /// What it says now, and what it said last.
  void compare(double now_s, std::uint32_t id, const Vehicle& last, const Vehicle& said) {
    const double t = now_s - last.heard_s;
    if (t <= 0 || t > 2) return;
    const double east = std::sin(last.heading), north = std::cos(last.heading);
    const double off =
        std::hypot(said.at.x - last.at.x - east * last.speed * t, said.at.y - last.at.y - north * last.speed * t);
    if (off > jump_m + fastest_change * t * t / 2) doubt(now_s, id, "is " + metres(off) + " from where it was going");
    if (std::fabs(said.speed - last.speed) > 1 + fastest_change * t)
      doubt(now_s, id, "changes its speed as nothing that drives can");
    const double moved_east = said.at.x - last.at.x, moved_north = said.at.y - last.at.y,
                 way = std::hypot(moved_east, moved_north);
    if (way > 0.5 && (moved_east * std::sin(said.heading) + moved_north * std::cos(said.heading)) < 0.3 * way) {
      doubt(now_s, id, "does not move where it says that it heads");
    }
  }

  void compare_with_others(double now_s, std::uint32_t id, Vehicle& said) {
    for (const auto& [other_id, other] : vehicles_) {
      if (other_id == id || now_s - other.heard_s > 0.3) continue;
      if (std::hypot(said.at.x - other.at.x, said.at.y - other.at.y) < touching_m) {
        doubt(now_s, id, "stands within " + name(other_id));
      }
      const bool moves = said.speed > 0.5;
      const bool alike = moves && said.speed == other.speed && said.heading == other.heading &&
                         said.acceleration == other.acceleration;
      int& count = said.alike[other_id];
      count = alike ? count + 1 : 0;
      if (count == alike_for) doubt(now_s, id, "moves exactly as " + name(other_id) + " does: one radio, two names");
    }
  }

  /// Signals of one intersection do not all show green.
  void look_at(double now_s, const v2x::Spat& spat) {
    for (const v2x::IntersectionState& intersection : spat.intersections) {
      std::size_t green = 0;
      for (const v2x::MovementState& movement : intersection.movements) {
        green += !movement.events.empty() && movement.events[0].state == v2x::SignalState::protected_movement_allowed;
      }
      if (green > 1 && green == intersection.movements.size()) {
        doubt(now_s, static_cast<std::uint32_t>(intersection.id.id), "shows green to everybody", "lights ");
      }
    }
  }

  void doubt(double now_s, std::uint32_t id, const std::string& what, const std::string& kind = "") {
    const std::string sentence = kind + name(id) + " " + what;
    if (!said_.insert({kind + name(id), what.substr(0, 12)}).second) return;  // once of a kind is enough
    std::printf("%.2f %s\n", now_s, sentence.c_str());
    std::fflush(stdout);
    robot_.log(sentence);
  }

  static std::string name(std::uint32_t id) {
    char text[16];
    std::snprintf(text, sizeof text, "%X", id);
    return text;
  }
  static std::string metres(double m) { return std::to_string(static_cast<int>(std::round(m))) + " m"; }

  Robot& robot_;
  v2x::GeoFrame frame_{43.0731, -89.4009, 260};  // as `v2x` has the world's origin
  std::map<std::uint32_t, Vehicle> vehicles_;
  std::set<std::pair<std::string, std::string>> said_;
};

}  // namespace

int main() {
  Robot robot = attach();
  Guard guard(robot);
  (void)robot.receive_octets("v2x");  // from here on it listens
  while (robot.wait()) {
    while (const auto heard = robot.receive_octets("v2x")) guard.hear(heard->sent.since_zero().seconds(), heard->value);
  }
}
