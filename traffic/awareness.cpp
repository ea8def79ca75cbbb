#include "traffic/awareness.hpp"

#include <algorithm>
#include <cmath>

namespace isochron {
namespace {

using world::operator+;
using world::operator-;
using world::operator*;

constexpr double farthest = 150;        // m that eyes and minds reach
constexpr double behind = -0.35;        // cosine: beyond some 110 degrees from ahead nothing is seen
constexpr double eye_height = 0.6;      // over a car's middle
constexpr double remembers = 20;        // s in which an error becomes another one
constexpr double far_error = 0.05;      // of a distance
constexpr double fast_error = 0.01;     // 1/s: of a speed along the line of sight, for each metre of distance
constexpr double between_glances = 40;  // s, in the mean
constexpr SimSpan brake_lights = std::chrono::milliseconds(200);

SimSpan seconds(double s) { return SimSpan::from_seconds(s); }

/// As it goes on from there, braking as it does.
world::Motion carried_on(const world::Motion& then, double braking, double s) {
  world::Motion now = then;
  const double speed = world::length(then.linear);
  if (braking <= 0 || speed < 0.1) {
    now.pose.position = then.pose.position + s * then.linear;
    return now;
  }
  const double t = std::min(s, speed / braking), way = speed * t - braking * t * t / 2;
  now.pose.position = then.pose.position + (way / speed) * then.linear;
  now.linear = (std::max(0.0, speed - braking * s) / speed) * then.linear;
  return now;
}

}  // namespace

Awareness::Awareness(std::vector<Other> others, v2x::Boxes buildings, SimSpan period)
    : others_(std::move(others)), buildings_(std::move(buildings)), period_(period), memory_(moments) {
  for (Moment& moment : memory_) moment.motions.resize(others_.size());
}

std::size_t Awareness::add(std::uint32_t body, const Temper& temper, const RandomStream& draws) {
  minds_.push_back({body, temper, draws});
  minds_.back().company.reserve(others_.size());
  renew(minds_.size() - 1, temper, draws);
  return minds_.size() - 1;
}

void Awareness::renew(std::size_t who, const Temper& temper, const RandomStream& draws) {
  Mind& mind = minds_[who];
  mind.temper = temper;
  mind.draws = draws;
  mind.far = mind.draws.normal();
  mind.fast = mind.draws.normal();
  mind.off_from = mind.off_until = SimTime::before_all();
}

const Awareness::Moment& Awareness::moment(SimTime t) const {
  const Moment& newest = memory_[(remembered_ - 1) % moments];
  const std::size_t known = std::min(remembered_, moments) - 1;
  const auto back = static_cast<std::size_t>(std::max<std::int64_t>(0, (newest.at - t).ns() / period_.ns()));
  return memory_[(remembered_ - 1 - std::min(back, known)) % moments];
}

double Awareness::braking(std::size_t other, SimTime t) const {
  const Moment &now = moment(t), &before = moment(t - brake_lights);
  if (!(before.at < now.at)) return 0;
  const world::Vec3 &v = now.motions[other].linear, &w = before.motions[other].linear;
  const double lost = (world::length(w) - world::length(v)) / (now.at - before.at).seconds();
  return lost > 0.3 && lost < 15 ? lost : 0;  // no brake is so good: it was put elsewhere
}

bool Awareness::sees(const world::Motion& own, const world::Vec3& there) const {
  const world::Vec3 to = there - own.pose.position;
  const double away = world::length(to);
  const world::Vec3 forward = world::rotate(own.pose.orientation, {1, 0, 0});
  if (world::dot(to, forward) < behind * away) return false;
  const world::Vec3& from = own.pose.position;
  return buildings_.line_of_sight({from[0], from[1], from[2] + eye_height},
                                  {there[0], there[1], there[2] + eye_height});
}

/// Off the road for a moment, where nobody is close ahead.
void Awareness::wander(Mind& mind, const world::Motion& own, SimTime now) const {
  if (now < mind.off_until || !mind.draws.chance(period_.seconds() / between_glances)) return;
  const double off = mind.draws.uniform(0.5, 1.8), reach = 15 + 2 * world::length(own.linear);
  const world::Vec3 forward = world::rotate(own.pose.orientation, {1, 0, 0});
  for (const world::Seen& other : mind.company) {
    const world::Vec3 to = other.motion.pose.position - own.pose.position;
    if (world::length(to) < reach && world::dot(to, forward) > 0) return;
  }
  mind.off_from = now;
  mind.off_until = now + seconds(off);
}

void Awareness::look(Mind& mind, const world::Engine& engine, SimTime now) const {
  const world::Motion own = engine.motion(mind.body);
  const bool human = mind.temper.human;
  SimTime then = now - mind.temper.reaction;
  if (human) {
    const double dt = period_.seconds(), keeps = 1 - dt / remembers, drifts = std::sqrt(2 * dt / remembers);
    mind.far = keeps * mind.far + drifts * mind.draws.normal();
    mind.fast = keeps * mind.fast + drifts * mind.draws.normal();
    wander(mind, own, now);
    if (mind.off_from < then && then < mind.off_until) then = mind.off_from;
  }
  const Moment& seen = moment(then);
  mind.company.clear();
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (others_[i].body == mind.body) continue;
    const world::Motion& there = seen.motions[i];
    if (world::length(there.pose.position - own.pose.position) > farthest) continue;
    world::Seen found{others_[i].body, there, braking(i, seen.at), others_[i].half_length, others_[i].half_width};
    if (human) {
      if (!sees(own, there.pose.position)) continue;
      found.motion = carried_on(there, found.braking, (now - seen.at).seconds());
      const world::Vec3 to = found.motion.pose.position - own.pose.position;
      found.motion.pose.position = own.pose.position + (1 + far_error * mind.far) * to;
      found.motion.linear = found.motion.linear + (fast_error * mind.fast) * to;
    }
    mind.company.push_back(found);
  }
}

void Awareness::remember(const world::Engine& engine) {
  Moment& now = memory_[remembered_++ % moments];
  now.at = engine.time();
  for (std::size_t i = 0; i < others_.size(); ++i) now.motions[i] = engine.motion(others_[i].body);
  for (Mind& mind : minds_) look(mind, engine, now.at);
}

}  // namespace isochron
