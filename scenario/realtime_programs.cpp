#include "scenario/realtime_programs.hpp"

#include <sched.h>
#include <signal.h>
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

namespace isochron {
namespace {

using namespace coordinator;
using namespace std::chrono_literals;
using protocol::Ask;
using protocol::Verdict;
using Kind = Happening::Kind;

constexpr std::size_t most_faults = 20;

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
                                   coordinator::Recorder& recorder)
    : plant_(plant),
      step_(step),
      recorder_(recorder),
      token_(make_token()),
      bell_memory_("isochron-bell", 4096),
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
    m->process = std::make_unique<Process>(Process::Start{&started, m->name, bell_memory_.descriptor(), token_, ""});
    m->channel = std::make_unique<Channel>(m->process->pages());
    m->channel->set_clock_mode(protocol::ClockMode::flowing, 0);
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

std::vector<rt::Weaker> RealtimePrograms::prioritise() const {
  for (const auto& m : members_) {
    if (m->program.spec.best_effort) continue;
    // Below the thread that serves them, above everything that is not real-time, in the scenario's own order.
    const sched_param parameters{.sched_priority = std::clamp(60 + m->program.spec.priority, 50, 75)};
    for (const pid_t thread : m->process->threads()) {
      if (sched_setscheduler(thread, SCHED_FIFO, &parameters) == 0 || errno == ESRCH) continue;
      return {{"real-time priorities for programs", std::strerror(errno), "run as root, or grant CAP_SYS_NICE"}};
    }
  }
  return {};
}

void RealtimePrograms::serve(SimTime now) {
  for (std::uint32_t who = 0; who < members_.size(); ++who) {
    while (const auto link = members_[who]->channel->asking()) answer(who, *link, now);
  }
  look_for_ends(now);
}

void RealtimePrograms::look_for_ends(SimTime now) {
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

void RealtimePrograms::answer(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  const Exchange asked = m.channel->take(link);
  m.channel->empty_ring(link, [](SimTime) {});
  switch (static_cast<Ask>(asked.ask)) {
    case Ask::attach:
      return attach(m, link, asked, now);
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
    case Ask::none:
      break;
  }
  refuse(m, link, Verdict::refused, now, "request " + std::to_string(asked.ask) + " is unknown here");
}

void RealtimePrograms::refuse(Member& m, std::uint32_t link, Verdict verdict, SimTime now, const std::string& why) {
  if (m.faults.size() < most_faults) m.faults.push_back("at " + to_string(now) + ": " + why);
  m.channel->refuse(link, verdict, now, why);
}

void RealtimePrograms::attach(Member& m, std::uint32_t link, const Exchange& asked, SimTime now) {
  if (asked.number != protocol::version) {
    return refuse(m, link, Verdict::wrong_version, now,
                  "speaks version " + std::to_string(asked.number) + " of the protocol, not " +
                      std::to_string(protocol::version));
  }
  show_clock(m, now);
  m.channel->answer(link, at_time(now));
}

void RealtimePrograms::show_clock(Member& m, SimTime now) {
  m.channel->set_clock(now, SimTime::never(), time_stamp_counter(), counter_scale_);
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
  const SimSpan every = m.program.spec.every;
  const SimSpan period = asked.number == 0 ? every : SimSpan::from_ns(asked.number);
  if (period <= SimSpan::zero()) {
    wait = {};
    return refuse(m, link, Verdict::refused, now, "waits without a period, and the scenario declares none");
  }
  wait.periodic = true;
  m.program.deadlines->end(now, m.program.deadline > SimSpan::zero() ? m.program.deadline : period, period);
  Releases& r = m.releases[link];
  if (!r.started || r.period != period) {
    r = {period, now - now.since_zero() % period, true};
    wait.until = now;
    return;
  }
  const std::int64_t passed = (now - r.release) / period;
  if (passed > 1) m.program.deadlines->skipped(static_cast<std::uint64_t>(passed - 1));
  r.release += period * std::max<std::int64_t>(passed, 1);
  wait.until = r.release;
}

void RealtimePrograms::bind(Member& m, std::uint32_t link, const Exchange& asked, SimTime now) {
  const std::string name = asked.name;
  const std::uint32_t index = find_variable(m, name);
  if (index == no_such_name) {
    std::string known;
    for (const Variable& v : plant_.variables()) known += (known.empty() ? "" : ", ") + v.name;
    return refuse(m, link, Verdict::unknown_name, now, "there is no variable " + name + "; there are: " + known);
  }
  const Variable& variable = plant_.variables()[index];
  if (asked.type[0] != 0 && variable.type != asked.type) {
    return refuse(m, link, Verdict::wrong_type, now, name + " is " + variable.type + ", not " + asked.type);
  }
  Exchange exchange = at_time(now);
  exchange.index = index;
  exchange.number = static_cast<std::int64_t>(variable.size);
  put(exchange.type, variable.type);
  m.channel->answer(link, exchange);
}

void RealtimePrograms::read(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  const auto& variables = plant_.variables();
  if (asked.index >= variables.size() || !variables[asked.index].readable ||
      variables[asked.index].size > protocol::payload_max) {
    return refuse(m, link, Verdict::refused, now, "reads a variable that cannot be read");
  }
  const SimTime there = plant_.asked(asked.index, in_step(now));
  if (there <= now) return answer_reading(who, link, asked.index, now);
  m.waits[link] = {.what = Wait::For::reading, .until = there, .variable = asked.index};
}

void RealtimePrograms::answer_reading(std::uint32_t who, std::uint32_t link, std::uint32_t variable, SimTime now) {
  Member& m = *members_[who];
  const Variable& v = plant_.variables()[variable];
  std::span<std::byte> value = m.channel->room(link).first(v.size);
  Exchange exchange = at_time(now);
  if (v.varies) {
    const Sample sample = plant_.sample(variable, in_step(now), value);
    value = value.first(sample.size);
    exchange.stamp = sample.stamp.ns();
    if (sample.size == 0) exchange.verdict = static_cast<std::uint32_t>(Verdict::nothing);
  } else {
    plant_.read(variable, in_step(now), value);
  }
  tell(who, Kind::read, now, variable, value);
  exchange.size = static_cast<std::uint32_t>(value.size());
  m.channel->answer(link, exchange);
}

/// The plant is asked within its present step, also when that is late.
SimTime RealtimePrograms::in_step(SimTime now) const {
  return std::clamp(now, plant_.time(), plant_.time() + step_ - SimSpan::from_ns(1));
}

void RealtimePrograms::write(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now) {
  Member& m = *members_[who];
  if (asked.index >= plant_.variables().size() || !plant_.variables()[asked.index].writable) {
    return refuse(m, link, Verdict::refused, now, "writes a variable that cannot be written");
  }
  const Variable& variable = plant_.variables()[asked.index];
  if (asked.size != variable.size) {
    return refuse(
        m, link, Verdict::wrong_type, now,
        "writes " + std::to_string(asked.size) + " bytes to " + variable.name + " of " + std::to_string(variable.size));
  }
  if (writes_used_ == writes_.size()) writes_.emplace_back();
  Write& write = writes_[writes_used_];  // a copy that the program cannot change any more
  const auto from = m.channel->payload(link, asked.size);
  write.variable = asked.index;
  write.at = now;
  write.value.assign(from.begin(), from.end());
  if (const auto fit = plant_.check(asked.index, write.value); !fit.ok()) {
    return refuse(m, link, Verdict::refused, now, "writes to " + variable.name + ": " + fit.error());
  }
  ++writes_used_;
  tell(who, Kind::write, now, asked.index, write.value);
  m.channel->answer(link, at_time(now));
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
    return refuse(m, link, Verdict::unknown_name, now,
                  name.empty() ? "sends to nobody: name a program, or give it `to:` in the scenario"
                               : "sends to " + name + ", which is no program of this run");
  }
  const auto from = m.channel->payload(link, asked.size);
  tell(who, Kind::send, now, to, from);
  if (!members_[to]->mailbox.put({now, now, who, m.letters++, asked.type, {from.begin(), from.end()}})) {
    return refuse(m, link, Verdict::refused, now, "sends to " + name + ", which does not read its messages");
  }
  m.channel->answer(link, at_time(now));
  for (std::uint32_t other = 0; other < members_[to]->channel->links_used(); ++other) {
    const Wait& wait = members_[to]->waits[other];
    if (wait.what == Wait::For::message && (wait.from == anybody || wait.from == who)) hand_over(to, other, now);
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
      return refuse(m, link, Verdict::unknown_name, now,
                    std::string("receives from ") + asked.name + ", which is no program of this run");
    }
  }
  if (hand_over(who, link, now)) return;
  if (wait.until <= now) let_go(who, link, now);
}

