#include "apps/isochron/sweep_over.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/input_error.hpp"
#include "core/random.hpp"
#include "core/time_text.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t most_points = 100'000;

[[noreturn]] void refuse(const std::string& over, const std::string& what) {
  throw InputError({"--over " + over, 0, 0}, what,
                   "as in --over time.quantum=500us,1ms or --over world.step=1ms..5ms/5");
}

/// A number and whatever unit follows it.
struct Quantity {
  double value = 0;
  std::string unit;
};
std::optional<Quantity> quantity_of(const std::string& text) {
  Quantity quantity;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, quantity.value);
  if (error != std::errc() || !std::isfinite(quantity.value)) return std::nullopt;
  quantity.unit.assign(stop, end);
  return quantity;
}

std::string text_of(double value, const std::string& unit) {
  // Times are whole nanoseconds.
  if (const auto ns = unit.empty() ? Result<std::int64_t, std::string>(fail(std::string())) : parse_ns("1" + unit)) {
    return format_ns(std::llround(value * static_cast<double>(*ns)));
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text + unit;
}

/// What one --over says.
struct Varied {
  std::string key;
  std::vector<std::string> values;
  std::optional<std::pair<double, double>> range = std::nullopt;
  std::string unit = {};
};

Varied range_of(const std::string& over, const std::string& key, const std::string& text, std::size_t dots) {
  const std::size_t slash = text.rfind('/');
  const bool counted = slash != std::string::npos && slash > dots;
  const auto low = quantity_of(text.substr(0, dots));
  const auto high = quantity_of(text.substr(dots + 2, counted ? slash - dots - 2 : std::string::npos));
  if (!low || !high || low->value > high->value) refuse(over, "is no range from a lower to a higher value");
  if (low->unit != high->unit) refuse(over, "has two units");
  Varied varied{key, {}, std::pair(low->value, high->value), low->unit};
  std::size_t count = 0;
  if (counted) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, count);
    if (error != std::errc() || stop != end || count < 2 || count > most_points)
      refuse(over, "needs two values or more");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(count - 1);
    varied.values.push_back(text_of(low->value + at * (high->value - low->value), low->unit));
  }
  return varied;
}

Varied varied_of(const std::string& over) {
  const std::size_t equals = over.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == over.size()) refuse(over, "is not KEY=VALUES");
  const std::string key = over.substr(0, equals), text = over.substr(equals + 1);
  if (const std::size_t dots = text.find(".."); dots != std::string::npos) return range_of(over, key, text, dots);
  Varied varied{key, {}};
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    if (comma == from) refuse(over, "has an empty value");
    varied.values.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return varied;
}

std::vector<Settings> grid_of(const std::vector<Varied>& all, const std::vector<std::string>& over) {
  std::vector<Settings> points{{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].values.empty()) refuse(over[i], "does not say how many values; write LOW..HIGH/N, or add --random N");
    std::vector<Settings> longer;
    for (const Settings& point : points) {
      for (const std::string& value : all[i].values) {
        if (longer.size() == most_points) refuse(over[i], "makes too many points, more than 100000");
        longer.push_back(point);
        longer.back().emplace_back(all[i].key, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

/// `at` from 0 to 1 says which: of a range any value, of a list the one whose share it falls into.
std::string value_at(const Varied& varied, double at) {
  if (varied.range) {
    return text_of(varied.range->first + at * (varied.range->second - varied.range->first), varied.unit);
  }
  const auto count = static_cast<double>(varied.values.size());
  return varied.values[std::min(static_cast<std::size_t>(at * count), varied.values.size() - 1)];
}

/// One place in each of `count` equal pieces, in any order.
std::vector<double> latin_places(std::size_t count, RandomStream& chance) {
  std::vector<double> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = (static_cast<double>(i) + chance.uniform()) / static_cast<double>(count);
  }
  for (std::size_t i = count; i > 1; --i) std::swap(places[i - 1], places[chance.below(i)]);
  return places;
}

std::vector<double> random_places(std::size_t count, RandomStream& chance) {
  std::vector<double> places(count);
  for (double& place : places) place = chance.uniform();
  return places;
}

}  // namespace

std::vector<Settings> settings_of(const std::vector<std::string>& over, Sampling how, std::uint64_t count,
                                  std::uint64_t seed) {
  const std::string flag = how == Sampling::latin ? "--latin" : "--random";
  std::vector<Varied> all;
  for (const std::string& one : over) {
    all.push_back(varied_of(one));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].key == all.back().key) refuse(one, "varies a key that is varied already");
    }
  }
  if (how == Sampling::grid) return grid_of(all, over);
  if (all.empty()) throw InputError({flag, 0, 0}, "needs something to vary", "add --over KEY=LOW..HIGH");
  if (count == 0 || count > most_points) throw InputError({flag, 0, 0}, "must be 1 to 100000 points", "");
  std::vector<Settings> points(count);
  for (const Varied& varied : all) {
    RandomStream chance(seed, "sweep/" + varied.key);  // a key more changes no other's values
    const std::vector<double> places =
        how == Sampling::latin ? latin_places(count, chance) : random_places(count, chance);
    for (std::size_t i = 0; i < count; ++i) points[i].emplace_back(varied.key, value_at(varied, places[i]));
  }
  return points;
}

std::optional<ValueRange> range_from(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto low = quantity_of(text.substr(0, dots)), high = quantity_of(text.substr(dots + 2));
  if (!low || !high || low->unit != high->unit || low->value >= high->value) return std::nullopt;
  return ValueRange{low->value, high->value, low->unit};
}

std::string range_text(double value, const std::string& unit) { return text_of(value, unit); }

std::string to_string(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

}  // namespace isochron::app
