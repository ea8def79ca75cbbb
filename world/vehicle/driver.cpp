#include "world/vehicle/driver.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace isochron::world {

FileDriver::FileDriver(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError(Place{file, 0, 0}, "cannot open the driver's file");
  read(in, file);
}

FileDriver::FileDriver(std::istream& text, const std::string& name) { read(text, name); }

void FileDriver::read(std::istream& in, const std::string& file) {
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    const Place place{file, ++number, 0};
    text = text.substr(0, text.find('#'));
    std::replace(text.begin(), text.end(), ',', ' ');
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(text);
    Line line{};
    std::string rest;
    if (!(words >> line.time >> line.steer >> line.throttle >> line.brake) || words >> rest) {
      throw InputError(place, "a line of a driver's file has four numbers", "time steer throttle brake");
    }
    const auto share = [](double value, double low) { return value >= low && value <= 1; };
    if (!share(line.steer, -1) || !share(line.throttle, 0) || !share(line.brake, 0) || std::fabs(line.time) > 1e9) {
      throw InputError(place, "steer is from -1 to 1, throttle and brake are from 0 to 1");
    }
    if (!lines_.empty() && line.time <= lines_.back().time) throw InputError(place, "time must grow from line to line");
    lines_.push_back(line);
  }
  if (lines_.empty()) throw InputError(Place{file, 0, 0}, "the driver's file is empty");
}

DriverCommand FileDriver::drive(const DriverView& view) {
  const double t = view.time.seconds();
  const auto after = std::find_if(lines_.begin(), lines_.end(), [t](const Line& l) { return l.time > t; });
  const auto command = [](const Line& l) -> DriverCommand {
    constexpr double full_throttle = 3, full_brake = 8;
    return {l.steer, l.throttle, l.brake, full_throttle * l.throttle - full_brake * l.brake};
  };
  if (after == lines_.begin()) return command(*after);
  const Line& a = *(after - 1);
  if (after == lines_.end()) return command(a);
  const double s = (t - a.time) / (after->time - a.time);
  return command({t, a.steer + s * (after->steer - a.steer), a.throttle + s * (after->throttle - a.throttle),
                  a.brake + s * (after->brake - a.brake)});
}

double CarFollowing::operator()(double speed, double gap, double leader_speed) const {
  const double share = speed / std::max(desired_speed, 0.1);
  const double closing = speed * (speed - leader_speed) / (2 * std::sqrt(acceleration * braking));
  const double wanted = standstill + std::max(0.0, speed * headway + closing);
  const double crowd = wanted / std::max(gap, 0.1);
  const double free = share <= 1 ? acceleration * (1 - share * share * share * share)
                                 : -braking * (1 - std::pow(share, -4 * acceleration / braking));
  return free - acceleration * crowd * crowd;
}

double CarFollowing::stopping(double speed, double metres) const {
  constexpr double quick = 0.5;  // s in which it comes to the speed that is right
  if (metres <= 0) return -braking;
  const double right = std::sqrt(braking * braking * quick * quick + 2 * braking * metres) - braking * quick;
  const double wanted = (right - speed) / quick;
  if (wanted >= 0) return wanted;
  const double needed = speed * speed / (2 * std::max(metres, 0.3));
  return std::max(wanted, -std::max(braking, 1.1 * needed));
}

PathDriver::PathDriver(std::vector<Point> path, bool closed, PathDriverSettings settings) : closed_(closed) {
  begin(std::move(path), settings);
}

void PathDriver::begin(std::vector<Point> path, PathDriverSettings settings) {
  path_ = std::move(path);
  settings_ = settings;
  travelled_ = -1;
  offset_ = integral_ = 0;
  stop_ = yield_ = beware_ = limit_ = 1e18;
  if (path_.size() < 2) throw InputError(Place{}, "a path needs two points");
  if (closed_) path_.push_back(path_.front());
  arc_ = {0};
  for (std::size_t i = 1; i < path_.size(); ++i) {
    const double piece = std::hypot(path_[i][0] - path_[i - 1][0], path_[i][1] - path_[i - 1][1]);
    if (!(piece > 0)) throw InputError(Place{}, "two points of a path are the same");
    arc_.push_back(arc_.back() + piece);
  }
}

