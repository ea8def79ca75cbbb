#include "world/engine.hpp"

namespace isochron::world {
namespace {

// Names are looked up at set-up only, so a walk will do; the first of equal names is meant.
template <class Items, class NameOf>
std::optional<std::uint32_t> find(const Items& items, std::string_view name, NameOf name_of) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (name_of(items[i]) == name) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}
constexpr auto own_name = [](const auto& item) -> std::string_view { return item.name; };

}  // namespace

std::optional<std::uint32_t> Catalog::body(std::string_view name) const {
  return find(bodies, name, [](const std::string& text) -> std::string_view { return text; });
}
std::optional<std::uint32_t> Catalog::joint(std::string_view name) const { return find(joints, name, own_name); }
std::optional<std::uint32_t> Catalog::actuator(std::string_view name) const { return find(actuators, name, own_name); }
std::optional<std::uint32_t> Catalog::sensor(std::string_view name) const { return find(sensors, name, own_name); }
std::optional<std::uint32_t> Catalog::site(std::string_view name) const { return find(sites, name, own_name); }
std::optional<std::uint32_t> Catalog::camera(std::string_view name) const { return find(cameras, name, own_name); }

bool Engine::can_place(std::uint32_t body) const {
  for (const JointInfo& joint : catalog().joints) {
    if (joint.body == body && joint.positions == 7) return true;
  }
  return false;
}

}  // namespace isochron::world
