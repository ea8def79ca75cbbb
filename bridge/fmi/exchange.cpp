#include "bridge/fmi/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace isochron::fmi {

void Exchange::begin(double start) {
  time_ = start;
  solver_ = Solver::make(calls_, settings_);
  states_.resize(calls_.state_count());
  settle();
}

/// From event mode to continuous time.
void Exchange::settle() {
  constexpr int patience = 10'000;
  if (++standing_ > patience) throw std::runtime_error("the FMU's events do not come to an end");
  next_event_ = calls_.leave_events();
  calls_.read_states(states_);
  solver_->restart(time_, states_);
}

void Exchange::handle_events() {
  calls_.enter_events();
  settle();
}

void Exchange::set_inputs(const std::function<void()>& set) {
  calls_.enter_events();
  set();
  settle();
}

void Exchange::advance(double goal) {
  const bool rounding = goal - time_ <= 1e-12 * std::max(1.0, std::abs(goal));
  if (rounding) solver_->restart(goal, std::vector<double>(solver_->states().begin(), solver_->states().end()));
  const bool crossed = !rounding && solver_->step(goal);
  if (solver_->time() > time_) standing_ = 0;
  time_ = solver_->time();
  calls_.place(time_, solver_->states());
  const bool wanted = calls_.completed_step();
  const bool due = next_event_ && time_ >= *next_event_;
  if ((crossed || wanted || due) && !calls_.is_over()) handle_events();
}

void Exchange::step(const Instance::Stretch& stretch) {
  while (time_ < stretch.to && !calls_.is_over()) {
    const bool event = next_event_ && *next_event_ > time_ && *next_event_ < stretch.to;
    advance(event ? *next_event_ : stretch.to);
  }
  time_ = stretch.to;
}

}  // namespace isochron::fmi
