#pragma once
// Who drives: a recording (file), or a closed loop that follows a path, keeps a speed and keeps its distance. An
// interactive driver needs none of this: whoever writes NAME/steer, NAME/throttle and NAME/brake drives, since commands
// hold. A Seat puts a driver into a car of the world and lets it act at its own period.

#include <array>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "world/part.hpp"

namespace isochron::world {

struct DriverCommand {
  double steer = 0;         // −1 … 1, left positive
  double throttle = 0;      // 0 … 1
  double brake = 0;         // 0 … 1
  double acceleration = 0;  // m/s² wanted; what a kinematic car takes in place of pedals
};

/// Somebody whom a driver is aware of, as it takes him to be now.
struct Seen {
  std::uint32_t body = 0;
  Motion motion;
  double braking = 0;  // m/s², as far as that can be told
  double half_length = 2.25, half_width = 0.9;
};
/// All whom a driver is aware of.
using Company = std::vector<Seen>;

/// What a driver knows when it acts: its own car, and who is around.
struct DriverView {
  SimTime time;
  SimSpan period;  // since the last look
  Motion car;
  double speed = 0;
  std::span<const Seen> company{};
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual DriverCommand drive(const DriverView& view) = 0;
  [[nodiscard]] virtual std::size_t state_size() const { return 0; }
  virtual void save(std::span<double> /*state*/) const {}
  virtual void restore(std::span<const double> /*state*/) {}
};

/// Plays "time steer throttle brake" lines, linear in between, the last one for ever. `#` begins a comment. In a
/// kinematic car full throttle means 3 m/s², full brake −8.
class FileDriver final : public Driver {
 public:
  /// Throws InputError with file:line.
  explicit FileDriver(const std::string& file);
  /// From text that came from elsewhere; `name` stands for the file in messages.
  FileDriver(std::istream& text, const std::string& name);
  DriverCommand drive(const DriverView& view) override;

 private:
  struct Line {
    double time, steer, throttle, brake;
  };
  void read(std::istream& text, const std::string& name);
  std::vector<Line> lines_;
};

/// How hard to accelerate behind a leader: the intelligent driver model,
///     a (1 − (v/v0)⁴ − (s*/gap)²),   s* = s0 + v T + v Δv / (2 √(a b)),
/// but who is too fast slows down in comfort: above v0 the free part is −b (1 − (v0/v)^(4a/b)).
struct CarFollowing {
  double desired_speed = 13.9;  // v0
  double headway = 1.4;         // T
  double standstill = 2.0;      // s0
  double acceleration = 1.8;    // a
  double braking = 2.5;         // b, comfortable
  double emergency = 8;         // what it brakes with when nothing less will do
  [[nodiscard]] double operator()(double speed, double gap, double leader_speed) const;
  /// To stand after so many metres: comfortably where that is enough, as hard as it takes where not.
  [[nodiscard]] double stopping(double speed, double metres) const;
};

struct PathDriverSettings {
  double max_steer = 0.61;  // of the car that is driven, rad
  double wheelbase = 2.65;
  double look_ahead = 4;         // m, and
  double look_ahead_time = 0.6;  // s more at speed
  double pedal_gain = 0.25;      // throttle per m/s² wanted, and
  double pedal_integral = 0.15;
  double lateral_acceleration = 3;  // m/s² at most in bends
  bool drives_on = false;           // does not stop at the end of its path
  CarFollowing follow;
};

/// Follows a polyline by pure pursuit; speed by the car-following law and a PI on the pedals.
class PathDriver final : public Driver {
 public:
  using Point = std::array<double, 2>;
  /// `closed`: after the last point comes the first. Throws InputError when there are fewer than two points.
  PathDriver(std::vector<Point> path, bool closed, PathDriverSettings settings);

  DriverCommand drive(const DriverView& view) override;
  /// Another way to go, from its beginning, by another driver's habits. Nothing of the old one is left.
  void begin(std::vector<Point> path, PathDriverSettings settings);
  /// It is there; drive() finds that too.
  void be_at(const Vec3& point) { locate(point[0], point[1]); }
  /// Stops before this arc length of the path, as at a red light; infinity: drives on.
  void stop_before(double arc_length) { stop_ = arc_length; }
  /// Stops before this one too, because it was warned of somebody; infinity: nobody is in the way.
  void yield_before(double arc_length) { yield_ = arc_length; }
  /// And before this one, because it sees somebody.
  void beware_before(double arc_length) { beware_ = arc_length; }
  /// Not faster than this, m/s; infinity: as wanted.
  void limit_speed(double speed) { limit_ = speed; }
  /// How far ahead of a place of the path a point lies, along the path, if it is on it: at most `beside` aside, and
  /// `look` ahead.
  [[nodiscard]] std::optional<double> ahead(double arc, const Vec3& point, double look, double beside = 1.8) const;
  [[nodiscard]] double wanted_speed() const { return settings_.follow.desired_speed; }
  /// The path's point at an arc length.
  [[nodiscard]] Point at(double arc) const;
  [[nodiscard]] double travelled() const { return travelled_; }  // arc length of the nearest point of the path
  [[nodiscard]] double length() const { return arc_.back(); }
  /// Metres left of the path (+) or right of it (−) at the last drive().
  [[nodiscard]] double offset() const { return offset_; }

  [[nodiscard]] std::size_t state_size() const override { return 7; }
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

 private:
  void locate(double x, double y);
  [[nodiscard]] double speed_for_bends(double speed) const;
  [[nodiscard]] double following(const DriverView& view, const CarFollowing& follow) const;

  std::vector<Point> path_;
  std::vector<double> arc_;
  bool closed_;
  PathDriverSettings settings_;
  double travelled_ = -1;  // −1: not yet found
  double offset_ = 0, integral_ = 0, stop_ = 1e18, yield_ = 1e18, beware_ = 1e18, limit_ = 1e18;
};

/// A driver in the seat of a car (or kinematic car): acts in the first step at or after each multiple of `period`,
/// before the car does, so add it first.
class Seat final : public Part {
 public:
  /// `others`: bodies that the driver is aware of, wherever they are; may be empty.
  Seat(std::unique_ptr<Driver> driver, Part& car, std::uint32_t body, bool kinematic, SimSpan period,
       const std::vector<std::uint32_t>& others = {});
  /// From now on it is aware of those whom somebody else fills in before each step.
  void lend_eyes(const Company& company) { lent_ = &company; }
  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] Driver& driver() { return *driver_; }

  [[nodiscard]] std::size_t state_size() const override { return driver_->state_size(); }
  void save(std::span<double> state) const override { driver_->save(state); }
  void restore(std::span<const double> state) override { driver_->restore(state); }

 private:
  std::unique_ptr<Driver> driver_;
  Part& car_;
  std::uint32_t body_;
  bool kinematic_;
  SimSpan period_;
  Company company_;
  const Company* lent_ = nullptr;
};

}  // namespace isochron::world
