#include "run/signal_lamps.hpp"

#include <string_view>

namespace isochron {
namespace {

constexpr std::string_view prefix = "signal/";
constexpr float left_of_the_colour = 0.13F;  // of a lamp that is off

bool is_lit(Lamp lamp, std::string_view colour) {
  if (colour == "green") return lamp == Lamp::green;
  if (colour == "yellow") return lamp == Lamp::yellow || lamp == Lamp::red_yellow;
  return lamp == Lamp::red || lamp == Lamp::red_yellow;
}

}  // namespace

SignalLamps::SignalLamps(const std::vector<world::Geometry>& geometry) {
  for (std::uint32_t i = 0; i < geometry.size(); ++i) {
    const std::string& name = geometry[i].name;
    const std::size_t last = name.rfind('/');
    if (!name.starts_with(prefix) || last < prefix.size()) continue;
    const std::string colour = name.substr(last + 1);
    if (colour != "red" && colour != "yellow" && colour != "green") continue;
    Bulb bulb{i, name.substr(prefix.size(), last - prefix.size()), colour, {}, {}};
    for (int c = 0; c < 3; ++c) {
      bulb.lit.colour[c] = geometry[i].rgba[c];
      bulb.dark.colour[c] = left_of_the_colour * geometry[i].rgba[c];
    }
    bulb.lit.glows = true;
    bulbs_.push_back(std::move(bulb));
  }
}

void SignalLamps::show(world::Scene& scene, const LampBoard& board) {
  if (bulbs_.empty() || board == shown_) return;
  shown_ = board;
  for (const auto& [name, lamp] : board) {
    const std::string_view head = std::string_view(name).substr(name.rfind('/') + 1);
    for (Bulb& bulb : bulbs_) {
      if (bulb.head != head) continue;
      const bool on = is_lit(lamp, bulb.colour);
      if (bulb.on == on) continue;
      bulb.on = on;
      scene.set_material(bulb.geometry, on ? bulb.lit : bulb.dark);
    }
  }
}

}  // namespace isochron
