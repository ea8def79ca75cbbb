#include "scenario/aircraft_section.hpp"

#include <cmath>

#include "world/vectors.hpp"

namespace isochron {
namespace {

class Checker {
 public:
  explicit Checker(std::vector<Mistake>& mistakes) : mistakes_(mistakes) {}

  void check(const AircraftSection& s) {
    check_frame(s);
    check_rotor(s.rotor);
    for (const double area : s.drag_area) {
      if (!(area >= 0)) say(s, "drag_area", "must not be negative", "");
    }
    if (s.battery) check_battery(*s.battery);
    if (s.autopilot) check_autopilot(*s.autopilot, s);
  }

 private:
  void say(const Section& section, std::string_view key, std::string what, std::string hint) {
    mistakes_.push_back({section.place_of(key), "`" + std::string(key) + "` " + std::move(what), std::move(hint)});
  }
  void positive(const Section& section, const char* key, double value) {
    if (!(value > 0) || std::isinf(value)) say(section, key, "must be positive", "");
  }
  void not_negative(const Section& section, const char* key, double value) {
    if (!(value >= 0) || std::isinf(value)) say(section, key, "must not be negative", "");
  }

  void check_frame(const AircraftSection& s) {
    positive(s, "arm", s.arm);
    if (s.rotors.empty()) return;
    for (const char* key : {"frame", "arm", "rotor_height"}) {
      if (s.key_places.contains(key)) say(s, key, "has no meaning beside `rotors`", "leave one of them out");
    }
    for (const RotorPlaceSection& rotor : s.rotors) {
      if (!(world::length(rotor.axis) > 1e-6)) say(rotor, "axis", "must point somewhere", "as in [0, 0, 1]");
    }
  }
  void check_rotor(const RotorSection& r) {
    positive(r, "max_speed", r.max_speed);
    positive(r, "radius", r.radius);
    not_negative(r, "thrust_factor", r.thrust_factor);
    not_negative(r, "torque_factor", r.torque_factor);
    not_negative(r, "spin_up", r.spin_up);
    not_negative(r, "spin_down", r.spin_down);
    not_negative(r, "inertia", r.inertia);
    not_negative(r, "induced_drag", r.induced_drag);
    not_negative(r, "climb", r.climb);
    check_curve(r, "thrust_curve", "thrust_factor", r.thrust_curve);
    check_curve(r, "torque_curve", "torque_factor", r.torque_curve);
  }
  void check_curve(const RotorSection& r, const char* key, const char* factor,
                   const std::vector<std::array<double, 2>>& curve) {
    if (curve.empty()) return;
    if (r.key_places.contains(factor))
      say(r, factor, std::string("has no meaning beside `") + key + "`", "leave it out");
    double last = 0;
    for (const auto& [speed, value] : curve) {
      if (!(speed > last)) return say(r, key, "must have growing speeds, the first one above 0", "");
      last = speed;
    }
  }
  void check_battery(const OptionsSection<world::BatterySettings>& b) {
    positive(b, "capacity", b.capacity);
    positive(b, "full", b.full);
    positive(b, "empty", b.empty);
    if (b.empty > b.full) say(b, "empty", "must not be more than `full`", "");
    not_negative(b, "resistance", b.resistance);
    not_negative(b, "electronics", b.electronics);
    if (!(b.efficiency > 0 && b.efficiency <= 1)) say(b, "efficiency", "must be more than 0 and at most 1", "");
    if (!(b.charge >= 0 && b.charge <= 1)) say(b, "charge", "must be 0 to 1", "");
  }
  void check_autopilot(const AutopilotSection& a, const AircraftSection& s) {
    if (a.every <= SimSpan::zero()) say(a, "every", "must be positive", "");
    positive(a, "leash", a.leash);
    positive(a, "max_speed", a.max_speed);
    positive(a, "max_climb", a.max_climb);
    positive(a, "max_acceleration", a.max_acceleration);
    if (!(a.max_tilt > 0 && a.max_tilt < 1.4)) say(a, "max_tilt", "must be more than 0 and less than 1.4 rad", "");
    positive(a, "max_yaw_rate", a.max_yaw_rate);
    for (const double j : a.inertia.value_or(std::array<double, 3>{1, 1, 1})) positive(a, "inertia", j);
    if (!s.rotors.empty() && s.rotors.size() < 4) say(s, "autopilot", "needs at least four rotors", "");
  }
  std::vector<Mistake>& mistakes_;
};

}  // namespace

void check_aircraft(const AircraftSection& section, std::vector<Mistake>& mistakes) {
  Checker(mistakes).check(section);
}

}  // namespace isochron
