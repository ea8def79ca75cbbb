#include "traffic/agent_parts.hpp"

#include <algorithm>
#include <cmath>

namespace isochron {

Signals::Signals(std::string name, const std::vector<PhaseSection>& phases) : name_(std::move(name)), phases_(phases) {
  for (const PhaseSection& phase : phases_) {
    cycle_ += phase.lasts;
    actuated_ = actuated_ || phase.most;
    for (const auto* heads : {&phase.green, &phase.yellow}) {
      for (const std::string& head : *heads) {
        if (std::find(heads_.begin(), heads_.end(), head) == heads_.end()) heads_.push_back(head);
      }
    }
  }
}

void Signals::advance(SimTime t, const Occupied& occupied) {
  if (!actuated_) return;
  for (;;) {
    const PhaseSection& phase = phases_[now_];
    if (phase.most && std::any_of(phase.detectors.begin(), phase.detectors.end(), occupied)) called_ = t;
    const SimTime end = ahead(t, 1).front().least;
    if (t < end) return;
    since_ = end;
    called_.reset();
    now_ = (now_ + 1) % phases_.size();
  }
}

std::vector<Signals::Stretch> Signals::ahead(SimTime t, std::size_t count) const {
  std::vector<Stretch> all;
  std::size_t now = now_;
  SimTime begin = since_;
  if (!actuated_) {
    begin = t - t.since_zero() % cycle_;
    for (now = 0; begin + phases_[now].lasts <= t; ++now) begin += phases_[now].lasts;
  }
  SimTime least = begin + phases_[now].lasts, most = begin + phases_[now].most.value_or(phases_[now].lasts);
  if (called_) least = std::max(least, *called_ + phases_[now].gap);
  least = std::min(least, most);
  while (all.size() < count) {
    all.push_back({&phases_[now], least, most});
    now = (now + 1) % phases_.size();
    least += phases_[now].lasts;
    most += phases_[now].most.value_or(phases_[now].lasts);
  }
  return all;
}

SimTime Signals::show(SimTime t, LampBoard& board) const {
  const Stretch now = ahead(t, 1).front();
  const auto has = [](const std::vector<std::string>& heads, const std::string& head) {
    return std::find(heads.begin(), heads.end(), head) != heads.end();
  };
  for (const std::string& head : heads_) {
    board[name_ + "/" + head] = has(now.phase->green, head)    ? Lamp::green
                                : has(now.phase->yellow, head) ? Lamp::yellow
                                                               : Lamp::red;
  }
  return now.least;
}

Walker::Walker(const world::Engine& engine, std::uint32_t body, const std::vector<StopSection>& schedule,
               const SimSpan& offset)
    : body_(body), height_(engine.motion(body).pose.position[2]), offset_(offset) {
  for (const StopSection& stop : schedule) {
    stops_.push_back({stop.at.seconds(), stop.position[0], stop.position[1]});
  }
}

world::Motion Walker::at(SimTime t) const {
  const double now = t.seconds();
  const auto next = std::find_if(stops_.begin(), stops_.end(), [now](const Stop& stop) { return stop.time > now; });
  world::Motion motion;
  if (next == stops_.begin() || next == stops_.end()) {
    const Stop& here = next == stops_.begin() ? stops_.front() : stops_.back();
    motion.pose.position = {here.x, here.y, height_};
    return motion;
  }
  const Stop &from = *std::prev(next), &to = *next;
  const double span = to.time - from.time, share = (now - from.time) / span;
  motion.pose.position = {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y), height_};
  motion.linear = {(to.x - from.x) / span, (to.y - from.y) / span, 0};
  const double heading = std::atan2(to.y - from.y, to.x - from.x);
  motion.pose.orientation = {std::cos(heading / 2), 0, 0, std::sin(heading / 2)};
  return motion;
}

void Walker::act(world::Engine& engine, SimSpan, world::Wrenches&) {
  engine.set_motion(body_, at(engine.time() + offset_));
}

}  // namespace isochron
