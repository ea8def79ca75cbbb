#include "programs/compute.hpp"

namespace isochron::programs {

namespace {

constexpr SimSpan a_look = std::chrono::microseconds(1);

std::uint64_t seed_of(const Compute& compute) {
  const auto* modelled = std::get_if<ModelledCompute>(&compute);
  return modelled == nullptr ? 0 : modelled->seed;
}

bool is_output(protocol::Ask ask) {
  return ask == protocol::Ask::write || ask == protocol::Ask::send || ask == protocol::Ask::wait;
}

}  // namespace

// A computer four times slower (0.25) turns one CPU second into four simulated ones: the inverse of its speed.
ComputeCost::ComputeCost(const ProgramSpec& spec, const std::string& full_name)
    : compute_(spec.compute),
      rate_(spec.cpu_speed.denominator, spec.cpu_speed.numerator),
      slowness_(spec.slowness),
      random_(seed_of(spec.compute), full_name) {}

protocol::ClockMode ComputeCost::clock_mode() const {
  if (measured()) return protocol::ClockMode::flowing;
  if (recorded()) return protocol::ClockMode::replayed;
  const auto* modelled = std::get_if<ModelledCompute>(&compute_);
  if (modelled != nullptr && modelled->clock_read > SimSpan::zero()) return protocol::ClockMode::asked;
  return protocol::ClockMode::held;
}

SimSpan ComputeCost::slowed(SimSpan span) const {
  if (slowness_ == nullptr || *slowness_ == 1) return span;
  return SimSpan::from_ns(static_cast<std::int64_t>(static_cast<double>(span.ns()) * *slowness_));
}

SimSpan ComputeCost::up_to(CpuTime total) {
  const SimSpan all = rate_.apply(total.since_zero());
  const SimSpan more = all - owed_total_;
  if (more <= SimSpan::zero()) return SimSpan::zero();
  owed_total_ = all;
  return slowed(more);
}

SimSpan ComputeCost::draw() {
  const auto& model = std::get<ModelledCompute>(compute_);
  double ns = static_cast<double>(model.cost.ns());
  if (model.shape == ModelledCompute::Shape::uniform) ns += random_.uniform() * static_cast<double>(model.spread.ns());
  if (model.shape == ModelledCompute::Shape::normal) ns += random_.normal() * static_cast<double>(model.spread.ns());
  const auto whole = static_cast<std::int64_t>(ns < 0 ? 0 : ns);
  return slowed(rate_.apply(CpuSpan::from_ns(whole)));
}

SimSpan ComputeCost::of_request(protocol::Ask ask, bool best_effort) {
  const auto* model = std::get_if<ModelledCompute>(&compute_);
  if (model == nullptr) return SimSpan::zero();
  if (ask == protocol::Ask::clock) return rate_.apply(CpuSpan::from_ns(model->clock_read.ns()));
  if (gave_output_ && (ask == protocol::Ask::receive || (ask == protocol::Ask::read && best_effort))) {
    activation_open_ = true;
  }
  if (!is_output(ask)) {
    gave_output_ = gave_output_ && !activation_open_;
    return SimSpan::zero();
  }
  const SimSpan cost = activation_open_ ? draw() : SimSpan::zero();
  activation_open_ = ask == protocol::Ask::wait;
  gave_output_ = ask != protocol::Ask::wait;
  return cost;
}

// Who looks again and again until a time is over would look forever if looking took no time.
SimSpan ComputeCost::of_call(const protocol::Call& call, bool best_effort) {
  const SimSpan look = (call.flags & protocol::does_not_wait) != 0 ? a_look : SimSpan::zero();
  const auto* model = std::get_if<ModelledCompute>(&compute_);
  if (model == nullptr) return look;
  using protocol::SystemCall;
  SimSpan cost = look + slowed(rate_.apply(CpuSpan::from_ns(model->per_call.ns()))) +
                 slowed(rate_.apply(CpuSpan::from_ns(model->per_kilobyte.ns() * std::int64_t{call.size} / 1024)));
  switch (static_cast<SystemCall>(call.call)) {
    case SystemCall::poll:
    case SystemCall::poll_wait:
    case SystemCall::wait_child:
    case SystemCall::wait_signal:
      if ((call.flags & protocol::does_not_wait) == 0) cost += of_request(protocol::Ask::wait, best_effort);
      break;
    case SystemCall::read:
    case SystemCall::accept:
      cost += of_request(protocol::Ask::receive, best_effort);
      break;
    case SystemCall::write:
    case SystemCall::print:
      cost += of_request(protocol::Ask::send, best_effort);
      break;
    default:
      break;
  }
  return cost;
}

const Charge* ComputeCost::next_charge() const {
  const auto& tape = *std::get<RecordedCompute>(compute_).tape;
  return at_ < tape.charges.size() ? &tape.charges[at_] : nullptr;
}

std::uint32_t ComputeCost::clock_links() const {
  return static_cast<std::uint32_t>(std::get<RecordedCompute>(compute_).tape->clocks.size());
}

std::span<const std::byte> ComputeCost::take_clocks(std::uint32_t link) {
  const auto& tape = *std::get<RecordedCompute>(compute_).tape;
  if (clock_at_.size() <= link) clock_at_.resize(link + 1);
  if (link >= tape.clocks.size() || clock_at_[link] == tape.clocks[link].size()) return {};
  return tape.clocks[link][clock_at_[link]++];
}

}  // namespace isochron::programs
