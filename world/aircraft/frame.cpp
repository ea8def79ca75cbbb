#include "world/aircraft/frame.hpp"

#include <cmath>

namespace isochron::world {
namespace {

constexpr double degree = 3.14159265358979323846 / 180;

}  // namespace

std::vector<Rotor> rotors_of(MultirotorFrame frame, double arm, double height) {
  struct Seat {
    double angle;  // clockwise from the nose, degrees
    double direction;
  };
  static const std::vector<Seat> quad_x{{45, 1}, {-135, 1}, {-45, -1}, {135, -1}};
  static const std::vector<Seat> quad_plus{{90, 1}, {-90, 1}, {0, -1}, {180, -1}};
  static const std::vector<Seat> hexa_x{{90, -1}, {-90, 1}, {-30, -1}, {150, 1}, {30, 1}, {-150, -1}};
  std::vector<Rotor> rotors;
  for (const Seat& seat : frame == MultirotorFrame::quad_x      ? quad_x
                          : frame == MultirotorFrame::quad_plus ? quad_plus
                                                                : hexa_x) {
    const double angle = seat.angle * degree;
    rotors.push_back({{arm * std::cos(angle), -arm * std::sin(angle), height}, {0, 0, 1}, seat.direction});
  }
  return rotors;
}

}  // namespace isochron::world
