// How loud each station hears another. Evaluated when needed and kept while both ends stay within a few metres, because
// a look at the world's geometry costs far more than a frame.

#include "v2x/radio/dsrc_medium.hpp"
#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

double DsrcMedium::gain(StationId a, StationId b, double distance_m) const {
  const Propagation& p = options_.propagation;
  const Vec3& at_a = places_[a];
  const Vec3& at_b = places_[b];
  const bool clear = options_.obstruction == nullptr || options_.obstruction->line_of_sight(at_a, at_b);
  const PathLoss& model = clear ? p.line_of_sight : p.obstructed;
  double loss = path_loss_db(model, distance_m);
  if (model.sigma_db > 0) {
    loss += model.sigma_db * shadowing(link_seed_, a, b, at_a, at_b, p.shadowing_distance_m);
  }
  return ratio_of_db(-loss);
}

void DsrcMedium::evaluate(StationId from, Link& link) const {
  const double d = distance(places_[from], places_[link.to]);
  link.gain = gain(from, link.to, d);
  link.valid_to_m = odometers_m_[from] + odometers_m_[link.to] + options_.refresh_m + 0.01 * d;
}

/// Somebody appeared here or went: who is around makes a new list.
void DsrcMedium::disturb(const Vec3& at) {
  neighbours_.around(at, candidates_);
  for (const StationId station : candidates_) links_[station].stale = true;
}

void DsrcMedium::build_links(StationId from, LinkList& list, SimTime now) {
  // Both the links that were and the candidates are in ascending order: what is still valid is kept.
  neighbours_.around(places_[from], candidates_);
  std::vector<Link> before;
  before.swap(list.links);
  auto old = before.begin();
  list.links.reserve(candidates_.size());
  for (const StationId to : candidates_) {
    if (to == from || distance(places_[from], places_[to]) > reach_m_) continue;
    while (old != before.end() && old->to < to) ++old;
    Link& link = list.links.emplace_back(Link{to, 0, 0});
    if (old != before.end() && old->to == to && odometers_m_[from] + odometers_m_[to] <= old->valid_to_m) {
      link = *old;
    } else {
      evaluate(from, link);
    }
  }
  list.built = now;
  list.stale = false;
}

DsrcMedium::LinkList& DsrcMedium::links_of(StationId from, SimTime now) {
  LinkList& list = links_[from];
  if (list.stale || now - list.built > SimSpan(std::chrono::seconds(1))) {
    build_links(from, list, now);
    return list;
  }
  const double own = odometers_m_[from];
  for (Link& link : list.links) {
    if (own + odometers_m_[link.to] > link.valid_to_m) evaluate(from, link);
  }
  return list;
}

}  // namespace isochron::v2x
