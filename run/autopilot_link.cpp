#include "run/autopilot_link.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/time_text.hpp"
#include "programs/futex.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using programs::OnLoss;
using programs::wall_now;

constexpr WallSpan look = 50ms;
constexpr WallSpan said_again_after = 100ms;  // to one that may not have been there
constexpr WallSpan time_for_first = 1s;       // controls: one that answers its first state is exact from then on
constexpr WallSpan time_to_end = 200ms;       // of one that closed its connection, until it counts as lost
constexpr std::size_t notes_kept = 20;

}  // namespace

AutopilotLink::AutopilotLink(std::uint32_t who, AutopilotSetup setup, std::unique_ptr<autopilot::Dialect> dialect,
                             AutopilotSenses senses, std::unique_ptr<AutopilotWire> wire)
    : who_(who),
      setup_(std::move(setup)),
      dialect_(std::move(dialect)),
      senses_(std::move(senses)),
      wire_(std::move(wire)) {
  values_.resize(setup_.motors.count);
  figures_.name = setup_.name;
  figures_.protocol = dialect_->name();
  figures_.time = setup_.outside ? "lock-step" : "in the simulated network";
  figures_.every_s = setup_.every.seconds();
  if (wire_) figures_.where = wire_->where();
}

void AutopilotLink::enter(programs::System* system) {
  if (setup_.outside) return;
  if (system == nullptr) return fail_with("the link of " + setup_.name + " has no simulated network");
  auto opened = open_simulated_wire(*system, setup_.robot, dialect_->streams(), setup_.port);
  if (!opened.ok()) return fail_with("the link of " + setup_.name + ": " + opened.error());
  wire_ = std::move(*opened);
  figures_.where = wire_->where();
}

void AutopilotLink::leave() {
  if (!setup_.outside) wire_.reset();
}

void AutopilotLink::fail_with(std::string why) {
  if (!failure_) failure_ = std::move(why);
}

void AutopilotLink::note_once(bool& said, std::string what) {
  if (!std::exchange(said, true)) notes_.push_back(setup_.name + " " + std::move(what));
}

void AutopilotLink::wrong(const std::string& what, SimTime now) {
  ++figures_.wrong;
  if (notes_.size() < notes_kept) {
    notes_.push_back("a packet to " + wire_->where() + " for " + setup_.name + " was not taken, at " + to_string(now) +
                     ": " + what);
  }
}

void AutopilotLink::begin_frame(programs::Post& post, SimTime now) {
  awaits_ = false;
  if (failure_ || presence_ == Presence::gone) return;
  const bool due = now >= due_;
  if (setup_.outside && !due) return;
  const std::uint64_t before = figures_.answers;
  const bool had_answered = answered_;
  const bool was_awaited = presence_ == Presence::awaited;
  while (take(post, now)) {
  }
  if (!due) return;
  due_ = now + setup_.every;
  if (!setup_.outside) return keep_time(now);
  // The first controls of one that speaks first are those of this frame, whether they came before it began or are
  // awaited in it: it is told its first state at the next.
  if (was_awaited && dialect_->speaks_first() && figures_.answers > before) return;
  if (figures_.answers > before && had_answered) {
    figures_.ahead += figures_.answers - before;
    note_once(said_ahead_, "runs ahead: it sent controls, at " + to_string(now) +
                               ", before it was told the state that they are for; the newest hold");
  }
  if (presence_ == Presence::lost && setup_.on_loss == OnLoss::go_on) return;
  awaits_ = true;
  const bool first = presence_ == Presence::awaited && (dialect_->speaks_first() || dialect_->streams());
  if (!first) tell(now);
}

void AutopilotLink::end_frame(programs::Post& post, SimTime now) {
  if (awaits_ && !failure_) await_controls(post, now);
}

/// In the simulated network nobody waits.
void AutopilotLink::keep_time(SimTime now) {
  const bool expected = presence_ == Presence::here && told_ && dialect_->answers_all();
  if (expected && !answered_) {
    if (now - *told_ == setup_.every) ++figures_.overruns;
    ++figures_.missed;
  }
  // Who asks for each state is told when it asked; the others are told what there is, as by a sensor.
  const bool asked = answered_ || !dialect_->speaks_first();
  if (asked && presence_ != Presence::lost && (presence_ == Presence::here || !dialect_->streams())) tell(now);
}

