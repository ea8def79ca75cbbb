#include "world/actuators/actuator.hpp"

#include <algorithm>
#include <cmath>

#include "core/ensure.hpp"
#include "core/nearest_name.hpp"
#include "core/time_text.hpp"
#include "world/names.hpp"
#include "world/sensors/repeatable.hpp"

namespace isochron::world {
namespace {

double round_to(double value, double resolution) {
  return resolution > 0 ? std::round(value / resolution) * resolution : value;
}

/// The size of `known` if there is none.
std::size_t index_of(const std::string& name, const std::vector<ActuatorInfo>& known) {
  return static_cast<std::size_t>(
      std::find_if(known.begin(), known.end(), [&](const ActuatorInfo& info) { return info.name == name; }) -
      known.begin());
}

/// As the spec says, or its own name with the robot's in front if the model has that, or its own name.
std::string model_name(const ActuatorSpec& spec, const std::vector<ActuatorInfo>& known) {
  if (!spec.actuator.empty()) return spec.actuator;
  const std::string own = spec.robot + "/" + spec.name;
  return index_of(own, known) < known.size() ? own : spec.name;
}

}  // namespace

std::vector<Mistake> check(const ActuatorSpec& spec, const std::vector<ActuatorInfo>& known) {
  std::vector<Mistake> mistakes;
  const std::string who = "actuator `" + (spec.robot.empty() ? "" : spec.robot + "/") + spec.name + "`: ";
  const auto demand = [&](bool holds, const std::string& what, const std::string& hint = {}) {
    if (!holds) mistakes.push_back({spec.place, who + what, hint});
  };
  if (const std::string name = model_name(spec, known); index_of(name, known) == known.size()) {
    demand(false, "the model has no actuator `" + name + "`", nearest_hint(name, names_of(known)));
  }
  demand(spec.delay >= SimSpan::zero(), "delay is negative");
  demand(spec.lag >= SimSpan::zero(), "lag is negative");
  demand(spec.rate >= 0 && std::isfinite(spec.rate), "rate must be a number of at least 0");
  demand(spec.resolution >= 0 && std::isfinite(spec.resolution), "resolution must be a number of at least 0");
  demand(spec.low <= spec.high, "low must not be above high");
  demand(std::isfinite(spec.initial), "initial is not a number");
  demand(spec.on_their_way >= 1 && spec.on_their_way <= 1'000'000, "on_their_way must be 1 to 1000000");
  return mistakes;
}

std::string to_string(const CommandRefused& refused) {
  const std::string who = std::string("actuator ") + refused.actuator + " at " + to_string(refused.at) + ": ";
  return who + (refused.why == CommandRefused::Why::not_a_number ? "the command is not a number"
                                                                 : "too many commands on their way");
}

Actuator::Actuator(ActuatorSpec spec, const std::vector<ActuatorInfo>& known) : spec_(std::move(spec)) {
  if (auto mistakes = check(spec_, known); !mistakes.empty()) throw InputError(std::move(mistakes));
  index_ = static_cast<std::uint32_t>(index_of(model_name(spec_, known), known));
  const ActuatorInfo& info = known[index_];
  const bool own_limits = spec_.low < spec_.high;
  low_ = own_limits ? spec_.low : info.low < info.high ? info.low : -INFINITY;
  high_ = own_limits ? spec_.high : info.low < info.high ? info.high : INFINITY;
  ring_.resize(spec_.on_their_way);
  target_ = slewed_ = value_ = std::clamp(spec_.initial, low_, high_);
}

Result<Done, CommandRefused> Actuator::command(SimTime now, double value) {
  if (!std::isfinite(value)) return fail(CommandRefused{CommandRefused::Why::not_a_number, spec_.name.c_str(), now});
  const SimTime felt = now + spec_.delay;
  if (end_ > first_) {
    Sent& last = ring_[(end_ - 1) % ring_.size()];
    ENSURE(felt >= last.felt, "a command was sent before the one before it");
    if (felt == last.felt) return last.value = value, done();
  }
  if (end_ - first_ == ring_.size())
    return fail(CommandRefused{CommandRefused::Why::too_many, spec_.name.c_str(), now});
  ring_[end_++ % ring_.size()] = {felt, value};
  return done();
}

double Actuator::value_at(SimTime now) {
  ENSURE(now >= now_, "an actuator was asked about the past");
  while (first_ < end_ && ring_[first_ % ring_.size()].felt <= now) {
    const Sent& sent = ring_[first_++ % ring_.size()];
    advance(sent.felt);
    target_ = std::clamp(round_to(std::clamp(sent.value, low_, high_), spec_.resolution), low_, high_);
    if (spec_.rate <= 0) slewed_ = target_;
    if (spec_.rate <= 0 && spec_.lag == SimSpan::zero()) value_ = target_;
  }
  advance(now);
  return value_;
}

void Actuator::advance(SimTime to) {
  if (to <= now_) return;
  follow((to - now_).seconds());
  now_ = to;
}

/// The target stands still for that long: first the rate limit moves at constant speed, then it has arrived. The lag y
/// follows u = u0 + r t with y(t) = u(t) − r τ + (y0 − u0 + r τ) exp(−t/τ).
void Actuator::follow(double seconds) {
  const double way = target_ - slewed_;
  const double speed = spec_.rate <= 0 ? 0 : way < 0 ? -spec_.rate : spec_.rate;
  const double moving = spec_.rate <= 0 ? 0 : std::min(seconds, way / speed);
  const bool arrives = moving < seconds || spec_.rate <= 0;
  const double tau = spec_.lag.seconds();
  const double start = slewed_;
  slewed_ = arrives ? target_ : start + speed * moving;
  if (!(tau > 0)) {
    value_ = slewed_;
    return;
  }
  if (moving > 0) value_ = slewed_ - speed * tau + (value_ - start + speed * tau) * repeatable_exp(-moving / tau);
  if (seconds > moving) value_ = slewed_ + (value_ - slewed_) * repeatable_exp(-(seconds - moving) / tau);
}

}  // namespace isochron::world
