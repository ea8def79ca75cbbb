// How loud each station hears another. Evaluated when needed and kept while both ends stay within a few metres, because
// a look at the world's geometry costs far more than a frame.

#include "v2x/radio/dsrc_medium.hpp"
#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

double DsrcMedium::gain(StationId a, StationId b) const {
  const Propagation& p = options_.propagation;
  const Vec3& at_a = places_[a];
  const Vec3& at_b = places_[b];
  const bool clear = options_.obstruction == nullptr || options_.obstruction->line_of_sight(at_a, at_b);
  const PathLoss& model = clear ? p.line_of_sight : p.obstructed;
  double loss = path_loss_db(model, distance(at_a, at_b));
  if (model.sigma_db > 0) {
    loss += model.sigma_db * shadowing(link_seed_, a, b, at_a, at_b, p.shadowing_distance_m);
  }
  return ratio_of_db(-loss);
}

void DsrcMedium::build_links(StationId from, LinkList& list, SimTime now) {
  neighbours_.around(places_[from], candidates_);
  list.links.clear();
  for (const StationId to : candidates_) {
    if (to == from || distance(places_[from], places_[to]) > reach_m_) continue;
    list.links.push_back({to, gain(from, to), places_[to]});
  }
  list.from_at = places_[from];
  list.built = now;
  list.epoch = epoch_;
}

DsrcMedium::LinkList& DsrcMedium::links_of(StationId from, SimTime now) {
  LinkList& list = links_[from];
  const bool old = list.epoch != epoch_ || now - list.built > SimSpan(std::chrono::seconds(1));
  if (old) {
    build_links(from, list, now);
    return list;
  }
  const bool moved = distance(list.from_at, places_[from]) > options_.refresh_m;
  for (Link& link : list.links) {
    if (!moved && distance(link.evaluated_at, places_[link.to]) <= options_.refresh_m) continue;
    link.gain = gain(from, link.to);
    link.evaluated_at = places_[link.to];
  }
  if (moved) list.from_at = places_[from];
  return list;
}

}  // namespace isochron::v2x
