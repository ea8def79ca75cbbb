#pragma once
// The part of a scenario's vocabulary that is about nodes that are SUMO simulations: which traffic, who of ours is in
// it, and which bodies show its vehicles. See docs/sumo.md.

#include <array>
#include <string>
#include <vector>

#include "scenario/faults_section.hpp"
#include "scenario/section.hpp"

namespace isochron {

struct SumoSection : Section {
  SumoSection() = default;  // as an aggregate it makes GCC 12 see uninitialised maps
  FilePath config;
  FilePath network;
  std::vector<FilePath> routes;
  std::vector<std::string> arguments;
  std::vector<std::string> ours;
  std::vector<std::string> bodies;
  double near = 100;
  std::optional<double> leave;
  double height = 0;
  std::array<double, 2> origin{};
  Share equipped;
};
template <class V>
void describe(V& v, SumoSection& s) {
  v.optional("config", s.config, "a .sumocfg with everything, or:");
  v.optional("network", s.network, "the roads, .net.xml");
  v.optional("routes", s.routes, "files with the vehicles and their routes, .rou.xml");
  v.optional("arguments", s.arguments, "further options of SUMO, as on its command line");
  v.optional("ours", s.ours, "bodies of the world that are vehicles in SUMO too; all `vehicles` or cars if left out");
  v.optional("bodies", s.bodies,
             "bodies of the model that show SUMO's vehicles near ours; `traffic*` means all whose names begin so");
  v.optional("near", s.near, "a vehicle nearer than this to one of ours gets a body, m");
  v.optional("leave", s.leave, "and keeps it until it is farther than this, m; 1.2 times `near` if left out");
  v.optional("height", s.height, "of these bodies' frames over the road, m");
  v.optional("origin", s.origin, "where the world's origin is in SUMO's coordinates, [x, y], m");
  v.optional("equipped", s.equipped, "share of SUMO's vehicles with a radio, as in 30%; with `agents` and `v2x`");
}

}  // namespace isochron
