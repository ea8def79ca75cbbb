#include "hil/sync.hpp"

#include <algorithm>
#include <tuple>

namespace isochron::hil {

LinkId Sync::join(std::uint32_t order, SimTime at) {
  Link link;
  link.order = order;
  link.at = std::max(at, front_);
  links_.push_back(link);
  return static_cast<LinkId>(links_.size() - 1);
}

void Sync::start(WallTime now) {
  started_ = true;
  started_at_ = now;
}

WallSpan Sync::held_back(const Link& link) const {
  return options_.link_cost == LinkCost::removed ? link.latency.allowance() : WallSpan::zero();
}

SimTime Sync::bound(const Link& link, WallTime now) const {
  if (link.state == State::gone) return SimTime::never();
  if (link.state != State::free) return link.at;
  return link.at + as_executed(std::max(now - link.left - held_back(link), WallSpan::zero()));
}

/// When a link's bound will be t, if it goes on running.
WallTime Sync::reaches(const Link& link, SimTime t) const {
  if (link.state != State::free) return WallTime::never();
  return link.left + held_back(link) + WallSpan::from_ns((t - link.at).ns());
}

SimTime Sync::executed(LinkId link, WallTime now) const {
  const Link& l = links_[link];
  if (l.state != State::free) return l.state == State::waiting ? std::min(l.at, std::max(world_, front_)) : l.at;
  const WallSpan on_the_way = options_.link_cost == LinkCost::removed ? l.latency.mean() / 2 : WallSpan::zero();
  return l.at + as_executed(std::max(now - l.left - on_the_way, WallSpan::zero()));
}

/// What is added to ET for a run that took `run` by our clock.
SimSpan Sync::executed_since(Link& link, WallSpan run, std::optional<WallSpan> told) {
  if (!told) return as_executed(run);
  // Two clocks run at rates that differ by some parts in 100,000.
  const WallSpan possible = run + std::chrono::microseconds(50) + run / 1000;
  if (*told < WallSpan::zero() || *told > possible) {
    // It cannot have executed for longer than it was let run. Its clock jumped, or runs backwards: ours counts.
    ++link.clock_faults;
    if (options_.link_cost == LinkCost::charged) return as_executed(run);
    return as_executed(std::max(run - link.latency.least(), WallSpan::zero()));
  }
  const WallSpan executed = std::min(*told, run);
  link.latency.add(run - executed);
  return as_executed(options_.link_cost == LinkCost::charged ? run : executed);
}

SimTime Sync::asked(LinkId id, WallTime arrived, std::optional<WallSpan> told) {
  Link& link = links_[id];
  ENSURE(link.state == State::free, "a link asks while it is held");
  const WallSpan run = std::max(arrived - link.left, WallSpan::zero());
  link.free_for += run;
  link.state = State::asking;
  if (!options_.held) {
    link.ran += as_executed(run);
    return link.at = std::max(world_, link.at);
  }
  const SimSpan more = std::max(executed_since(link, run, told), options_.least);
  SimTime stamp = link.at + more;
  if (stamp < front_) {
    ++link.late;
    link.late_by += front_ - stamp;
    stamp = front_;
  }
  link.ran += stamp - link.at;
  return link.at = stamp;
}

void Sync::delay(LinkId id, SimSpan more) {
  Link& link = links_[id];
  ENSURE(link.state == State::asking, "only who asks can be delayed");
  link.at += more;
  link.ran += more;
}

void Sync::suspend(LinkId id, SimTime until, bool receiving) {
  Link& link = links_[id];
  ENSURE(link.state == State::asking, "only who asks can be suspended");
  link.state = State::waiting;
  link.at = std::max(until, link.at);
  link.receiving = receiving;
}

void Sync::message(LinkId id, SimTime at) {
  Link& link = links_[id];
  if (link.state == State::waiting && link.receiving) link.at = std::min(link.at, at);
}

void Sync::answered(LinkId id, WallTime left) {
  Link& link = links_[id];
  ENSURE(link.state == State::asking || link.state == State::waiting, "an answer to nobody");
  link.state = State::free;
  link.receiving = false;
  link.left = left;
}

void Sync::pause(LinkId id, WallTime now) {
  Link& link = links_[id];
  if (link.state == State::gone) return;
  if (link.state == State::free) link.at = std::max(bound(link, now), front_);
  if (link.state == State::waiting) link.at = std::min(link.at, std::max(front_, world_));
  link.state = State::paused;
  link.receiving = false;
}

void Sync::resume(LinkId id) {
  ENSURE(links_[id].state == State::paused, "only who was paused can resume");
  links_[id].state = State::waiting;
}

/// The link whose operation or wake is known and comes first.
LinkId Sync::first_known() const {
  LinkId first = no_link;
  for (LinkId i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.state != State::asking && link.state != State::waiting) continue;
    if (first == no_link || std::tie(link.at, link.order) < std::tie(links_[first].at, links_[first].order)) first = i;
  }
  return first;
}