void AutopilotLink::await_controls(programs::Post& post, SimTime now) {
  const WallTime begun = wall_now();
  WallTime again = begun + said_again_after;
  said_stall_ = false;
  std::uint64_t answers = figures_.answers;
  for (;;) {
    const bool was_awaited = presence_ == Presence::awaited;
    while (figures_.answers == answers && take(post, now)) {
    }
    if (figures_.answers > answers || presence_ == Presence::gone) break;
    const WallTime at = wall_now();
    const WallSpan starting = figures_.frames <= 1 ? time_for_first : WallSpan::from_ns(setup_.every.ns());
    // One that connected is told where it is.
    if (was_awaited && presence_ == Presence::here && !told_ && !dialect_->speaks_first()) tell(now);
    if (presence_ == Presence::here && !dialect_->answers_all()) {
      // It starts up and has no outputs yet: the world goes by the wall clock, as its users know it.
      if (at - told_wall_.value_or(begun) >= starting) break;
    } else if (give_up(now, begun)) {
      break;
    }
    if (presence_ == Presence::awaited && at >= again && wire_->refused()) {
      say_again(now);
      again = at + said_again_after;
    }
    const bool starts = presence_ == Presence::here && !dialect_->answers_all();
    wire_->wait(starts ? std::min(told_wall_.value_or(begun) + starting, at + look) : at + look);
  }
  const WallSpan waited = wall_now() - told_wall_.value_or(begun);
  if (figures_.first_s < 0 || figures_.answers == answers) return;
  figures_.waited_s += waited.seconds();
  figures_.waited_most_s = std::max(figures_.waited_most_s, waited.seconds());
}

/// Whether there is no use in waiting on.
bool AutopilotLink::give_up(SimTime now, WallTime since) {
  if (setup_.stopping && setup_.stopping()) return true;
  const WallSpan waited = wall_now() - since;
  if (waited >= setup_.stall_after && !std::exchange(said_stall_, true) && setup_.on_stall) {
    setup_.on_stall(
        presence_ == Presence::awaited ? "has not come to " + wire_->where() : "is silent on " + wire_->where(), now);
  }
  if (setup_.process_ended && waited >= look) {
    if (const auto how = setup_.process_ended()) {
      if (!how->second) {
        if (presence_ == Presence::lost) --figures_.losses;  // it closed its connection first
        presence_ = Presence::gone;
        notes_.push_back(setup_.name + " " + how->first + ", at " + to_string(now));
        return true;
      }
      went(now, how->first);
      if (setup_.on_loss != OnLoss::go_on) {
        fail_with(setup_.name + " " + how->first + ", at " + to_string(now));
      }
      return true;
    }
  }
  if (presence_ == Presence::awaited) {
    if (waited < setup_.wait_for_first) return false;
    fail_with("no autopilot came to " + wire_->where() + " for " + setup_.name + " within " +
              to_string(setup_.wait_for_first) + " (`hil: {wait_for_targets: …}`)");
    return true;
  }
  if (presence_ == Presence::here && waited >= setup_.silent_after) silent(now);
  if (presence_ != Presence::lost || waited < time_to_end) return false;
  if (setup_.on_loss == OnLoss::go_on) return true;
  if (setup_.on_loss == OnLoss::end) {
    fail_with(setup_.name + " was lost at " + to_string(now) + ", and `target: {on_loss: end}` ends the run");
    return true;
  }
  if (waited < setup_.wait_for_return) return false;
  fail_with(setup_.name + " was lost at " + to_string(now) + " and did not come back within " +
            to_string(setup_.wait_for_return) + " (`hil: {wait_for_return: …}`)");
  return true;
}

void AutopilotLink::silent(SimTime now) {
  went(now, "sent nothing for " + to_string(setup_.silent_after) + " (`hil: {patience: …}`)");
}

// ---- both

/// True: something came, and there may be more.
bool AutopilotLink::take(programs::Post& post, SimTime now) {
  using Kind = AutopilotWire::Event::Kind;
  const auto event = wire_->receive(now);
  if (!event) return false;
  switch (event->kind) {
    case Kind::came:
      came(event->who, now);
      break;
    case Kind::went:
      went(now, dialect_->streams() ? "closed its connection" : "closed its socket");
      break;
    case Kind::stranger:
      ++figures_.strangers;
      note_once(said_stranger_,
                "has company: a second autopilot, " + event->who + ", came to " + wire_->where() + " and is not heard");
      break;
    case Kind::bytes:
      hear(event->bytes, post, now);
      break;
  }
  return true;
}

