#pragma once
// The inner state of estimator and controller as 8,000 named numbers, for the log: all that a person would want to see
// afterwards when the robot fell, most of it the matrices of the controller's problem.
//
// Threads: the controller's part is written by its thread and handed over whole. Cost: copies, no allocation.

#include <span>
#include <string>
#include <vector>

#include "experiments/atlas/controller.hpp"

namespace atlas {

inline constexpr std::size_t logged_variables = 8000;

/// The controller's part, as it was at one activation.
struct ControllerState {
  static constexpr std::size_t size = logged_variables - 145;
  std::array<double, size> values{};
  void copy(const Controller& controller);
};
/// The estimator's: what came in and what it made of it.
inline constexpr std::size_t estimator_state = logged_variables - ControllerState::size;
void copy(const Sensors& sensors, const Estimate& estimate, std::span<double, estimator_state> values);

/// Names of all of them, the estimator's first.
std::vector<std::string> logged_names();

}  // namespace atlas
