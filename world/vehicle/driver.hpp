#pragma once
// Who drives: a recording (file), or a closed loop that follows a path, keeps a speed and keeps its distance. An
// interactive driver needs none of this: whoever writes NAME/steer, NAME/throttle and NAME/brake drives, since commands
// hold. A Seat puts a driver into a car of the world and lets it act at its own period.

#include <array>
#include <iosfwd>
#include <memory>
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

/// What a driver sees: its own car, and who is in front.
struct DriverView {
  SimTime time;
  SimSpan period;  // since the last look
  Motion car;
  double speed = 0;
  double gap = 1e9;  // m of free road ahead to the next car
  double leader_speed = 0;
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
///     a (1 − (v/v0)⁴ − (s*/gap)²),   s* = s0 + v T + v Δv / (2 √(a b)).
struct CarFollowing {
  double desired_speed = 13.9;  // v0
  double headway = 1.4;         // T
  double standstill = 2.0;      // s0
  double acceleration = 1.8;    // a
  double braking = 2.5;         // b, comfortable
  [[nodiscard]] double operator()(double speed, double gap, double leader_speed) const;
};

struct PathDriverSettings {
  double max_steer = 0.61;  // of the car that is driven, rad
  double wheelbase = 2.65;
  double look_ahead = 4;         // m, and
  double look_ahead_time = 0.6;  // s more at speed
  double pedal_gain = 0.25;      // throttle per m/s² wanted, and
  double pedal_integral = 0.15;
  double lateral_acceleration = 3;  // m/s² at most in bends
  CarFollowing follow;
};

/// Follows a polyline by pure pursuit; speed by the car-following law and a PI on the pedals.
class PathDriver final : public Driver {
 public:
  using Point = std::array<double, 2>;
  /// `closed`: after the last point comes the first. Throws InputError when there are fewer than two points.
  PathDriver(std::vector<Point> path, bool closed, PathDriverSettings settings);

  DriverCommand drive(const DriverView& view) override;
  /// Stops before this arc length of the path, as at a red light; infinity: drives on.
  void stop_before(double arc_length) { stop_ = arc_length; }
  /// Stops before this one too, for somebody else's sake; infinity: nobody is in the way.
  void yield_before(double arc_length) { yield_ = arc_length; }
  /// Not faster than this, m/s; infinity: as wanted.
  void limit_speed(double speed) { limit_ = speed; }
  [[nodiscard]] double wanted_speed() const { return settings_.follow.desired_speed; }
  /// The path's point at an arc length.
  [[nodiscard]] Point at(double arc) const;
  [[nodiscard]] double travelled() const { return travelled_; }  // arc length of the nearest point of the path
  [[nodiscard]] double length() const { return arc_.back(); }
  /// Metres left of the path (+) or right of it (−) at the last drive().
  [[nodiscard]] double offset() const { return offset_; }

  [[nodiscard]] std::size_t state_size() const override { return 6; }
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;

 private:
  void locate(double x, double y);
  [[nodiscard]] double bend_ahead(double look) const;

  std::vector<Point> path_;
  std::vector<double> arc_;
  bool closed_;
  PathDriverSettings settings_;
  double travelled_ = -1;  // −1: not yet found
  double offset_ = 0, integral_ = 0, stop_ = 1e18, yield_ = 1e18, limit_ = 1e18;
};

/// A driver in the seat of a car (or kinematic car): acts in the first step at or after each multiple of `period`,
/// before the car does, so add it first.
class Seat final : public Part {
 public:
  /// `others`: bodies to keep a distance to, `length` of each; may be empty.
  Seat(std::unique_ptr<Driver> driver, Part& car, std::uint32_t body, bool kinematic, SimSpan period,
       std::vector<std::uint32_t> others = {}, double length = 4.5);
  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  [[nodiscard]] Driver& driver() { return *driver_; }

  [[nodiscard]] std::size_t state_size() const override { return driver_->state_size(); }
  void save(std::span<double> state) const override { driver_->save(state); }
  void restore(std::span<const double> state) override { driver_->restore(state); }

 private:
  void look_ahead(const Engine& engine, DriverView& view) const;
  std::unique_ptr<Driver> driver_;
  Part& car_;
  std::uint32_t body_;
  bool kinematic_;
  SimSpan period_;
  std::vector<std::uint32_t> others_;
  double length_;
};

}  // namespace isochron::world
