#pragma once
// Steps of an FMU for model exchange: it brings equations, and a solver here goes through them from event to event.
//
//     event mode ── discrete states settle ──► continuous time ── solver steps ──► an indicator changed its sign, the
//         ▲                                                                        announced time came, or the FMU asks
//         └────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Requires: begin() after initialisation, in event mode; then step().

#include <functional>
#include <optional>

#include "bridge/fmi/instance.hpp"
#include "bridge/fmi/solver.hpp"

namespace isochron::fmi {

/// What is called in the FMU.
class ExchangeCalls : public Equations {
 public:
  /// The FMU ended the simulation.
  [[nodiscard]] virtual bool is_over() const = 0;
  /// The values of time and states from now on.
  virtual void place(double t, std::span<const double> x) = 0;
  virtual void read_states(std::span<double> x) = 0;
  /// After each step of the solver. Whether the FMU wants event mode.
  virtual bool completed_step() = 0;
  virtual void enter_events() = 0;
  /// Lets discrete states settle and goes back to continuous time. When the next event is, if that is known.
  virtual std::optional<double> leave_events() = 0;
};

class Exchange {
 public:
  Exchange(ExchangeCalls& calls, const Solver::Settings& settings) : calls_(calls), settings_(settings) {}
  void begin(double start);
  /// Sets inputs at an event.
  void set_inputs(const std::function<void()>& set);
  void step(const Instance::Stretch& stretch);

 private:
  void settle();
  void handle_events();
  void advance(double goal);

  ExchangeCalls& calls_;
  Solver::Settings settings_;
  std::unique_ptr<Solver> solver_;
  std::vector<double> states_;
  std::optional<double> next_event_;
  double time_ = 0;
  int standing_ = 0;  // events since time went on
};

}  // namespace isochron::fmi
