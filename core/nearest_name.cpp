#include "core/nearest_name.hpp"

#include <algorithm>

namespace isochron {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 2);
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, candidate);
    if (distance < least || (distance == least && nearest.empty())) least = distance, nearest = candidate;
  }
  return nearest;
}

std::string nearest_hint(std::string_view wanted, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(wanted, known);
  if (!nearest.empty()) return "did you mean `" + nearest + "`?";
  if (known.empty()) return "";
  std::string all = "known here:";
  constexpr std::size_t shown = 20;
  for (std::size_t i = 0; i < std::min(shown, known.size()); ++i) all += " " + known[i];
  if (known.size() > shown) all += " … (" + std::to_string(known.size()) + ")";
  return all;
}

}  // namespace isochron
