#include "run/stage_senses.hpp"

namespace isochron {

void StageSenses::release_at(SimTime now) {
  now_ = now;
  stage_.look(now);
}

std::uint32_t StageSenses::find(std::string_view sensor) const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < stage_.sensors().size(); ++i) {
    const world::SensorSpec& spec = stage_.sensors()[i].spec();
    if ((spec.robot == robot_ && spec.name == sensor) || spec.robot + "/" + spec.name == sensor) return i;
    names.push_back(spec.robot == robot_ ? spec.name : spec.robot + "/" + spec.name);
  }
  throw InputError(Place{}, "the scenario has no sensor `" + std::string(sensor) + "`", nearest_hint(sensor, names));
}

const world::Reading* StageSenses::latest(std::uint32_t sensor) const { return stage_.reading(sensor, now_); }

SimTime StageSenses::ask(std::uint32_t sensor) {
  const SimTime there = stage_.sensors()[sensor].ask(now_);
  stage_.look(now_);
  return there;
}

std::uint32_t NoSenses::find(std::string_view sensor) const {
  throw InputError(Place{}, "sensor `" + std::string(sensor) + "` cannot be read by a controller in a library here",
                   "make it an executable with `run`, or use mode callback or repeatable");
}

}  // namespace isochron