Sync::Event Sync::wait_for(LinkId link, SimTime t) const {
  return {Event::Kind::wait, link, t, reaches(links_[link], t)};
}

Sync::Event Sync::step_or_wait(WallTime now) {
  const SimTime b = world_ + options_.step;
  if (options_.pace) {
    const WallTime due = started_at_ + options_.pace->apply(b.since_zero());
    if (now < due) return {Event::Kind::wait, no_link, b, due};
  }
  return {Event::Kind::step, no_link, b, {}};
}

Sync::Event Sync::next_free_running(WallTime now) {
  const LinkId first = first_known();
  for (LinkId i = 0; i < links_.size(); ++i) {  // whoever asks is answered at once, in the order of the links
    if (links_[i].state == State::asking) return {Event::Kind::operation, i, links_[i].at, {}};
  }
  if (first != no_link && links_[first].at <= world_) {
    return {Event::Kind::wake, first, links_[first].at = world_, {}};
  }
  if (world_ + options_.step > options_.until) return {};
  return step_or_wait(now);
}

/// Who could still act before t, and will be the last to get there; `asker` wins ties only against those behind it.
LinkId Sync::slowest_before(SimTime t, LinkId asker, WallTime now) const {
  LinkId slowest = no_link;
  for (LinkId i = 0; i < links_.size(); ++i) {
    const Link& other = links_[i];
    if (other.state != State::free && other.state != State::paused) continue;
    const bool may_come_first = asker != no_link && other.order < links_[asker].order;
    if (bound(other, now) >= (may_come_first ? t + SimSpan::from_ns(1) : t)) continue;
    if (slowest == no_link || reaches(other, t) > reaches(links_[slowest], t)) slowest = i;
  }
  return slowest;
}

Sync::Event Sync::next(WallTime now) {
  if (!started_) return {Event::Kind::wait, no_link, world_, WallTime::never()};
  if (!options_.held) return next_free_running(now);
  const SimTime b = world_ + options_.step;
  if (b > options_.until) return {};
  const LinkId first = first_known();
  if (first == no_link || b <= links_[first].at) {
    const LinkId slowest = slowest_before(b, no_link, now);
    return slowest == no_link ? step_or_wait(now) : wait_for(slowest, b);
  }
  const SimTime t = links_[first].at;
  const bool asks = links_[first].state == State::asking;
  if (const LinkId slowest = slowest_before(t, asks ? first : no_link, now); slowest != no_link) {
    return wait_for(slowest, t + SimSpan::from_ns(1));
  }
  front_ = std::max(front_, t);
  return {asks ? Event::Kind::operation : Event::Kind::wake, first, t, {}};
}

void Sync::stepped() {
  world_ += options_.step;
  front_ = std::max(front_, world_);
}

}  // namespace isochron::hil
