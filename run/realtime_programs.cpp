#include "run/realtime_programs.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/time_text.hpp"
#include "programs/futex.hpp"
#include "programs/plant_access.hpp"
#include "programs/time_stamp_counter.hpp"

namespace isochron {
namespace {

using namespace programs;
using namespace std::chrono_literals;
using protocol::Ask;
using protocol::Verdict;
using Kind = Happening::Kind;

constexpr std::uint32_t looks_before_sleeping = 2000;  // about what a wake-up across cores takes

std::string make_token() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(wall_now().ns());
  return std::to_string(getpid()) + "-" + std::to_string(random);
}

/// Nanoseconds for each count of the processor's counter, times 2^32. Readings are set right at each release, so that
/// a thousandth is good enough.
std::uint64_t measure_counter() {
  const WallTime begin = wall_now();
  const std::uint64_t first = time_stamp_counter();
  std::this_thread::sleep_for(20ms);
  const WallTime end = wall_now();
  const std::uint64_t last = time_stamp_counter();
  const double scale = static_cast<double>((end - begin).ns()) / static_cast<double>(last - first);
  return static_cast<std::uint64_t>(scale * 4294967296.0);
}

}  // namespace

RealtimePrograms::RealtimePrograms(std::vector<RealtimeProgram> programs, Plant& plant, SimSpan step,
                                   programs::Recorder& recorder, programs::Trouble* trouble,
                                   const std::vector<Correspondent*>& correspondents)
    : plant_(plant, step),
      step_(step),
      desk_(plant_, *this),
      recorder_(recorder),
      trouble_(trouble),
      token_(make_token()),
      bell_memory_("isochron-bell", protocol::bell_size),
      bell_(*static_cast<protocol::Bell*>(bell_memory_.data())),
      keeper_(std::make_unique<Keeper>(token_)),
      counter_scale_(measure_counter()) {
  desk_.set_trouble(trouble);
  std::vector<Watcher::Watched> watched;
  for (RealtimeProgram& program : programs) {
    auto m = std::make_unique<Member>();
    m->name = program.robot + "/" + program.spec.name;
    m->program = std::move(program);
    ProgramSpec started = m->program.spec;
    started.virtual_clock = false;
    m->process = std::make_unique<Process>(Process::Start{&started, m->name, bell_memory_.descriptor(),
                                                          token_of(token_, 0), "", protocol::ClockMode::flowing});
    m->channel = std::make_unique<Channel>(m->process->pages());
    m->board = std::make_unique<RealtimeBoard>(m->process->pages(), plant, static_cast<std::uint32_t>(members_.size()));
    // One CPU for all: there is one order, that in which they are served.
    desk_.add({m->name, m->program.robot, m->program.spec.terms(), m->program.spec.to});
    watched.push_back({m->name, m->process->output(), m->process->pid_descriptor()});
    members_.push_back(std::move(m));
  }
  for (Correspondent* one : correspondents) {
    correspondents_.emplace_back(one, Post(desk_, static_cast<std::uint32_t>(desk_.parties())));
    for (const std::string& name : one->names()) {
      desk_.add({name, name.substr(0, name.find('/')), {}, "", 0, protocol::payload_max, false});
    }
  }
  watcher_ = std::make_unique<Watcher>(std::move(watched), bell_, 64 * 1024, false);
}

RealtimePrograms::~RealtimePrograms() {
  for (auto& m : members_) m->process->kill_group(SIGKILL);
  for (auto& m : members_) m->process.reset();
  kill_all_of_run(token_);
}

