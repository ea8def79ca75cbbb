#include "apps/isochron/accusations.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace isochron::app {

void Accusations::say(std::size_t witness, std::size_t missing, Time now) {
  if (all_.empty()) first_ = now;
  all_.push_back({witness, missing});
}

void Accusations::forget(std::size_t node) {
  std::erase_if(all_, [&](const Accusation& one) { return one.witness == node || one.missing == node; });
}

std::vector<std::size_t> Accusations::judge(const std::vector<std::string>& places, Time now) {
  if (all_.empty() || now - first_ < grace_) return {};
  const auto place_of = [&](std::size_t node) {
    return places[node].empty() ? "#" + std::to_string(node) : places[node];
  };
  struct Standing {
    std::set<std::string> cut_off_from;
    std::size_t accused = 0;
  };
  std::map<std::string, Standing> standings;
  for (const Accusation& one : all_) {
    const std::string from = place_of(one.witness), of = place_of(one.missing);
    standings[of].cut_off_from.insert(from);
    standings[from].cut_off_from.insert(of);
    ++standings[of].accused;
  }
  const auto worst = std::ranges::max_element(standings, {}, [](const auto& entry) {
    return std::pair(entry.second.cut_off_from.size(), entry.second.accused);
  });
  std::vector<std::size_t> lost;
  for (const Accusation& one : all_) {
    const bool there = place_of(one.missing) == worst->first;
    if (there && std::ranges::find(lost, one.missing) == lost.end()) lost.push_back(one.missing);
  }
  std::erase_if(all_, [&](const Accusation& one) {
    return place_of(one.witness) == worst->first || place_of(one.missing) == worst->first;
  });
  first_ = now;  // what is left is looked at again, when the others have been heard
  return lost;
}

}  // namespace isochron::app
