#include "experiments/atlas/state_log.hpp"

#include <algorithm>

namespace atlas {
namespace {

/// Walks over all parts in one order; what is done with each is the caller's.
template <class Part>
void controller_parts(const Controller& c, Part&& part) {
  const RobotModel& m = c.model();
  const QuadraticProgram& qp = c.problem();
  const auto matrix = [&](const char* of, const char* name, const auto& values) {
    part(of, name, values.data(), static_cast<std::size_t>(values.size()));
  };
  part("controller", "torque", c.torques().torque.data(), std::size_t{joints});
  matrix("qp", "H", qp.H);
  matrix("qp", "g", qp.g);
  matrix("qp", "x", qp.x());
  matrix("model", "M", m.M());
  matrix("model", "h", m.h());
  const auto frame = [&](const char* name, const Frame& f) {
    matrix(name, "J_linear", f.J_linear);
    matrix(name, "J_angular", f.J_angular);
    matrix(name, "position", f.position);
    matrix(name, "linear", f.linear);
  };
  frame("left_sole", m.sole(left));
  frame("right_sole", m.sole(right));
  frame("pelvis", m.pelvis());
  frame("chest", m.chest());
  matrix("qp", "A", qp.A);
}

template <class Part>
void estimator_parts(const Sensors& s, const Estimate& e, Part&& part) {
  const auto array = [&](const char* of, const char* name, const auto& values) {
    part(of, name, values.data(), values.size());
  };
  array("sensors", "position", s.position);
  array("sensors", "velocity", s.velocity);
  array("sensors", "orientation", s.orientation);
  array("sensors", "angular_velocity", s.angular_velocity);
  array("sensors", "acceleration", s.acceleration);
  array("sensors", "foot_force", s.foot_force);
  array("estimate", "position", e.position);
  array("estimate", "velocity", e.velocity);
  array("estimate", "centre", e.centre);
  array("estimate", "centre_velocity", e.centre_velocity);
  array("estimate", "contact", e.contact);
}

/// Fills from the front and leaves out what does not fit.
struct Filler {
  std::span<double> values;
  std::size_t at = 0;
  void operator()(const char*, const char*, const double* from, std::size_t n) {
    n = std::min(n, values.size() - at);
    std::copy_n(from, n, values.begin() + static_cast<std::ptrdiff_t>(at));
    at += n;
  }
};

struct Namer {
  std::vector<std::string>& names;
  std::size_t until;
  void operator()(const std::string& of, const char* name, const double*, std::size_t n) {
    for (std::size_t i = 0; i < n && names.size() < until; ++i) {
      names.push_back(of + "." + name + "[" + std::to_string(i) + "]");
    }
  }
};

}  // namespace

void ControllerState::copy(const Controller& controller) {
  Filler filler{values};
  controller_parts(controller, filler);
}

void copy(const Sensors& sensors, const Estimate& estimate, std::span<double, estimator_state> values) {
  Filler filler{values};
  estimator_parts(sensors, estimate, filler);
}

std::vector<std::string> logged_names() {
  std::vector<std::string> names;
  Namer estimator{names, estimator_state};
  estimator_parts({}, {}, estimator);
  Namer namer{names, logged_variables};
  controller_parts(Controller(ATLAS_MODEL), namer);
  return names;
}

}  // namespace atlas
