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
};
template <class V>
void describe(V& v, PhaseSection& s) {
  v.required("lasts", s.lasts, "how long");
  v.optional("green", s.green, "heads that are green");
  v.optional("yellow", s.yellow, "heads that are yellow; all others are red");
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

struct AgentSection : Section {
  AgentKind kind = AgentKind::car;
  std::string client;
  std::string body;
  // cars
  CarModel model = CarModel::full;
  std::vector<std::array<double, 2>> path;
  bool closed = false;
  double speed = 10;
  std::string obeys;
  std::optional<std::array<double, 2>> stop;
  std::optional<GiveWaySection> gives_way;
  // pedestrians
  std::vector<StopSection> schedule;
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
  v.optional("path", s.path, "cars: points to drive along, [[x, y], …], m");
  v.optional("closed", s.closed, "cars: after the last point comes the first");
  v.optional("speed", s.speed, "cars: wanted, m/s");
  v.optional("obeys", s.obeys, "cars: the signal that they obey, as LIGHTS/HEAD");
  v.optional("stop", s.stop, "cars: where they wait for it, [x, y], on their path");
  v.optional("gives_way", s.gives_way, "cars: to whom, as in a left turn across those who come towards one");
  v.optional("schedule", s.schedule, "pedestrians: where they are when; between two they walk straight");
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
  v.optional("members", s.members, "the agents by name");
}

}  // namespace isochron
