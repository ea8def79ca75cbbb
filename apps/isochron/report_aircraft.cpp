#include "apps/isochron/report_aircraft.hpp"

#include <algorithm>
#include <cmath>

#include "apps/isochron/report_chart.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_states.hpp"
#include "run/aircraft.hpp"
#include "view/decimate.hpp"

namespace isochron::app {
namespace {

constexpr std::string_view prefix = "/aircraft/";
constexpr std::size_t columns = 2000;  // of a height's line
constexpr std::size_t most_shown = 8;  // in one chart; as many as there are colours
constexpr double degrees = 57.29577951308232;

/// Reads one aircraft's states in their order.
class Reader {
 public:
  Reader(std::string name, double end_s) : height_(0, end_s, columns) { figures_.name = std::move(name); }

  void take(const AircraftState& state) {
    const double at = state.stamp.seconds();
    if (!std::isfinite(state.height)) return;
    height_.add(at, state.height);
    if (last_ >= 0) figures_.distance += state.speed * (at - last_);
    last_ = at;
    AircraftFigures& f = figures_;
    f.height_most = std::max(f.height_most, state.height);
    f.speed_most = std::max(f.speed_most, state.speed);
    f.airspeed_most = std::max(f.airspeed_most, state.airspeed);
    f.tilt_most = std::max(f.tilt_most, state.tilt);
    f.power_most = std::max(f.power_most, state.power);
    f.energy = state.energy;
    f.charge = state.charge;
    if (state.voltage > 0) f.voltage_least = std::min(f.voltage_least, state.voltage);
    f.flown_s = at;
  }
  AircraftFigures finish() {
    const auto line = height_.finish();
    for (std::size_t i = 0; i < line.times.size(); ++i) figures_.height.push_back({line.times[i], line.values[i]});
    return std::move(figures_);
  }

 private:
  AircraftFigures figures_;
  view::Decimator height_;
  double last_ = -1;
};

std::string row(const AircraftFigures& a, std::size_t run) {
  const bool battery = a.voltage_least < 1e299;
  const auto of_battery = [&](const std::string& text) { return cell(battery ? text : "–"); };
  return row_head(run, a.name) + cell(number_text(a.distance) + " m") + cell(number_text(a.height_most, 3) + " m") +
         cell(number_text(a.speed_most, 3) + " m/s") + cell(number_text(a.airspeed_most, 3) + " m/s") +
         cell(number_text(degrees * a.tilt_most, 3) + "°") + of_battery(number_text(a.energy) + " J") +
         of_battery(number_text(a.flown_s > 0 ? a.energy / a.flown_s : 0, 3) + " W") +
         of_battery(number_text(a.power_most, 3) + " W") + of_battery(number_text(a.voltage_least, 3) + " V") +
         of_battery(number_text(100 * a.charge, 3) + " %") + "</tr>";
}

std::string heights_of(const RunData& run, std::size_t index) {
  std::vector<Curve> curves;
  std::string legend;
  for (std::size_t i = 0; i < std::min(run.aircraft.size(), most_shown); ++i) {
    curves.push_back({i, &run.aircraft[i].height});
    legend += "<span class=\"c" + std::to_string(i % 8) + "\"><i></i>" + escape(run.aircraft[i].name) + "</span>";
  }
  const std::string note = run.aircraft.size() > most_shown ? " · the first of them" : "";
  return "<h3>Heights in run " + letter(index) + note + "</h3><figure>" +
         line_chart(curves, {"height of aircraft in run " + letter(index), "simulated time, s", "m", false, false}) +
         "<figcaption class=\"legend\">" + legend + "</figcaption></figure>";
}

}  // namespace

void load_aircraft(McapReader& reader, RunData& run) {
  read_states<Reader, AircraftState>(reader, prefix, run.aircraft);
}

std::string aircraft_section(const std::vector<RunData>& runs) {
  std::string rows, charts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const AircraftFigures& one : runs[i].aircraft) rows += row(one, i);
    if (!runs[i].aircraft.empty()) charts += heights_of(runs[i], i);
  }
  if (rows.empty()) return "";
  return "<h2>Aircraft</h2>" + charts +
         "<p class=\"soft\">Airspeed is against the wind with its gusts. Energy and power are what the battery gave; "
         "an aircraft without one has none.</p>" +
         table({"run", "aircraft", "#flew", "#highest", "#fastest", "#airspeed", "#leaned", "#energy", "#mean power",
                "#most power", "#least voltage", "#charge left"},
               rows);
}

}  // namespace isochron::app
