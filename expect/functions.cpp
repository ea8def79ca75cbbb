#include "expect/functions.hpp"

#include <charconv>

namespace isochron::expect {
namespace {

using Kind = Function::Kind;
using What = Gathered::What;
constexpr std::size_t any = 64;

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"distance", Kind::of_things, 2, 2, "as in distance(prey, predator)", Operation::distance, ".position"},
      {"speed", Kind::of_things, 1, 1, "as in speed(prey)", Operation::length, ".velocity"},
      {"abs", Kind::of_values, 1, 1, "as in abs(x)", Operation::absolute},
      {"sqrt", Kind::of_values, 1, 1, "as in sqrt(x)", Operation::root},
      {"min", Kind::of_values, 2, any, "as in min(x, y)", Operation::least},
      {"max", Kind::of_values, 2, any, "as in max(x, y)", Operation::most},
      {"most", Kind::summary, 1, 1, "as in most(drift)", {}, "", What::most},
      {"least", Kind::summary, 1, 1, "as in least(distance(prey, predator))", {}, "", What::least},
      {"mean", Kind::summary, 1, 1, "as in mean(x)", {}, "", What::mean},
      {"last", Kind::summary, 1, 1, "as in last(prey.position.x)", {}, "", What::last},
      {"count", Kind::summary, 1, 1, "as in count(x > 3)", {}, "", What::count}};
  return all;
}

/// 0.99 of `p99`; nothing: it is no quantile.
std::optional<double> share_of(const std::string& name) {
  if (name.size() < 2 || name[0] != 'p') return std::nullopt;
  double percent = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, percent, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !(percent >= 0) || !(percent <= 100)) return std::nullopt;
  return percent / 100;
}

}  // namespace

std::optional<Function> find_function(const std::string& name) {
  for (const Function& function : functions()) {
    if (function.name == name) return function;
  }
  const auto share = share_of(name);
  if (!share) return std::nullopt;
  return Function{name, Kind::summary, 1, 1, "as in p99(predator/planner.response)", {}, "", What::quantile, *share};
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : functions()) names.push_back(function.name);
  names.insert(names.end(), {"p50", "p90", "p99"});
  return names;
}

}  // namespace isochron::expect