PathDriver::Point PathDriver::at(double arc) const {
  const double whole = arc_.back();
  arc = closed_ ? arc - whole * std::floor(arc / whole) : std::clamp(arc, 0.0, whole);
  const auto after = std::upper_bound(arc_.begin() + 1, arc_.end() - 1, arc);
  const auto i = static_cast<std::size_t>(after - arc_.begin());
  const double s = (arc - arc_[i - 1]) / (arc_[i] - arc_[i - 1]);
  return {path_[i - 1][0] + s * (path_[i][0] - path_[i - 1][0]), path_[i - 1][1] + s * (path_[i][1] - path_[i - 1][1])};
}

/// The nearest point of the path, but not further on than a car gets between two looks: paths may cross themselves.
void PathDriver::locate(double x, double y) {
  double best = 1e300, best_arc = 0;
  const double whole = arc_.back();
  for (std::size_t i = 1; i < path_.size(); ++i) {
    const Point &a = path_[i - 1], &b = path_[i];
    const double dx = b[0] - a[0], dy = b[1] - a[1], piece = arc_[i] - arc_[i - 1];
    const double s = std::clamp(((x - a[0]) * dx + (y - a[1]) * dy) / (piece * piece), 0.0, 1.0);
    const double arc = arc_[i - 1] + s * piece;
    if (travelled_ >= 0) {
      double ahead = arc - travelled_;
      if (closed_) ahead -= whole * std::round(ahead / whole);
      if (std::fabs(ahead) > 15) continue;
    }
    const double away = std::hypot(x - a[0] - s * dx, y - a[1] - s * dy);
    if (away < best) {
      best = away;
      best_arc = arc;
      offset_ = std::copysign(away, dx * (y - a[1]) - dy * (x - a[0]));
    }
  }
  if (best < 1e300) travelled_ = best_arc;
}

/// How fast it may be now so that it comes into the bends ahead at their speed, if it brakes in comfort. Their curvature
/// is that of circles through three points of the path.
double PathDriver::speed_for_bends(double speed) const {
  constexpr double span = 3;
  const double gently = 0.8 * settings_.follow.braking, look = 5 + speed * speed / (2 * gently);
  double most = 1e9;
  for (double ahead = 0; ahead <= look; ahead += span) {
    const Point a = at(travelled_ + ahead - span), b = at(travelled_ + ahead), c = at(travelled_ + ahead + span);
    const double area2 = std::fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    const double sides = std::hypot(b[0] - a[0], b[1] - a[1]) * std::hypot(c[0] - b[0], c[1] - b[1]) *
                         std::hypot(c[0] - a[0], c[1] - a[1]);
    if (sides < 1e-9 || area2 < 1e-6 * sides) continue;
    const double square = settings_.lateral_acceleration * sides / (2 * area2);
    most = std::min(most, std::sqrt(square + 2 * gently * std::max(0.0, ahead - span)));
  }
  return most;
}

