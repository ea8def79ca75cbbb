#include "world/names.hpp"

#include <algorithm>
#include <numeric>

namespace isochron::world {
namespace {

/// How many letters must be changed, added or removed.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = wanted.size() / 3 + 2;
  for (const std::string& name : names) {
    if (const std::size_t n = edits(wanted, name); n < least) {
      least = n;
      best = name;
    }
  }
  return best;
}

InputError no_such(std::string_view kind, std::string_view name, const std::vector<std::string>& names) {
  std::string hint;
  if (const std::string near = nearest_name(name, names); !near.empty()) {
    hint = "did you mean `" + near + "`?";
  } else if (names.empty()) {
    hint = "the model has none";
  } else if (names.size() <= 12) {
    hint = "there are";
    for (const std::string& each : names) hint += " `" + each + "`";
  }
  return InputError(Place{}, "there is no " + std::string(kind) + " `" + std::string(name) + "`", hint);
}

}  // namespace isochron::world