std::string RealtimePrograms::await_attach(WallSpan within, const std::atomic<bool>& stop) {
  const WallTime deadline = wall_now() + within;
  while (!stop.load(std::memory_order_relaxed)) {
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    const Member* missing = nullptr;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      Member& m = *members_[i];
      const bool there = m.channel->asking().has_value() || watcher_->ended(i) || m.program.spec.virtual_clock;
      if (!there) missing = &m;
    }
    if (missing == nullptr) break;
    if (wall_now() >= deadline) {
      return missing->name + " did not attach within " + to_string(within) +
             "; does it call isochron::attach()? A program that knows nothing of Isochron needs `clock: virtual`";
    }
    futex_wait_until(bell_.rings, rings, std::min(deadline, wall_now() + WallSpan(50ms)));
  }
  for (auto& m : members_) m->cpu_base = m->process->cpu_time();
  return "";
}

std::vector<rt::Weaker> RealtimePrograms::prioritise() {
  for (const auto& m : members_) {
    if (m->program.spec.best_effort) continue;
    // Below the thread that serves them, above everything that is not real-time, in the scenario's own order.
    const sched_param parameters{.sched_priority = std::clamp(60 + m->program.spec.priority, 50, 75)};
    for (const pid_t thread : m->process->threads()) {
      if (sched_setscheduler(thread, SCHED_FIFO, &parameters) == 0 || errno == ESRCH) continue;
      return {{"real-time priorities for programs", std::strerror(errno), "run as root, or grant CAP_SYS_NICE"}};
    }
  }
  served_first_ = true;
  return {};
}

// Of a link that nobody has taken yet no page is touched: locked memory would have them all, half a gigabyte.
void RealtimePrograms::protect_spare_links(bool protect) {
  for (const auto& m : members_) {
    protocol::Pages& pages = m->process->pages();
    mprotect(&pages.links[links_prepared], sizeof(protocol::Link) * (protocol::links_max - links_prepared),
             protect ? PROT_NONE : PROT_READ | PROT_WRITE);
  }
}

void RealtimePrograms::serve(SimTime now) {
  take_notes(now);
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    while (const auto link = members_[who]->channel->asking()) answer(who, *link, now);
  }
  look_for_ends(now);
}

void RealtimePrograms::check_memory(SimTime now) {
  if (wall_now() - memory_checked_ < WallSpan(50ms)) return;
  memory_checked_ = wall_now();
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    const auto& m = members_[who];
    const std::uint64_t limit = m->program.spec.memory_limit;
    if (m->gone || m->limit_struck || m->process->resident() <= limit) continue;
    m->limit_struck = true;
    const std::string text = std::to_string(limit >> 20) + " MiB";
    desk_.fault(who, now, "uses more memory than its limit of " + text + " (`memory` in the scenario)");
    m->process->end_because("ended by its memory limit of " + text);
  }
}

void RealtimePrograms::look_for_ends(SimTime now) {
  check_memory(now);
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    Member& m = *members_[who];
    if (m.gone || !watcher_->ended(who) || !m.process->ended()) continue;
    m.gone = true;
    m.waits = {};
    m.ended = m.process->how() + " at " + to_string(now);
    desk_.leave(who, now, m.process->how());
    if (m.process->failed() && m.program.spec.on_failure == OnFailure::end_run && why_ended_.empty()) {
      why_ended_ = m.name + " " + m.ended;
      if (const std::string printed = watcher_->output(who); !printed.empty()) {
        why_ended_ +=
            "\nit printed last: " + printed.substr(printed.size() - std::min<std::size_t>(printed.size(), 400));
      }
    }
  }
}

/// Their times are their programs' own; they lie after what was recorded before.
void RealtimePrograms::take_notes(SimTime now) {
  notebook_.clear();
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    const bool readable = members_[who]->board->collect(noted_, std::max(noted_, now), notebook_);
    if (!readable) desk_.fault(who, now, "left notes that cannot be read");
  }
  noted_ = std::max(noted_, now);
  notebook_.sort();
  for (const Noted& note : notebook_.notes) {
    const auto value = notebook_.value(note);
    if (!note.write) {
      tell(note.program, Kind::read, note.at, note.variable, value, {});
    } else if (const auto why = protocol::cannot_write(plant_, note.variable, value)) {
      desk_.fault(note.program, note.at, why->why);  // its library would have asked
    } else {
      desk_.write(note.program, note.at, note.variable, value);
    }
  }
}

