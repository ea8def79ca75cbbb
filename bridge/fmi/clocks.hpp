#pragma once
// The clocks of an FMU of FMI 3.0 for co-simulation. Those that tick by time are ticked by whoever runs the FMU, which
// is us; those that the FMU ticks are looked at in its event mode; those that others trigger tick when a message says so.
//
//     next() ──► the step ends there ──► event mode: due() tick, inputs of these clocks are set, see() ──► ticked()
//
// Promises: the n-th tick of a clock with a constant interval is at shift + n · interval, without adding up errors.
// Requires: begin() in the event mode after initialisation; due(), see() and ticked() in event mode.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "bridge/fmi/description.hpp"
#include "bridge/fmi/instance.hpp"

namespace isochron::fmi {

class Clocks {
 public:
  /// Fails: InputError where the FMU has clocks, and its binary has no functions for them.
  Clocks(const Description& description, const v3::Functions& functions, Verdict& verdict);

  [[nodiscard]] bool any() const { return !timed_.empty() || !outputs_.empty(); }
  void begin(v3::Instance fmu, double start);
  /// When one ticks next by time.
  [[nodiscard]] std::optional<double> next() const;
  /// Ticks those whose time has come. Which ones.
  std::span<const Reference> due(v3::Instance fmu, double now);
  /// Those that the FMU ticks now.
  void see(v3::Instance fmu);
  /// After discrete states have settled: when those that ticked, and those that count down, tick next.
  void ticked(v3::Instance fmu, double now);
  /// A step begins.
  void forget() { std::ranges::fill(ticked_, 0); }
  /// Whether the FMU ticked it since then.
  [[nodiscard]] bool has_ticked(Reference clock) const;

 private:
  struct Timed {
    Reference reference;
    Variable::Interval kind;
    double interval = 0, base = 0;
    std::uint64_t count = 0;  // ticks since base
    bool known = false;       // when it ticks next
    bool due = false;
    [[nodiscard]] double next() const { return base + static_cast<double>(count) * interval; }
  };
  void ask_interval(v3::Instance fmu, Timed& clock, double now);

  const v3::Functions& f_;
  Verdict& verdict_;
  std::vector<Timed> timed_;
  std::vector<double> shifts_;  // of each, as described
  std::vector<Reference> outputs_;
  std::vector<std::uint8_t> ticked_;  // of each output clock
  std::vector<Reference> active_;
};

}  // namespace isochron::fmi
