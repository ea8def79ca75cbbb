#pragma once
// The part of a scenario's vocabulary for worlds with many agents: which agents there are, which client simulates
// which, and how they are kept together. See docs/agents.md.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "msg/agent_messages.hpp"
#include "scenario/section.hpp"

namespace isochron {

template <>
struct Words<AgentKind> {
  static constexpr std::array<const char*, 5> list{"car", "pedestrian", "lights", "scenery", "passive"};
};
enum class CarModel { full, kinematic };
template <>
struct Words<CarModel> {
  static constexpr std::array<const char*, 2> list{"full", "kinematic"};
};
enum class DriverKind { ideal, human, assisted };
template <>
struct Words<DriverKind> {
  static constexpr std::array<const char*, 3> list{"ideal", "human", "assisted"};
};
enum class AgentUpdates { automatic, single, whole, vicinity };
template <>
struct Words<AgentUpdates> {
  static constexpr std::array<const char*, 4> list{"automatic", "single", "whole", "vicinity"};
};

struct StopSection : Section {
  SimSpan at;
  std::array<double, 2> position{};
};
template <class V>
void describe(V& v, StopSection& s) {
  v.required("at", s.at, "when");
  v.required("position", s.position, "where, m");
}

struct PhaseSection : Section {
  SimSpan lasts = std::chrono::seconds(10);
  std::vector<std::string> green, yellow;
  std::optional<SimSpan> most;
  SimSpan gap = std::chrono::seconds(3);
  std::vector<std::array<double, 2>> detectors;
};
template <class V>
void describe(V& v, PhaseSection& s) {
  v.required("lasts", s.lasts, "how long; at least so long where cars at its detectors make it last");
  v.optional("green", s.green, "heads that are green");
  v.optional("yellow", s.yellow, "heads that are yellow; all others are red");
  v.optional("most", s.most, "actuated: it ends after so long even if cars keep coming");
  v.optional("gap", s.gap, "actuated: it ends when no car was at a detector for so long");
  v.optional("detectors", s.detectors, "actuated: places where cars are noticed, [[x, y], …], m");
}

struct CrossedSection : Section {
  std::array<double, 2> from{}, meets{};
};
template <class V>
void describe(V& v, CrossedSection& s) {
  v.required("from", s.from, "its stop line, [x, y], m");
  v.required("meets", s.meets, "where one's own way crosses it, [x, y], m");
}

struct GiveWaySection : Section {
  std::array<double, 2> before{};
  std::vector<CrossedSection> to;
  SimSpan gap = std::chrono::seconds(5);
};
template <class V>
void describe(V& v, GiveWaySection& s) {
  v.required("before", s.before, "where it waits, [x, y], on its path");
  v.required("to", s.to, "lanes of those who go first");
  v.optional("gap", s.gap, "it goes if nobody can be there before so long");
}

/// A way to go, and who goes first on it.
struct RouteSection : Section {
  std::vector<std::array<double, 2>> path;
  std::string obeys;
  std::optional<std::array<double, 2>> stop, clear;
  std::optional<GiveWaySection> gives_way;
};
template <class V>
void describe_way(V& v, RouteSection& s) {
  v.optional("obeys", s.obeys, "cars: the signal that they obey, as LIGHTS/HEAD");
  v.optional("stop", s.stop, "cars: where they wait for it, [x, y], on their path");
  v.optional(
      "clear", s.clear,
      "cars: where they have left the crossing, [x, y], on their path; they wait at `stop` while it is not free");
  v.optional("gives_way", s.gives_way, "cars: to whom, as in a left turn across those who come towards one");
}
template <class V>
void describe(V& v, RouteSection& s) {
  v.required("path", s.path, "points to drive along, [[x, y], …], m");
  describe_way(v, s);
}

struct TripSection : Section {
  SimSpan at;
  std::string route;
  double speed = 10, from = 0;
};
template <class V>
void describe(V& v, TripSection& s) {
  v.required("at", s.at,
             "when it enters, at the beginning of its route; later if there is no room, or it is not back yet");
  v.required("route", s.route, "one of `routes`; it leaves at its end");
  v.optional("speed", s.speed, "wanted, m/s");
  v.optional("from", s.from, "it enters so far along its route, m");
}

struct WalkSection : Section {
  std::array<double, 2> from{}, to{};
  std::string obeys;
};
template <class V>
void describe(V& v, WalkSection& s) {
  v.required("from", s.from, "where it waits and looks, [x, y], on its path");
  v.required("to", s.to, "where it is across, [x, y], on its path");
  v.optional("obeys", s.obeys, "the signal that it obeys, as LIGHTS/HEAD");
}

struct AgentSection : RouteSection {
  AgentKind kind = AgentKind::car;
  std::string client;
  std::string body;
  // cars
  CarModel model = CarModel::full;
  DriverKind driver = DriverKind::ideal;
  bool closed = false;
  double speed = 10;
  std::vector<TripSection> trips;
  // pedestrians
  std::vector<StopSection> schedule;
  std::vector<WalkSection> crosses;
  // lights
  std::vector<PhaseSection> phases;
  // passive
  std::array<double, 3> wind{};
  double drag = 0;
};
template <class V>
void describe(V& v, AgentSection& s) {
  v.required("kind", s.kind, "what it is");
  v.required("client", s.client, "who simulates it: isochron join FILE --as CLIENT");
  v.optional("body", s.body, "its body in the model; its own name if left out. Lights need none");
  v.optional("model", s.model, "cars: the full dynamics, or the bicycle model");
  v.optional("driver", s.driver,
             "cars: ideal knows where everybody is; human looks, reacts late and errs; assisted is one with a radio");
  v.optional("path", s.path, "points to drive or walk along, [[x, y], …], m");
  v.optional("closed", s.closed, "cars: after the last point comes the first");
  v.optional("speed", s.speed, "wanted, m/s; pedestrians walk at 1.4 if it is left out");
  describe_way(v, s);
  v.optional("trips", s.trips, "cars: instead of a path, when it enters on which route; meanwhile it is not there");
  v.optional("schedule", s.schedule, "pedestrians: where they are when; between two they walk straight");
  v.optional("crosses", s.crosses, "pedestrians with a path: where they cross a road, and look before they do");
  v.optional("phases", s.phases, "lights: what follows what, over and over");
  v.optional("wind", s.wind, "passive objects: m/s, world frame");
  v.optional("drag", s.drag, "passive objects: N for each (m/s)²");
}

struct AgentsSection : Section {
  SimSpan heartbeat = std::chrono::milliseconds(10);
  double vicinity = 100;
  AgentUpdates updates = AgentUpdates::automatic;
  WallSpan silence = std::chrono::seconds(3);
  WallSpan stall = std::chrono::seconds(10);
  bool collide = true;
  std::vector<std::string> guests;
  Named<RouteSection> routes;
  Named<AgentSection> members;
};
template <class V>
void describe(V& v, AgentsSection& s) {
  v.optional("heartbeat", s.heartbeat, "how often agents tell their states; nobody gets ahead by more than three");
  v.optional("vicinity", s.vicinity, "a client is told of agents nearer than this to one of its own, m");
  v.optional("updates", s.updates,
             "what clients are told: single agents, the whole world, the vicinity, or whichever is least");
  v.optional("silence", s.silence, "who says nothing for so long is shot down");
  v.optional("stall", s.stall, "who makes no progress for so long while others wait is shot down");
  v.optional("collide", s.collide, "whether other clients' agents can be run into, or only seen");
  v.optional("guests", s.guests, "bodies that show agents the model has no body for");
  v.optional("routes", s.routes, "ways through the world by name, for `trips`");
  v.optional("members", s.members, "the agents by name");
}

}  // namespace isochron