void AutopilotLink::came(const std::string& who, SimTime now) {
  const bool again = presence_ != Presence::awaited;
  presence_ = Presence::here;
  answered_ = false;
  dialect_->begin_again();
  if (!again) return;
  ++figures_.restarts;
  notes_.push_back(setup_.name + " came again, from " + who + ", at " + to_string(now));
  if (setup_.outside && setup_.on_loss == OnLoss::end) {
    fail_with(setup_.name + " was started again at " + to_string(now) + ", and `target: {on_loss: end}` ends the run");
  } else if (setup_.outside && dialect_->streams()) {
    say_again(now);
  }
}

void AutopilotLink::went(SimTime now, const std::string& how) {
  if (presence_ == Presence::lost || presence_ == Presence::gone) return;
  presence_ = Presence::lost;
  if (setup_.outside) ++figures_.losses;
  notes_.push_back(setup_.name + " " + how + ", at " + to_string(now) +
                   (!setup_.outside || setup_.on_loss == OnLoss::go_on ? "; its last controls hold" : ""));
}

void AutopilotLink::hear(const autopilot::Bytes& bytes, programs::Post& post, SimTime now) {
  const autopilot::Heard heard = dialect_->hear(bytes);
  for (const std::string& what : heard.wrong) wrong(what, now);
  for (const autopilot::Packet& reply : heard.replies) wire_->send(reply, now);
  if (presence_ == Presence::lost && (heard.controls || heard.asks_again)) {
    presence_ = Presence::here;
    ++figures_.restarts;
    notes_.push_back(setup_.name + " is heard again, at " + to_string(now));
  }
  if (heard.restarted) {
    ++figures_.restarts;
    notes_.push_back(setup_.name + " began again at " + to_string(now) + ": its frames count from the start");
    if (setup_.outside && setup_.on_loss == OnLoss::end) {
      fail_with(setup_.name + " was started again at " + to_string(now) +
                ", and `target: {on_loss: end}` ends the run");
    }
  }
  if (heard.skipped > 0) {
    figures_.skipped += heard.skipped;
    note_once(said_skipped_, "skipped " + std::to_string(heard.skipped) + " of its frames, at " + to_string(now));
  }
  if (heard.asks_again) say_again(now);
  if (heard.rate && *heard.rate > 0) {
    const double wished = 1.0 / *heard.rate;
    if (std::abs(wished - figures_.every_s) > 0.01 * wished) {
      note_once(said_rate_, "asks for " + std::to_string(*heard.rate) + " frames per second and gets one every " +
                                to_string(setup_.every) + " (`link: {every: …}`)");
    }
  }
  if (!heard.controls) return;
  figures_.answers += heard.answers;
  if (figures_.first_s < 0) figures_.first_s = now.since_zero().seconds();
  const std::optional<SimTime> of = heard.of ? heard.of : told_;  // some say for which state they are
  if (of && !answered_) {
    const double response = std::max(0.0, (now - *of).seconds());
    ++responses_;
    response_sum_s_ += response;
    figures_.response_most_s = std::max(figures_.response_most_s, response);
  }
  answered_ = answered_ || !of || *of >= *told_;
  command(*heard.controls, post, now);
}

void AutopilotLink::command(const autopilot::Controls& controls, programs::Post& post, SimTime now) {
  if (const auto bad = not_finite(controls)) {
    ++figures_.not_numbers;
    return note_once(said_number_, "commanded channel " + std::to_string(*bad + 1) + " with what is not a number, at " +
                                       to_string(now) + "; its last controls hold");
  }
  const AutopilotMotors& motors = setup_.motors;
  for (std::size_t i = 0; i < motors.count; ++i) {
    const double given = controls.armed && i < controls.count ? controls.channels[i] : 0;
    values_[i] = std::clamp(given, -1.0, 1.0);
  }
  if (motors.together) return post.write(who_, now, *motors.together, std::as_bytes(std::span(values_)));
  for (std::size_t i = 0; i < motors.count; ++i) {
    const AutopilotMotors::One& one = motors.each[i];
    const double value = one.low + values_[i] * (one.high - one.low);
    post.write(who_, now, one.variable, std::as_bytes(std::span(&value, 1)));
  }
}

void AutopilotLink::tell(SimTime now) {
  if (setup_.outside) told_wall_ = wall_now();
  senses_.fill(now, state_);
  packets_.clear();
  dialect_->tell(state_, packets_);
  say_again(now);
  told_ = now;
  answered_ = false;
  ++figures_.frames;
}

void AutopilotLink::say_again(SimTime now) {
  for (const autopilot::Packet& packet : packets_) wire_->send(packet, now);
}

AutopilotReport AutopilotLink::report() const {
  AutopilotReport report = figures_;
  if (responses_ > 0) report.response_mean_s = response_sum_s_ / static_cast<double>(responses_);
  return report;
}

}  // namespace isochron