void RealtimePrograms::answer(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  take_notes(now);  // what it did before it asked comes before
  const Exchange asked = m.channel->take(link);
  (void)m.channel->empty_ring(link, m.clock_values);
  if (trouble_ == nullptr || !held_up(who, link, asked, now)) act(who, link, asked, now);
}

/// A fault: it asks later, or never again.
bool RealtimePrograms::held_up(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  if (trouble_->take_end(m.name, now)) m.process->kill_group(SIGKILL);
  const SimTime until = std::max(now + trouble_->take_delay(m.name, now), trouble_->stopped_until(m.name, now));
  if (until <= now) return false;
  m.waits[link] = {true, until, asked};
  m.waits[link].delayed->stamp = 0;  // it will be done then, not when it asked
  return true;
}

void RealtimePrograms::act(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  const auto ask = static_cast<Ask>(asked.ask);
  reply_.reset(m.channel->room(link));
  if (ask == Ask::attach) {
    attach(who, now, asked);
    return reply(who, link, now);
  }
  Request request = m.channel->request(link, asked);
  // It was done when it asked, not when that was seen here; that the program says so is taken with care.
  if (asked.stamp != 0) request.done = std::clamp(SimTime::from_ns(asked.stamp), std::min(m.let_go, now), now);
  if (const auto later = desk_.act(who, link, now, request, reply_)) {
    m.waits[link] = {true, later->until, std::nullopt};
    return;
  }
  if (ask == Ask::bind && reply_.verdict == Verdict::ok) m.board->show(reply_.index, plant_.now(now));
  if (ask == Ask::read)
    m.board->refresh(plant_.now(now));  // a reading that was asked for is newer than what hangs there
  reply(who, link, now);
}

void RealtimePrograms::reply(std::uint32_t who, std::uint32_t link, SimTime now) {
  members_[who]->channel->answer(link, now, reply_);
}

void RealtimePrograms::attach(std::uint32_t who, SimTime now, const Exchange& asked) {
  Member& m = *members_[who];
  desk_.attach(who, now, asked.number, reply_);
  if (reply_.verdict != Verdict::ok) return;
  show_clock(m, now);
  m.board->open(served_first_ && std::thread::hardware_concurrency() > 1 ? looks_before_sleeping : 0);
}

void RealtimePrograms::show(SimTime now) {
  for (auto& m : members_) {
    if (m->gone) continue;
    m->board->refresh(plant_.now(now));
    show_clock(*m, now);
  }
}

void RealtimePrograms::show_clock(Member& m, SimTime now) {
  m.channel->set_clock(now, SimTime::never(), time_stamp_counter(), counter_scale_, SimSpan::zero());
}

void RealtimePrograms::is_done(std::uint32_t who, SimTime at, SimSpan period, const Releases::Next& next) {
  const RealtimeProgram& program = members_[who]->program;
  const ReleaseTerms terms = program.spec.terms();
  const SimSpan deadline = terms.deadline > SimSpan::zero() ? terms.deadline : period;
  program.deadlines->end(at, terms.best_effort ? SimSpan::zero() : deadline,
                         terms.best_effort ? SimSpan::zero() : period);
  program.deadlines->skipped(next.skipped);
}

void RealtimePrograms::begins(std::uint32_t who, SimTime release, SimTime at) {
  members_[who]->program.deadlines->begin(release, at);
}

void RealtimePrograms::apply_writes(SimTime now) { desk_.apply(now + SimSpan::from_ns(1)); }

void RealtimePrograms::exchange(SimTime at) {
  for (auto& [correspondent, post] : correspondents_) correspondent->exchange(post, at, at + step_);
}

/// Whoever waits for it is let go in this round.
void RealtimePrograms::message(std::uint32_t who, std::uint32_t link, SimTime at) {
  Wait& wait = members_[who]->waits[link];
  wait.until = std::min(wait.until, at);
}

