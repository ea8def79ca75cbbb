#include "bridge/fmi/clocks.hpp"

#include <cmath>

#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

enum Qualifier : int { not_yet_known, unchanged, changed };

bool reached(double now, double tick) { return now >= tick - 1e-12 * std::max(1.0, std::abs(tick)); }

}  // namespace

Clocks::Clocks(const Description& description, const v3::Functions& functions, Verdict& verdict)
    : f_(functions), verdict_(verdict) {
  if (!description.event_mode) return;  // without an event mode nothing can tick
  for (const Variable& variable : description.variables) {
    if (variable.type != Type::clock) continue;
    if (variable.causality == Causality::input && variable.interval_kind != Variable::Interval::triggered) {
      Timed& clock = timed_.emplace_back(Timed{variable.reference, variable.interval_kind});
      clock.interval = variable.interval.value_or(0);
      shifts_.push_back(variable.shift);
    } else if (variable.causality != Causality::input) {
      outputs_.push_back(variable.reference);
    }
  }
  ticked_.resize(outputs_.size());
  if (any() && (f_.get_clock == nullptr || f_.set_clock == nullptr)) {
    throw InputError({}, "the FMU has clocks, and its binary has no fmi3GetClock and fmi3SetClock");
  }
}

void Clocks::begin(v3::Instance fmu, double start) {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    Timed& clock = timed_[i];
    if (clock.kind != Variable::Interval::constant && f_.get_interval != nullptr) ask_interval(fmu, clock, start);
    if (clock.kind == Variable::Interval::countdown) continue;
    double shift = shifts_[i];
    if (clock.kind != Variable::Interval::constant && f_.get_shift != nullptr) {
      (void)f_.get_shift(fmu, &clock.reference, 1, &shift);
    }
    if (!(clock.interval > 0)) verdict_.give_up("the FMU does not say how often its clock ticks");
    clock.base = start + shift;
    clock.count = 0;
    clock.known = true;
  }
}

void Clocks::ask_interval(v3::Instance fmu, Timed& clock, double now) {
  if (f_.get_interval == nullptr) return;
  double interval = clock.interval;
  int qualifier = not_yet_known;
  verdict_.demand(f_.get_interval(fmu, &clock.reference, 1, &interval, &qualifier), "fmi3GetIntervalDecimal");
  const bool countdown = clock.kind == Variable::Interval::countdown;
  if (qualifier != changed && !(qualifier == unchanged && clock.interval == 0)) return;
  if (!(interval > 0) && !(countdown && interval >= 0))
    verdict_.give_up("an interval of the FMU's clock is not positive");
  clock.interval = interval;
  clock.base = now;
  clock.count = 1;
  clock.known = true;
}

std::optional<double> Clocks::next() const {
  std::optional<double> least;
  for (const Timed& clock : timed_) {
    if (clock.known && (!least || clock.next() < *least)) least = clock.next();
  }
  return least;
}

std::span<const Reference> Clocks::due(v3::Instance fmu, double now) {
  active_.clear();
  constexpr bool yes = true;
  for (Timed& clock : timed_) {
    clock.due = clock.known && reached(now, clock.next());
    if (!clock.due) continue;
    active_.push_back(clock.reference);
    verdict_.demand(f_.set_clock(fmu, &clock.reference, 1, &yes), "fmi3SetClock");
  }
  return active_;
}

void Clocks::see(v3::Instance fmu) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    bool ticks = false;
    verdict_.demand(f_.get_clock(fmu, &outputs_[i], 1, &ticks), "fmi3GetClock");
    if (ticks) ticked_[i] = 1;
  }
}

void Clocks::ticked(v3::Instance fmu, double now) {
  for (Timed& clock : timed_) {
    const bool countdown = clock.kind == Variable::Interval::countdown;
    if (clock.due && countdown) clock.known = false;
    if (clock.due && !countdown) ++clock.count;
    const bool asks =
        countdown ||
        (clock.due && (clock.kind == Variable::Interval::changing || clock.kind == Variable::Interval::tunable));
    clock.due = false;
    if (asks) ask_interval(fmu, clock, now);
  }
}

bool Clocks::has_ticked(Reference clock) const {
  const auto found = std::ranges::find(outputs_, clock);
  return found != outputs_.end() && ticked_[static_cast<std::size_t>(found - outputs_.begin())] != 0;
}

}  // namespace isochron::fmi
