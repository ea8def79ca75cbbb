#include "apps/isochron/report_vehicles.hpp"

#include <algorithm>
#include <cmath>

#include "apps/isochron/report_chart.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_states.hpp"
#include "run/vehicles.hpp"
#include "view/decimate.hpp"

namespace isochron::app {
namespace {

constexpr std::string_view prefix = "/vehicles/";
constexpr std::size_t columns = 2000;       // of a speed's line
constexpr std::size_t most_speeds = 8;      // in one chart; as many as there are colours
constexpr double over_s = 0.1;              // a change of speed is looked at over this time
constexpr double standing = 0.1, fast = 2;  // m/s
constexpr double kmh = 3.6;

/// Reads one vehicle's states in their order.
class Reader {
 public:
  Reader(std::string name, double end_s) : speed_(0, end_s, columns) { figures_.name = std::move(name); }

  void take(const VehicleState& state) {
    const double at = state.stamp.seconds(), speed = state.speed;
    if (!std::isfinite(speed)) return;
    speed_.add(at, speed * kmh);
    if (last_) take_step(at - last_->x, speed);
    last_ = {at, speed};
    if (!compared_) compared_ = last_;
    if (at - compared_->x >= over_s) {
      const double change = (speed - compared_->y) / (at - compared_->x);
      figures_.accelerated = std::max(figures_.accelerated, change);
      figures_.braked = std::max(figures_.braked, -change);
      compared_ = last_;
    }
    figures_.speed_most = std::max(figures_.speed_most, std::abs(speed));
    if (state.rpm > 0) take_wheels(state);
  }
  VehicleFigures finish() {
    const auto line = speed_.finish();
    for (std::size_t i = 0; i < line.times.size(); ++i) figures_.speed.push_back({line.times[i], line.values[i]});
    return std::move(figures_);
  }

 private:
  void take_step(double passed, double speed) {
    figures_.distance += std::abs(speed) * passed;
    figures_.driven_s += passed;
    if (std::abs(speed) < standing) figures_.stood_s += passed;
  }
  /// The radius is that of wheels that roll freely; it is learned from the ride before slip is told by it.
  void take_wheels(const VehicleState& state) {
    figures_.full = true;
    figures_.gear_most = std::max(figures_.gear_most, state.gear);
    figures_.rpm_most = std::max(figures_.rpm_most, state.rpm);
    for (std::size_t i = 0; i < state.wheel_speed.size(); ++i) {
      figures_.travel_most = std::max(figures_.travel_most, std::abs(state.suspension[i]));
      if (state.speed < fast || state.wheel_speed[i] <= 0) continue;  // at the start no tyre carries anything yet
      figures_.load_least = std::min(figures_.load_least, state.tyre_load[i]);
      const double radius = state.speed / state.wheel_speed[i];
      radius_ = ++rolled_ == 1 ? radius : radius_ + (radius - radius_) / static_cast<double>(std::min(rolled_, 400L));
      if (rolled_ > 40) figures_.slip_most = std::max(figures_.slip_most, std::abs(radius_ / radius - 1));
    }
  }

  VehicleFigures figures_;
  view::Decimator speed_;
  std::optional<Point> last_, compared_;
  double radius_ = 0;
  long rolled_ = 0;
};

std::string row(const VehicleFigures& v, std::size_t run) {
  const auto wheels = [&](const std::string& text) { return cell(v.full ? text : "–"); };
  return row_head(run, v.name) + cell(number_text(v.distance) + " m") +
         cell(number_text(v.driven_s > 0 ? kmh * v.distance / v.driven_s : 0, 3) + " km/h") +
         cell(number_text(kmh * v.speed_most, 3) + " km/h") + cell(number_text(v.accelerated, 2) + " m/s²") +
         cell(number_text(v.braked, 2) + " m/s²") + cell(seconds_text(v.stood_s)) +
         wheels(number_text(v.gear_most, 2)) + wheels(number_text(v.rpm_most, 4)) +
         wheels(number_text(100 * v.slip_most, 2) + " %") + wheels(number_text(1000 * v.travel_most, 3) + " mm") +
         wheels(v.load_least > 1e299 ? "–"
                : v.load_least <= 0  ? "a wheel lifted"
                                     : number_text(v.load_least, 3) + " N") +
         "</tr>";
}

std::string speeds_of(const RunData& run, std::size_t index) {
  std::vector<const VehicleFigures*> shown;
  for (const VehicleFigures& v : run.vehicles) shown.push_back(&v);
  std::ranges::stable_sort(shown, std::greater<>(), &VehicleFigures::distance);
  shown.resize(std::min(shown.size(), most_speeds));
  std::vector<Curve> curves;
  std::string legend;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    curves.push_back({i, &shown[i]->speed});
    legend += "<span class=\"c" + std::to_string(i % 8) + "\"><i></i>" + escape(shown[i]->name) + "</span>";
  }
  const std::string note = run.vehicles.size() > shown.size() ? " · those that drove furthest" : "";
  return "<h3>Speeds in run " + letter(index) + note + "</h3><figure>" +
         line_chart(curves, {"speed of vehicles in run " + letter(index), "simulated time, s", "km/h", false, false}) +
         "<figcaption class=\"legend\">" + legend + "</figcaption></figure>";
}

}  // namespace

void load_vehicles(McapReader& reader, RunData& run) {
  read_states<Reader, VehicleState>(reader, prefix, run.vehicles);
}

std::string vehicle_section(const std::vector<RunData>& runs) {
  std::string rows, charts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const VehicleFigures& vehicle : runs[i].vehicles) rows += row(vehicle, i);
    if (!runs[i].vehicles.empty()) charts += speeds_of(runs[i], i);
  }
  if (rows.empty()) return "";
  return "<h2>Vehicles</h2>" + charts +
         "<p class=\"soft\">Accelerated and braked: the most over a tenth of a second. Slip: how far a wheel's speed "
         "was from rolling. Travel and load: of the springs and tyres, the most and the least. Kinematic vehicles have "
         "no wheels.</p>" +
         table({"run", "vehicle", "#drove", "#mean", "#fastest", "#accelerated", "#braked", "#stood", "#gear", "#rpm",
                "#slip", "#travel", "#least load"},
               rows);
}

}  // namespace isochron::app