void RealtimePrograms::let_go(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  const Wait wait = m.waits[link];
  m.waits[link] = {};
  m.let_go = now;
  if (wait.delayed) return act(who, link, *wait.delayed, now);
  reply_.reset(m.channel->room(link));
  desk_.wake(who, link, now, reply_);
  if (!reply_.payload().empty()) m.board->refresh(plant_.now(now));
  show_clock(m, now);
  reply(who, link, now);
}

void RealtimePrograms::release(SimTime now) {
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    const std::uint32_t links = members_[who]->channel->links_used();
    for (std::uint32_t link = 0; link < links; ++link) {
      const Wait& wait = members_[who]->waits[link];
      if (wait.waits && wait.until <= now) let_go(who, link, now);
    }
  }
}

SimTime RealtimePrograms::next_release() const {
  SimTime next = SimTime::never();
  for (const auto& m : members_) {
    for (std::uint32_t link = 0; link < m->channel->links_used(); ++link) {
      if (m->waits[link].waits) next = std::min(next, m->waits[link].until);
    }
  }
  return next;
}

void RealtimePrograms::tell(std::uint32_t who, Kind kind, SimTime at, std::uint32_t about,
                            std::span<const std::byte> bytes, SimTime stamp) {
  happening_.kind = kind;
  happening_.at = at;
  happening_.program = who;
  happening_.about = about;
  happening_.stamp = stamp;
  happening_.bytes.assign(bytes.begin(), bytes.end());
  recorder_.happened(happening_);
}

void RealtimePrograms::end(SimTime now) {
  for (auto& [correspondent, post] : correspondents_) correspondent->leave();
  for (auto& m : members_) m->board->close();
  take_notes(now);
  for (auto& m : members_) {
    if (!m->gone) m->cpu = m->process->cpu_time() - m->cpu_base;
    m->channel->set_over();
    show_clock(*m, now);
    m->channel->set_clock_mode(protocol::ClockMode::held);
    m->channel->answer_all_ended(now);
  }
  const WallTime deadline = wall_now() + WallSpan(300ms);
  for (bool all = false; !all && wall_now() < deadline;) {
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    all = true;
    for (std::uint32_t who = 0; who < members_.size(); ++who) {
      Channel& channel = *members_[who]->channel;
      while (const auto link = channel.asking()) {
        const Exchange asked = channel.take(*link);
        reply_.reset(channel.room(*link));
        if (static_cast<Ask>(asked.ask) == Ask::read) desk_.read_last(who, now, channel.request(*link, asked), reply_);
        reply_.verdict = Verdict::ended;
        reply(who, *link, now);
      }
      all = members_[who]->process->ended() && all;
    }
    if (!all) futex_wait_until(bell_.rings, rings, std::min(deadline, wall_now() + WallSpan(5ms)));
  }
  for (auto& m : members_) {
    if (!m->process->ended()) m->process->kill_group(SIGKILL);
  }
  kill_all_of_run(token_);
  watcher_->finish();
}

std::vector<ProgramReport> RealtimePrograms::reports(std::vector<std::string>& notes) const {
  std::vector<ProgramReport> all;
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    const auto& m = members_[who];
    ProgramReport report;
    report.name = m->name;
    report.executed = ComputeRate().apply(m->cpu);
    report.end = m->ended;
    m->program.deadlines->fill(report);
    all.push_back(std::move(report));
    const auto& faults = desk_.figures(who).faults;
    notes.insert(notes.end(), faults.begin(), faults.end());
  }
  return all;
}

void RealtimePrograms::live(RunWatch::Deadlines& sum) const {
  for (const auto& m : members_) {
    sum.missed += m->program.deadlines->missed();
    sum.late_p99 = std::max(sum.late_p99, WallSpan::from_ns(m->program.deadlines->late().percentile(99)));
    sum.late_max = std::max(sum.late_max, WallSpan::from_ns(m->program.deadlines->late().max()));
  }
}

}  // namespace isochron
