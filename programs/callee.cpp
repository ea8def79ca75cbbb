#include "programs/callee.hpp"

#include <utility>

#include "core/ensure.hpp"
#include "core/time_text.hpp"
#include "rt/cpu_clock.hpp"

namespace isochron::programs {

using protocol::Ask;

namespace {
CpuTime thread_time() {
  return CpuTime::from_ns(rt::CpuClock::this_thread().now().value_or(rt::nanoseconds(0)).count());
}
}  // namespace

Callee::Callee(const ProgramSpec& spec, const std::string& robot, House& house)
    : spec_(spec), robot_(robot), house_(house), cost_(spec, robot + "/" + spec.name) {
  figures_.name = robot + "/" + spec.name;
}

void Callee::sits(Timeline& timeline, Desk& desk, std::uint32_t program, std::uint32_t cpu) {
  timeline_ = &timeline;
  desk_ = &desk;
  program_ = program;
  cpu_ = cpu;
}

void Callee::start(SimTime at) {
  desk_->started(program_, at);
  (void)cost_.of_request(Ask::wait, spec_.best_effort);  // modelled: from here on an activation costs
  stage_ = Stage::waits;
  timeline_->arrived(program_, false);
}

bool Callee::meets_trouble(SimTime at) {
  Trouble* trouble = house_.trouble();
  if (trouble == nullptr) return false;
  if (const SimSpan more = trouble->take_delay(figures_.name, at); more > SimSpan::zero()) {
    return timeline_->executed(program_, more), true;
  }
  if (const SimTime until = trouble->stopped_until(figures_.name, at); until > at) {
    stopped_ = true;
    return timeline_->suspend(program_, 0, until, false, false), true;
  }
  return trouble->take_end(figures_.name, at) && (leave(at, "was killed by a fault"), true);
}

void Callee::operate(SimTime at) {
  if (meets_trouble(at)) return;
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
  reply_.reset();
  const auto later = desk_->act(program_, 0, at, {.ask = Ask::wait}, reply_);
  ENSURE(later, "a called program without a period");
  timeline_->suspend(program_, 0, later->until, false, false);
}

void Callee::wake(SimTime at) {
  if (std::exchange(stopped_, false)) return timeline_->arrived(program_, stage_ == Stage::calls);
  desk_->wake(program_, 0, at, reply_);
  stage_ = Stage::calls;
  timeline_->arrived(program_, true);
}

void Callee::call(SimTime at) {
  house_.show_world(at);
  const CpuTime before = thread_time();
  called_at_ = at;
  sent_.clear();
  const auto commands = spec_.called->call(at, *this);
  const CpuSpan executed = thread_time() - before;
  house_.computed();
  if (!commands.ok()) return leave(at, commands.error());
  commands_.assign(commands->begin(), commands->end());
  timeline_->resume(program_);
  timeline_->executed(program_, cost_of_call(executed));
  stage_ = Stage::writes;
  timeline_->arrived(program_, false);
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
    house_.charged(program_, *charge);  // so that the journal of a replay can be replayed in turn
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
    desk_->write(program_, at, command.variable, std::as_bytes(std::span(&command.value, 1)));
  }
  for (const Sent& letter : sent_) {
    reply_.reset();
    (void)desk_->act(program_, 0, at,
                     {.ask = Ask::send, .name = letter.to, .type = letter.type, .payload = letter.bytes}, reply_);
  }
  (void)cost_.of_request(Ask::wait, spec_.best_effort);
  wait(at);
  stage_ = Stage::waits;
}

bool Callee::receive(std::string_view from, std::string_view type, std::vector<std::byte>& into) {
  reply_.reset();
  (void)desk_->act(
      program_, 0, called_at_,
      {.ask = Ask::receive, .time = called_at_.ns(), .number = protocol::payload_max, .name = from, .type = type},
      reply_);
  if (reply_.verdict != protocol::Verdict::ok) return false;
  into.assign(reply_.payload().begin(), reply_.payload().end());
  return true;
}

void Callee::send(std::string_view to, std::string_view type, std::span<const std::byte> bytes) {
  sent_.push_back({std::string(to), std::string(type), {bytes.begin(), bytes.end()}});
}

void Callee::leave(SimTime at, const std::string& why) {
  figures_.failed = true;
  figures_.ended = why + ", at " + to_string(at);
  figures_.last_state = "it was called at " + to_string(at);
  desk_->leave(program_, at, why);
  timeline_->leave(program_);
  if (spec_.on_failure == OnFailure::end_run) house_.failed(program_, at);
}

}  // namespace isochron::programs
