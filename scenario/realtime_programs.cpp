#include "scenario/realtime_programs.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "coordinator/futex.hpp"
#include "coordinator/time_stamp_counter.hpp"
#include "core/own_name.hpp"
#include "core/time_text.hpp"
#include "link/plant_access.hpp"

namespace isochron {
namespace {

using namespace coordinator;
using namespace std::chrono_literals;
using protocol::Ask;
using protocol::Verdict;
using Kind = Happening::Kind;

constexpr std::size_t most_faults = 20;
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

void put(char (&field)[protocol::name_max], const std::string& text) {
  const std::size_t length = std::min(text.size(), sizeof field - 1);
  std::memcpy(field, text.data(), length);
  field[length] = 0;
}

protocol::Exchange at_time(SimTime now, Verdict verdict = Verdict::ok) {
  protocol::Exchange exchange;
  exchange.time = now.ns();
  exchange.verdict = static_cast<std::uint32_t>(verdict);
  return exchange;
}

}  // namespace

RealtimePrograms::RealtimePrograms(std::vector<RealtimeProgram> programs, Plant& plant, SimSpan step,
                                   coordinator::Recorder& recorder, Delay delay)
    : plant_(plant),
      step_(step),
      recorder_(recorder),
      delay_(std::move(delay)),
      token_(make_token()),
      bell_memory_("isochron-bell", protocol::bell_size),
      bell_(*static_cast<protocol::Bell*>(bell_memory_.data())),
      keeper_(std::make_unique<Keeper>(token_)),
      counter_scale_(measure_counter()) {
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
    watched.push_back({m->name, m->process->output(), m->process->pid_descriptor()});
    members_.push_back(std::move(m));
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
  for (const auto& m : members_) {
    const std::uint64_t limit = m->program.spec.memory_limit;
    if (m->gone || m->limit_struck || m->process->resident() <= limit) continue;
    m->limit_struck = true;
    const std::string text = std::to_string(limit >> 20) + " MiB";
    m->faults.push_back("at " + to_string(now) + ": uses more memory than its limit of " + text +
                        " (`memory` in the scenario)");
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
    const std::string& how = m.process->how();
    tell(who, Kind::end, now, UINT32_MAX, std::as_bytes(std::span(how)));
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
  for (auto& m : members_) {
    if (!m->board->collect(noted_, std::max(noted_, now), notebook_)) fault(*m, now, "left notes that cannot be read");
  }
  noted_ = std::max(noted_, now);
  notebook_.sort();
  for (const Noted& note : notebook_.notes) {
    const auto value = notebook_.value(note);
    if (!note.write) {
      tell(note.program, Kind::read, note.at, note.variable, value);
    } else if (const auto why = protocol::cannot_write(plant_, note.variable, value)) {
      fault(*members_[note.program], note.at, why->why);  // its library would have asked
    } else {
      keep_write(note.program, note.variable, note.at, value);
    }
  }
}

void RealtimePrograms::answer(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  take_notes(now);  // what it did before it asked comes before
  const Exchange asked = m.channel->take(link);
  (void)m.channel->empty_ring(link, m.clock_values);
  if (const SimSpan more = delay_ ? delay_(m.name) : SimSpan::zero(); more > SimSpan::zero()) {
    m.waits[link] = {};
    m.waits[link].what = Wait::For::delay;
    m.waits[link].until = now + more;
    m.waits[link].delayed = asked;
    return;
  }
  act(who, link, asked, now);
}

void RealtimePrograms::act(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  switch (static_cast<Ask>(asked.ask)) {
    case Ask::attach:
      return attach(who, link, asked, now);
    case Ask::wait:
      return wait(who, link, asked, now);
    case Ask::bind:
      return bind(m, link, asked, now);
    case Ask::read:
      return read(who, link, asked, now);
    case Ask::write:
      return write(who, link, asked, now);
    case Ask::send:
      return send(who, link, asked, now);
    case Ask::receive:
      return receive(who, link, asked, now);
    case Ask::clock:
      return m.channel->answer(link, at_time(now));
    case Ask::log:
      tell(who, Kind::log, now, UINT32_MAX, m.channel->payload(link, asked.size));
      return m.channel->answer(link, at_time(now));
    case Ask::idle:
    case Ask::none:
      break;
  }
  refuse(m, link, now, {Verdict::refused, "request " + std::to_string(asked.ask) + " is unknown here"});
}

void RealtimePrograms::fault(Member& m, SimTime now, const std::string& what) {
  if (m.faults.size() < most_faults) m.faults.push_back("at " + to_string(now) + ": " + what);
}

void RealtimePrograms::refuse(Member& m, std::uint32_t link, SimTime now, const protocol::Refusal& refusal) {
  fault(m, now, refusal.why);
  m.channel->refuse(link, refusal.verdict, now, refusal.why);
}

void RealtimePrograms::attach(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  if (asked.number != protocol::version) {
    return refuse(
        m, link, now,
        {Verdict::wrong_version, "speaks version " + std::to_string(asked.number) +
                                     " of the protocol, this coordinator " + std::to_string(protocol::version)});
  }
  tell(who, Kind::start, now, UINT32_MAX, {});
  show_clock(m, now);
  m.board->open(served_first_ && std::thread::hardware_concurrency() > 1 ? looks_before_sleeping : 0);
  m.channel->answer(link, at_time(now));
}

void RealtimePrograms::show(SimTime now) {
  for (auto& m : members_) {
    if (m->gone) continue;
    m->board->refresh(in_step(now));
    show_clock(*m, now);
  }
}

void RealtimePrograms::show_clock(Member& m, SimTime now) {
  m.channel->set_clock(now, SimTime::never(), time_stamp_counter(), counter_scale_, SimSpan::zero());
}

/// As in every mode: a first wait returns at once; a release that has passed is run at once, those before it never.
void RealtimePrograms::wait(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  Wait& wait = m.waits[link];
  wait = {};
  wait.what = Wait::For::time;
  if (asked.number < 0) {
    wait.until = SimTime::from_ns(asked.time);
    return;
  }
  const ReleaseTerms terms = m.program.spec.terms();
  const SimSpan period = asked.number == 0 ? terms.every : SimSpan::from_ns(asked.number);
  if (period <= SimSpan::zero()) {
    wait = {};
    return refuse(m, link, now, {Verdict::refused, "waits without a period, and the scenario declares none"});
  }
  wait.periodic = true;
  // It was done when it asked, not when that was seen here; that the program says so is taken with care.
  const SimTime done = asked.stamp == 0 ? now : std::clamp(SimTime::from_ns(asked.stamp), std::min(m.let_go, now), now);
  const SimSpan deadline = terms.deadline > SimSpan::zero() ? terms.deadline : period;
  m.program.deadlines->end(done, terms.best_effort ? SimSpan::zero() : deadline,
                           terms.best_effort ? SimSpan::zero() : period);
  const Releases::Next next = m.releases[link].wait(terms, period, now, done);
  m.program.deadlines->skipped(next.skipped);
  wait.until = next.goes_on;
}

void RealtimePrograms::bind(Member& m, std::uint32_t link, const Exchange& asked, SimTime now) {
  protocol::Refusal why;
  const std::uint32_t index = protocol::find_variable(plant_, m.program.robot, asked.name, asked.type, why);
  if (index == no_such_name) return refuse(m, link, now, why);
  const Variable& variable = plant_.variables()[index];
  m.board->show(index, in_step(now));
  Exchange exchange = at_time(now);
  exchange.index = index;
  exchange.number = static_cast<std::int64_t>(variable.size);
  put(exchange.type, variable.type);
  m.channel->answer(link, exchange);
}

void RealtimePrograms::read(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  protocol::Refusal why;
  const auto list = protocol::asked_for(plant_, asked.index, m.channel->payload(link, asked.size), why);
  if (!list) return refuse(m, link, now, why);
  const SimTime there = protocol::all_there(plant_, *list, in_step(now));
  if (there <= now) return answer_reading(who, link, asked.index, now);
  m.waits[link] = {.what = Wait::For::reading, .until = there, .variable = asked.index};
}

void RealtimePrograms::answer_reading(std::uint32_t who, std::uint32_t link, std::uint32_t variable, SimTime now) {
  Member& m = *members_[who];
  Exchange exchange = at_time(now);
  read_plant(m, link, variable, now, exchange);
  protocol::for_each_item(variable, m.channel->payload(link, exchange.size), [&](std::uint32_t each, auto value) {
    if (!protocol::can_read(plant_, each)) return;
    // What varies is in the record of its sensor already; which one it was is enough here.
    const bool varies = plant_.variables()[each].varies;
    tell(who, Kind::read, now, each, value.first(varies ? 0 : value.size()), SimTime::from_ns(exchange.stamp));
  });
  m.board->refresh(in_step(now));  // a reading that was asked for is newer than what hangs there
  m.channel->answer(link, exchange);
}

void RealtimePrograms::read_plant(Member& m, std::uint32_t link, std::uint32_t variable, SimTime now,
                                  Exchange& exchange) {
  const auto list = variable == protocol::several
                        ? protocol::ItemList::read(m.channel->payload(link, protocol::payload_max))
                        : std::nullopt;
  const Sample read =
      protocol::read_all(plant_, variable, list.value_or(protocol::ItemList()), in_step(now), m.channel->room(link));
  exchange.size = static_cast<std::uint32_t>(read.size);
  exchange.stamp = read.stamp.ns();
  if (read.size == 0) exchange.verdict = static_cast<std::uint32_t>(Verdict::nothing);
}

/// The plant is asked within its present step, also when that is late.
SimTime RealtimePrograms::in_step(SimTime now) const {
  return std::clamp(now, plant_.time(), plant_.time() + step_ - SimSpan::from_ns(1));
}

void RealtimePrograms::write(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  const auto from = m.channel->payload(link, asked.size);
  asked_.assign(from.begin(), from.end());  // a copy that the program cannot change any more
  if (const auto why = protocol::cannot_write_all(plant_, asked.index, asked_)) {
    return refuse(m, link, now, *why);
  }
  protocol::for_each_item(asked.index, std::span(asked_),
                          [&](std::uint32_t variable, auto value) { keep_write(who, variable, now, value); });
  m.channel->answer(link, at_time(now));
}

void RealtimePrograms::keep_write(std::uint32_t who, std::uint32_t variable, SimTime at,
                                  std::span<const std::byte> value) {
  if (writes_used_ == writes_.size()) writes_.emplace_back();
  Write& write = writes_[writes_used_++];
  write.variable = variable;
  write.at = at;
  write.value.assign(value.begin(), value.end());
  tell(who, Kind::write, at, variable, value);
}

void RealtimePrograms::apply_writes() {
  for (std::size_t i = 0; i < writes_used_; ++i)
    plant_.write(writes_[i].variable, in_step(writes_[i].at), writes_[i].value);
  writes_used_ = 0;
}

void RealtimePrograms::send(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  const std::string name = asked.name[0] == 0 ? m.program.spec.to : asked.name;
  const std::uint32_t to = find_program(m, name);
  if (to == no_such_name) {
    return refuse(m, link, now, protocol::nobody_to_send_to(name));
  }
  const auto from = m.channel->payload(link, asked.size);
  tell(who, Kind::send, now, to, from);
  if (!members_[to]->mailbox.put({now, now, who, m.letters++, asked.type, {from.begin(), from.end()}})) {
    return refuse(m, link, now, protocol::does_not_read(name));
  }
  m.channel->answer(link, at_time(now));
  for (std::uint32_t other = 0; other < members_[to]->channel->links_used(); ++other) {
    const Wait& wait = members_[to]->waits[other];
    if (wait.what == Wait::For::message && (wait.from == protocol::anybody || wait.from == who))
      hand_over(to, other, now);
  }
}

void RealtimePrograms::receive(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  Wait& wait = m.waits[link];
  wait = {};
  wait.what = Wait::For::message;
  wait.until = SimTime::from_ns(asked.time);
  wait.type = asked.type;
  wait.capacity = static_cast<std::size_t>(std::max<std::int64_t>(asked.number, 0));
  if (asked.name[0] != 0) {
    wait.from = find_program(m, asked.name);
    if (wait.from == no_such_name) {
      wait = {};
      return refuse(m, link, now, protocol::nobody_to_receive_from(asked.name));
    }
  }
  if (hand_over(who, link, now)) return;
  if (wait.until <= now) let_go(who, link, now);
}

/// The first letter that fits the wait, if there is one.
bool RealtimePrograms::hand_over(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  const Wait wait = m.waits[link];
  const auto letter = m.mailbox.take(wait.from, now);
  if (!letter) return false;
  m.waits[link] = {};
  if (const auto why = protocol::cannot_receive(*letter, members_[letter->from]->name, wait.type, wait.capacity)) {
    refuse(m, link, now, *why);
    return true;
  }
  tell(who, Kind::receive, now, letter->from, letter->bytes, letter->sent);
  std::memcpy(m.channel->room(link).data(), letter->bytes.data(), letter->bytes.size());
  Exchange exchange = at_time(now);
  exchange.size = static_cast<std::uint32_t>(letter->bytes.size());
  exchange.stamp = letter->sent.ns();
  put(exchange.name, members_[letter->from]->name);
  put(exchange.type, letter->type);
  m.channel->answer(link, exchange);
  return true;
}

void RealtimePrograms::let_go(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  const Wait wait = m.waits[link];
  m.waits[link] = {};
  m.let_go = now;
  if (wait.what == Wait::For::delay) {
    Exchange asked = wait.delayed;
    asked.stamp = 0;  // it was done now, not when it asked
    return act(who, link, asked, now);
  }
  if (wait.what == Wait::For::reading) return answer_reading(who, link, wait.variable, now);
  if (wait.periodic) {
    const SimTime release = m.releases[link].release();
    m.program.deadlines->begin(release, now);
    tell(who, Kind::release, now, UINT32_MAX, {}, release);
  }
  show_clock(m, now);
  m.channel->answer(link, at_time(now, wait.what == Wait::For::message ? Verdict::nothing : Verdict::ok));
}

void RealtimePrograms::release(SimTime now) {
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    const std::uint32_t links = members_[who]->channel->links_used();
    for (std::uint32_t link = 0; link < links; ++link) {
      const Wait& wait = members_[who]->waits[link];
      if (wait.what != Wait::For::nothing && wait.until <= now) let_go(who, link, now);
    }
  }
}

SimTime RealtimePrograms::next_release() const {
  SimTime next = SimTime::never();
  for (const auto& m : members_) {
    for (std::uint32_t link = 0; link < m->channel->links_used(); ++link) {
      if (m->waits[link].what != Wait::For::nothing) next = std::min(next, m->waits[link].until);
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

std::uint32_t RealtimePrograms::find_program(const Member& from, std::string_view name) const {
  return find_own(members_, from.program.robot, name,
                  [](const auto& member) -> const std::string& { return member->name; });
}

void RealtimePrograms::end(SimTime now) {
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
    for (auto& m : members_) {
      while (const auto link = m->channel->asking()) {
        const Exchange asked = m->channel->take(*link);
        Exchange exchange = at_time(now);
        if (static_cast<Ask>(asked.ask) == Ask::read) read_plant(*m, *link, asked.index, now, exchange);
        exchange.verdict = static_cast<std::uint32_t>(Verdict::ended);
        m->channel->answer(*link, exchange);
      }
      all = m->process->ended() && all;
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
  for (const auto& m : members_) {
    ProgramReport report;
    report.name = m->name;
    report.executed = ComputeRate().apply(m->cpu);
    report.end = m->ended;
    m->program.deadlines->fill(report);
    all.push_back(std::move(report));
    for (const std::string& fault : m->faults) notes.push_back(m->name + ": " + fault);
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