/// The first letter that fits the wait, if there is one.
bool RealtimePrograms::hand_over(std::uint32_t who, std::uint32_t link, SimTime now) {
  Member& m = *members_[who];
  const Wait wait = m.waits[link];
  const Letter* first = m.mailbox.peek(wait.from, now);
  if (first == nullptr) return false;
  m.waits[link] = {};
  if (!wait.type.empty() && first->type != wait.type) {
    refuse(m, link, Verdict::wrong_type, now, "expects " + wait.type + ", but a " + first->type + " came");
    return true;
  }
  if (first->bytes.size() > wait.capacity) {
    refuse(m, link, Verdict::too_large, now, "has no room for a message of " + std::to_string(first->bytes.size()));
    return true;
  }
  const auto letter = m.mailbox.take(wait.from, now);
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
  if (wait.what == Wait::For::reading) return answer_reading(who, link, wait.variable, now);
  if (wait.periodic) {
    m.program.deadlines->begin(wait.until, now);
    tell(who, Kind::release, now, UINT32_MAX, {}, wait.until);
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

std::uint32_t RealtimePrograms::find_variable(const Member& m, std::string_view name) const {
  return find_own(plant_.variables(), m.program.robot, name, &Variable::name);
}

void RealtimePrograms::end(SimTime now) {
  for (auto& m : members_) {
    if (!m->gone) m->cpu = m->process->cpu_time() - m->cpu_base;
    m->channel->set_over();
    show_clock(*m, now);
    m->channel->set_clock_mode(protocol::ClockMode::held, 0);
    m->channel->answer_all_ended(now);
  }
  const WallTime deadline = wall_now() + WallSpan(300ms);
  for (bool all = false; !all && wall_now() < deadline;) {
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    all = true;
    for (auto& m : members_) {
      while (const auto link = m->channel->asking()) {
        m->channel->take(*link);
        m->channel->answer(*link, at_time(now, Verdict::ended));
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
