#include "world/sensors/nearest_name.hpp"

#include <algorithm>

namespace isochron::world {
namespace {

/// Letters to insert, remove or change to make one out of the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string name_hint(std::string_view wrong, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  const auto likest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edits(wrong, a) < edits(wrong, b);
  });
  if (edits(wrong, *likest) <= 1 + wrong.size() / 3) return "did you mean `" + *likest + "`?";
  std::string text = "known: ";
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < std::min(shown, known.size()); ++i) text += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > shown) text += ", … (" + std::to_string(known.size()) + ")";
  return text;
}

}  // namespace isochron::world