std::optional<double> PathDriver::ahead(double arc, const Vec3& point, double look, double beside) const {
  std::size_t i = 1;
  while (i + 1 < arc_.size() && arc_[i] < arc) ++i;
  std::optional<double> best;
  double round = 0;  // what lies behind on a closed path comes again
  for (std::size_t pieces = 0; pieces < arc_.size() && round + arc_[i - 1] - arc <= look; ++pieces) {
    const Point &a = path_[i - 1], &b = path_[i];
    const double dx = b[0] - a[0], dy = b[1] - a[1], piece = arc_[i] - arc_[i - 1];
    const double s = std::clamp(((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / (piece * piece), 0.0, 1.0);
    const double away = std::hypot(point[0] - a[0] - s * dx, point[1] - a[1] - s * dy);
    const double on = round + arc_[i - 1] + s * piece - arc;
    if (away <= beside && on > 0 && on <= look) {
      beside = away;
      best = on;
    }
    if (++i < arc_.size()) continue;
    if (!closed_) break;
    i = 1;
    round += arc_.back();
  }
  return best;
}

/// Behind whoever is next on its way; in a bend that is not who is straight ahead.
double PathDriver::following(const DriverView& view, const CarFollowing& follow) const {
  const double look = 20 + 8 * view.speed;
  double gap = 1e9, speed = 0;
  for (const Seen& other : view.company) {
    const Vec3& there = other.motion.pose.position;
    const double dx = there[0] - view.car.pose.position[0], dy = there[1] - view.car.pose.position[1];
    if (dx * dx + dy * dy > look * look) continue;
    const auto on = ahead(travelled_, there, look);
    const double free = on ? std::max(*on - 2 * other.half_length, 0.0) : gap;
    if (free >= gap) continue;
    gap = free;
    const Point here = at(travelled_ + *on - 0.5), next = at(travelled_ + *on + 0.5);
    speed = other.motion.linear[0] * (next[0] - here[0]) + other.motion.linear[1] * (next[1] - here[1]);
  }
  return follow(view.speed, gap, speed);
}

DriverCommand PathDriver::drive(const DriverView& view) {
  const PathDriverSettings& s = settings_;
  const Vec3 forward = rotate(view.car.pose.orientation, {1, 0, 0});
  const double x = view.car.pose.position[0], y = view.car.pose.position[1];
  locate(x, y);
  // Pure pursuit: the arc that leads from here to a point of the path some way ahead.
  const Point goal = at(travelled_ + s.look_ahead + s.look_ahead_time * view.speed);
  const double gx = goal[0] - x, gy = goal[1] - y;
  const double left = forward[0] * gy - forward[1] * gx;
  const double curvature = 2 * left / std::max(gx * gx + gy * gy, 1.0);
  DriverCommand command;
  command.steer = std::clamp(std::atan(curvature * s.wheelbase) / s.max_steer, -1.0, 1.0);

  CarFollowing follow = s.follow;
  follow.desired_speed = std::min(follow.desired_speed, limit_);
  follow.desired_speed = std::min(follow.desired_speed, speed_for_bends(view.speed));
  command.acceleration = following(view, follow);
  double stop = std::min({stop_, yield_, beware_}) - travelled_;
  if (!closed_ && !s.drives_on) stop = std::min(stop, arc_.back() - travelled_);
  if (stop < 200) {
    command.acceleration = std::min(command.acceleration, follow.stopping(view.speed, stop - follow.standstill));
  }
  command.acceleration = std::max(command.acceleration, -follow.emergency);

  integral_ = std::clamp(integral_ + view.period.seconds() * command.acceleration, -1.5, 1.5);
  const double pedal = s.pedal_gain * command.acceleration + s.pedal_integral * integral_;
  command.throttle = std::clamp(pedal, 0.0, 1.0);
  command.brake = std::clamp(-command.acceleration / 9.0, 0.0, 1.0);
  if (command.brake > 0.02) command.throttle = 0;
  return command;
}

void PathDriver::save(std::span<double> state) const {
  const double values[]{travelled_, offset_, integral_, stop_, yield_, limit_, beware_};
  std::copy(std::begin(values), std::end(values), state.begin());
}

void PathDriver::restore(std::span<const double> state) {
  travelled_ = state[0];
  offset_ = state[1];
  integral_ = state[2];
  stop_ = state[3];
  yield_ = state[4];
  limit_ = state[5];
  beware_ = state[6];
}

Seat::Seat(std::unique_ptr<Driver> driver, Part& car, std::uint32_t body, bool kinematic, SimSpan period,
           const std::vector<std::uint32_t>& others)
    : driver_(std::move(driver)), car_(car), body_(body), kinematic_(kinematic), period_(period) {
  for (const std::uint32_t other : others) {
    if (other != body_) company_.push_back({other, {}});
  }
}

void Seat::act(Engine& engine, SimSpan dt, Wrenches&) {
  if (engine.time().since_zero() % period_ >= dt) return;
  DriverView view;
  view.time = engine.time();
  view.period = period_;
  view.car = engine.motion(body_);
  view.speed = dot(view.car.linear, rotate(view.car.pose.orientation, {1, 0, 0}));
  if (lent_ == nullptr) {
    for (Seen& other : company_) other.motion = engine.motion(other.body);
  }
  view.company = lent_ == nullptr ? company_ : *lent_;
  const DriverCommand command = driver_->drive(view);
  car_.command(0, command.steer);
  car_.command(1, kinematic_ ? command.acceleration : command.throttle);
  if (!kinematic_) car_.command(2, command.brake);
}

}  // namespace isochron::world
