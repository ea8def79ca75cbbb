#pragma once
// The figures of a report, each declared once: the key that it has in report.json, and where it is kept. The report is
// written by these and read back by them.
//
//      for_each_figure(target, [](const char* key, auto& value) { … });

#include <concepts>
#include <type_traits>

#include "run/run.hpp"

namespace isochron {

template <class T, class Report>
concept Reports = std::same_as<std::remove_const_t<T>, Report>;

void for_each_figure(Reports<ProgramReport> auto& p, auto&& figure) {
  figure("name", p.name);
  figure("activations", p.activations);
  figure("overruns", p.overruns);
  figure("missed_deadlines", p.missed_deadlines);
  figure("preemptions", p.preemptions);
  figure("executed_s", p.executed);
  figure("waited_s", p.waited);
  figure("blocked_s", p.blocked);
  figure("startup_cpu_s", p.startup);
  figure("outsiders", p.outsiders);
  figure("outsiders_cpu_s", p.outsiders_cpu);
}

void for_each_figure(Reports<HilTargetReport> auto& t, auto&& figure) {
  figure("name", t.name);
  figure("executed_s", t.executed_s);
  figure("free_s", t.free_s);
  figure("holds", t.holds);
  figure("held_s", t.held_s);
  figure("held_most_s", t.held_most_s);
  figure("held_by_world_s", t.held_by_world_s);
  figure("held_by_targets_s", t.held_by_targets_s);
  figure("held_by_programs_s", t.held_by_programs_s);
  figure("held_by_pace_s", t.held_by_pace_s);
  figure("world_waited_s", t.world_waited_s);
  figure("losses", t.losses);
  figure("links", t.links);
  figure("ping_s", t.ping_s);
  figure("latency_s", t.latency_s);
  figure("jitter_s", t.jitter_s);
  figure("latency_most_s", t.latency_most_s);
  figure("clock_offset_s", t.clock_offset_s);
  figure("clock_offset_end_s", t.clock_offset_end_s);
  figure("clock_jumps", t.clock_jumps);
  figure("clock_faults", t.clock_faults);
  figure("clock_rate", t.clock_rate);
  figure("late", t.late);
  figure("late_s", t.late_s);
  figure("beyond_pings", t.beyond);
  figure("beyond_pings_s", t.beyond_s);
  figure("held", t.held);
  figure("apart_mean_s", t.apart_mean_s);
  figure("apart_most_s", t.apart_most_s);
}

void for_each_figure(Reports<HilReport> auto& h, auto&& figure) {
  figure("synced", h.synced);
  figure("link", h.link_cost);
  figure("requests", h.requests);
  figure("refused", h.refused);
  figure("verdict", h.verdict);
}

void for_each_figure(Reports<WireReport> auto& w, auto&& figure) {
  figure("name", w.name);
  figure("where", w.where);
  figure("sent", w.sent);
  figure("unheard", w.unheard);
  figure("taken", w.taken);
  figure("wrong", w.wrong);
  figure("first_wrong", w.first_wrong);
}

void for_each_figure(Reports<AutopilotReport> auto& a, auto&& figure) {
  figure("name", a.name);
  figure("protocol", a.protocol);
  figure("where", a.where);
  figure("time", a.time);
  figure("every_s", a.every_s);
  figure("frames", a.frames);
  figure("answers", a.answers);
  figure("overruns", a.overruns);
  figure("missed", a.missed);
  figure("response_mean_s", a.response_mean_s);
  figure("response_most_s", a.response_most_s);
  figure("world_waited_s", a.waited_s);
  figure("world_waited_most_s", a.waited_most_s);
  figure("first_controls_s", a.first_s);
  figure("wrong_packets", a.wrong);
  figure("not_numbers", a.not_numbers);
  figure("strangers", a.strangers);
  figure("skipped", a.skipped);
  figure("ahead", a.ahead);
  figure("restarts", a.restarts);
  figure("losses", a.losses);
}

void for_each_figure(Reports<AgentClientReport> auto& c, auto&& figure) {
  figure("name", c.name);
  figure("agents", c.agents);
  figure("heartbeats", c.heartbeats);
  figure("waits", c.waits);
  figure("waited_s", c.waited_s);
  figure("oldest_s", c.oldest_s);
  figure("sent", c.sent);
  figure("received", c.received);
  figure("said_again", c.said_again);
  figure("dropped", c.dropped);
  figure("joins", c.joins);
  figure("began_later", c.began_later);
  figure("shut_down", c.shut_down);
}

void for_each_figure(Reports<AgentsReport> auto& a, auto&& figure) {
  figure("shot_down", a.shot_down);
  figure("stalled", a.stalled);
  figure("fenced", a.fenced);
}

}  // namespace isochron
