#pragma once
// Keeps simulated time and the targets' executed times together, and only that: it reads no clock, does no I/O and
// knows no world, so the same logic serves the TCP server, tests and the simulated network.
//
// Each link (one thread of a target) has an executed time ET. It runs with the wall clock while the target may run and
// stands still while the target is held:
//
//     wall    ──────|═══════════════|····················|═════════|······|════
//     target        free            asks at ET = t       free      asks
//                                   └── held: ET stands ─┘  the answer is stamped t and leaves when ST ≥ t
//
// ST is what the world and everybody's operations have come to. With bound(i) the earliest time at which link i can
// still act (ET now if free, the stamp of its request if it asks, the end of its wait if it waits):
//
//     step of the world to b      when every bound ≥ b; before operations at b
//     operation of i at t         when b > t, and (bound(j), j) > (t, i) for every other j
//     wake of i at t              when b > t, and bound(j) ≥ t: who goes on from a wait shows nothing to others yet
//
// So commands act at the time they were sent, nobody is answered before ST is there, and among targets the order is
// that of time, then of the declared order. If the world is quick it waits for the targets; if it is slow they wait
// for it.
//
// The link between costs time too. `charged`: it is part of ET, as if the target's own bus were so slow. `removed`: ET
// grows by what the target says that it executed, if that can be true; then a request may be on its way whose stamp
// is earlier than ET by the wall clock, so a free link's bound keeps the link's usual delay back. A request that was
// delayed for longer than that is stamped with the time that was already passed, and counted as late.
//
// Without holding (`held = false`) answers leave at once, stamped with the world's time, and the world steps by the
// wall clock alone: what most test benches do, for comparison.
//
// Promises: stamps of operations never go back. ET of a link never goes back. No operation happens after a step to or
//           beyond its stamp.
// Requires: every event of next() is answered before next() is called again, see Event.
//           `now` never goes back, and every request that came before `now` was told.
// Threads:  owner thread. Cost: O(links) for an event; allocates when links join.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/rate.hpp"
#include "core/time.hpp"
#include "hil/latency.hpp"
#include "hil/options.hpp"

namespace isochron::hil {

using LinkId = std::uint32_t;
inline constexpr LinkId no_link = UINT32_MAX;

class Sync {
 public:
  struct Options {
    SimSpan step = std::chrono::milliseconds(10);
    SimTime until = SimTime::never();  // a multiple of the step
    bool held = true;
    std::optional<PaceRate> pace;
    LinkCost link_cost = LinkCost::removed;
    SimSpan least = std::chrono::microseconds(1);  // that a request costs: who asks and asks cannot stop time
  };
  struct Event {
    enum class Kind : std::uint8_t {
      step,       // advance the world to `at`, then stepped()
      operation,  // what `link` asked for happens at `at`; then answered() or suspend()
      wake,       // `link` goes on at `at`; then answered()
      wait,       // nothing before `until`, unless a request comes; `link` keeps the others (no_link: the pace)
      finished,   // the world has come to the end
    };
    Kind kind = Kind::finished;
    LinkId link = no_link;
    SimTime at;
    WallTime until = WallTime::never();
  };
  enum class State : std::uint8_t { free, asking, waiting, paused, gone };

  explicit Sync(const Options& options) : options_(options) {}

  /// A new link, held at `at` or ST if that is later; `order` breaks ties. It is let go by a wake, as if it had waited.
  LinkId join(std::uint32_t order, SimTime at);
  /// From now on the world may move.
  void start(WallTime now);
  [[nodiscard]] bool started() const { return started_; }

  /// The link's request came in at `arrived`; `told`: what its target says that it executed since the last answer.
  /// Returns the stamp. Requires: the link is free.
  SimTime asked(LinkId link, WallTime arrived, std::optional<WallSpan> told);
  /// The target computes this much longer before what it asks for: a fault.
  void delay(LinkId link, SimSpan more);
  /// The operation ends later: a wait, or an acquisition that takes its time. `receiving`: message() may end it.
  void suspend(LinkId link, SimTime until, bool receiving = false);
  /// A waiting link goes on at `at` instead, if that is earlier.
  void message(LinkId link, SimTime at);
  /// The answer left; the target runs.
  void answered(LinkId link, WallTime left);
  /// Its connection is gone, and its time stands until resume(): the world waits for it.
  void pause(LinkId link, WallTime now);
  /// It is back, and is held at the time where it stood.
  void resume(LinkId link);
  void leave(LinkId link) { links_[link].state = State::gone; }

  Event next(WallTime now);
  void stepped();

  [[nodiscard]] SimTime world() const { return world_; }
  /// The latest time that anything happened at.
  [[nodiscard]] SimTime front() const { return front_; }
  [[nodiscard]] State state(LinkId link) const { return links_[link].state; }
  [[nodiscard]] bool receiving(LinkId link) const { return links_[link].receiving; }
  /// ET, as far as it is known at `now`.
  [[nodiscard]] SimTime executed(LinkId link, WallTime now) const;
  /// Executed freely, all together.
  [[nodiscard]] SimSpan ran(LinkId link) const { return links_[link].ran; }
  /// By the wall clock of this side, the link's delays included: against it `ran` is checked.
  [[nodiscard]] WallSpan free_for(LinkId link) const { return links_[link].free_for; }
  [[nodiscard]] LatencyMeter& latency(LinkId link) { return links_[link].latency; }
  [[nodiscard]] const LatencyMeter& latency(LinkId link) const { return links_[link].latency; }
  [[nodiscard]] std::uint64_t late(LinkId link) const { return links_[link].late; }
  [[nodiscard]] SimSpan late_by(LinkId link) const { return links_[link].late_by; }
  [[nodiscard]] std::uint64_t clock_faults(LinkId link) const { return links_[link].clock_faults; }

 private:
  struct Link {
    State state = State::waiting;
    std::uint32_t order = 0;
    SimTime at;     // free: ET when it was let go; else the time at which it is held, or goes on
    WallTime left;  // free: when it was let go
    bool receiving = false;
    SimSpan ran;
    WallSpan free_for;
    LatencyMeter latency;
    std::uint64_t late = 0;
    SimSpan late_by;
    std::uint64_t clock_faults = 0;
  };
  [[nodiscard]] static SimSpan as_executed(WallSpan span) { return SimSpan::from_ns(span.ns()); }
  [[nodiscard]] WallSpan held_back(const Link& link) const;
  [[nodiscard]] SimTime bound(const Link& link, WallTime now) const;
  [[nodiscard]] WallTime reaches(const Link& link, SimTime t) const;
  [[nodiscard]] LinkId first_known() const;
  Event wait_for(LinkId link, SimTime t) const;
  Event step_or_wait(WallTime now);
  Event next_free_running(WallTime now);
  [[nodiscard]] LinkId slowest_before(SimTime t, LinkId asker, WallTime now) const;
  SimSpan executed_since(Link& link, WallSpan run, std::optional<WallSpan> told);

  Options options_;
  std::vector<Link> links_;
  SimTime world_;
  SimTime front_;
  bool started_ = false;
  WallTime started_at_;
};

}  // namespace isochron::hil
