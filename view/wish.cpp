#include "view/wish.hpp"

#include <algorithm>

#include "run/injected_faults.hpp"
#include "view/json_fields.hpp"

namespace isochron::view {
namespace {

using Json = nlohmann::json;

constexpr double speed_max = 1e6;
constexpr double seconds_max = 1e6;

Mark push_in(const Json& json) {
  Mark mark{.what = "push", .about = text_in(json, "body")};
  const auto force = json.find("force");
  for (std::size_t i = 0; i < 3; ++i) {
    if (force != json.end() && force->is_array() && i < force->size() && (*force)[i].is_number())
      mark.force[i] = (*force)[i].get<double>();
  }
  mark.seconds = std::clamp(number_in(json, "seconds", 0.1), 0.0, seconds_max);
  return mark;
}

/// What changes the run or its journal; `what` is empty for other wishes.
Mark mark_in(const std::string& wish, const Json& json) {
  if (wish == "marker") return {.what = "marker", .about = text_in(json, "text")};
  if (wish == "push") return push_in(json);
  if (wish == "set")
    return {.what = "set", .about = text_in(json, "actuator"), .force = {number_in(json, "value", 0), 0, 0}};
  const std::string fault = text_in(json, "what");
  if (wish != "fault" || !(InjectedFaults::is_fault(fault) || fault == "freeze")) return {};
  return {.what = fault,
          .about = text_in(json, "about"),
          .seconds = std::clamp(number_in(json, "seconds", 1), 0.0, seconds_max)};
}

}  // namespace

Granted grant(std::string_view text, RunWatch& watch) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Granted::no;
  RunControl& control = watch.control();
  const std::string wish = text_in(json, "do");
  if (Mark mark = mark_in(wish, json); !mark.what.empty()) return control.ask(std::move(mark)), Granted::yes;
  if (wish == "pause") return control.pause(), Granted::yes;
  if (wish == "resume") return control.resume(), Granted::yes;
  if (wish == "speed") return control.set_speed(std::clamp(number_in(json, "factor", 0), 0.0, speed_max)), Granted::yes;
  if (wish == "stop") return watch.stop(), Granted::yes;
  if (wish != "step") return Granted::no;
  control.step(static_cast<int>(std::clamp(number_in(json, "count", 1), 1.0, 1e6)));
  return Granted::steps;
}

}  // namespace isochron::view
