#include "coordinator/callee.hpp"

#include "core/time_text.hpp"
#include "rt/cpu_clock.hpp"

namespace isochron::coordinator {

using protocol::Ask;

namespace {
CpuTime thread_time() {
  return CpuTime::from_ns(rt::CpuClock::this_thread().now().value_or(rt::nanoseconds(0)).count());
}
}  // namespace

Callee::Callee(const ProgramSpec& spec, const std::string& robot, House& house)
    : spec_(spec), house_(house), cost_(spec, robot + "/" + spec.name) {
  figures_.name = robot + "/" + spec.name;
}

void Callee::sits(Schedule& schedule, std::uint32_t program, std::uint32_t cpu) {
  schedule_ = &schedule;
  program_ = program;
  cpu_ = cpu;
}

void Callee::start(SimTime at) {
  tell(Happening::Kind::start, at);
  (void)cost_.of_request(Ask::wait, spec_.best_effort);  // modelled: from here on an activation costs
  stage_ = Stage::waits;
  schedule_->arrived(program_, false);
}

void Callee::operate(SimTime at) {
  if (const SimSpan more = house_.delay(figures_.name); more > SimSpan::zero()) {
    return schedule_->executed(program_, more);
  }
  switch (stage_) {
    case Stage::waits:
      return wait(at);
    case Stage::calls:
      return call(at);
    case Stage::writes:
      return write(at);
  }
}

void Callee::wait(SimTime at) {
  const Releases::Next next = releases_.wait(spec_.terms(), spec_.every, at, at);
  figures_.overruns += next.overrun ? 1 : 0;
  figures_.missed += next.missed();
  schedule_->suspend(program_, 0, next.goes_on, false, false);
}

void Callee::wake(SimTime at) {
  ++figures_.activations;
  tell(Happening::Kind::release, at, UINT32_MAX, {}, releases_.release());
  stage_ = Stage::calls;
  schedule_->arrived(program_, true);
}

void Callee::call(SimTime at) {
  house_.show_world(at);
  const CpuTime before = thread_time();
  const auto commands = spec_.called->call(at);
  const CpuSpan executed = thread_time() - before;
  house_.computed();
  if (!commands.ok()) return leave(at, commands.error());
  commands_.assign(commands->begin(), commands->end());
  schedule_->resume(program_);
  schedule_->executed(program_, cost_of_call(executed));
  stage_ = Stage::writes;
  schedule_->arrived(program_, false);
}

/// What was executed is the same in every contract; what it is worth is not.
SimSpan Callee::cost_of_call(CpuSpan executed) {
  if (cost_.recorded()) {
    const Charge* charge = cost_.next_charge();
    if (charge == nullptr) {
      ++figures_.replay_parted;
      figures_.parted = "was released more often than in its record";
      return {};
    }
    cpu_total_ = charge->total;
    cost_.take_charge();
    return cost_.up_to(cpu_total_);
  }
  cpu_total_ += executed;
  if (!cost_.measured()) return cost_.of_request(Ask::write, spec_.best_effort);
  house_.charged(program_, {Charge::Kind::asked, false, 0, static_cast<std::uint8_t>(Ask::write), cpu_total_, {}, 0});
  return cost_.up_to(cpu_total_);
}

void Callee::write(SimTime at) {
  for (const CalledProgram::Command& command : commands_) {
    const auto bytes = std::as_bytes(std::span(&command.value, 1));
    ++figures_.writes;
    tell(Happening::Kind::write, at, command.variable, bytes);
    house_.write(cpu_, at, command.variable, bytes);
  }
  (void)cost_.of_request(Ask::wait, spec_.best_effort);
  wait(at);
  stage_ = Stage::waits;
}

void Callee::leave(SimTime at, const std::string& why) {
  figures_.failed = true;
  figures_.ended = why + ", at " + to_string(at);
  figures_.last_state = "it was called at " + to_string(at);
  tell(Happening::Kind::end, at, UINT32_MAX, std::as_bytes(std::span(why)));
  schedule_->leave(program_);
  if (spec_.on_failure == OnFailure::end_run) house_.failed(program_, at);
}

}  // namespace isochron::coordinator
