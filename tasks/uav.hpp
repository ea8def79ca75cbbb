#pragma once
// The five tasks of paper 003 for a vehicle that flies by velocities: sensor characterisation, relative position, face
// anchor, move forward until abeam, closed path. They see the vehicle through its sensors and actuators only, so the
// same executable flies the simulated one from the development machine, from a board, or from a slow target.
//
// Angles in radians, left is positive. Threads: owner thread.

#include <optional>
#include <string>

#include "msg/sensor_types.hpp"
#include "tasks/task.hpp"
#include "tasks/tracker.hpp"

namespace isochron::tasks {

/// The vehicle as its tasks know it.
class Vehicle {
 public:
  struct Names {
    std::string camera = "camera/image", imu = "imu", range = "rangefinder";
    std::string north = "vx", west = "vy", turn = "yaw_rate";
    double vertical_fov = 0.96;  // rad, of the camera
  };
  explicit Vehicle(Robot& robot) : robot_(robot) {}
  Vehicle(Robot& robot, Names names) : robot_(robot), names_(std::move(names)) {}

  void stop();
  void rotate(double rate);
  /// In a direction of the world, counted from its x axis, without turning.
  void move(double direction, double speed);
  [[nodiscard]] double yaw();
  [[nodiscard]] cv::Mat image();
  [[nodiscard]] ImuReading imu();
  [[nodiscard]] RangeReading range();
  [[nodiscard]] Robot& robot() { return robot_; }
  [[nodiscard]] double focal_length(const cv::Mat& picture) const;

 private:
  Robot& robot_;
  Names names_;
  std::vector<std::uint8_t> pixels_;
};

enum class SensorKind { range, camera };

/// Algorithm 1: the mean simulated time that one reading takes.
class CharacteriseSensor final : public Task<double> {
 public:
  CharacteriseSensor(Vehicle& vehicle, SensorKind kind, int readings = 100)
      : vehicle_(vehicle), kind_(kind), readings_(readings) {}
  void initialise() override { start_ = vehicle_.robot().now(); }
  bool done() override { return taken_ == readings_; }
  void step() override;
  double finalise() override;

 private:
  Vehicle& vehicle_;
  SensorKind kind_;
  int readings_;
  int taken_ = 0;
  SimTime start_;
};

struct RelativePosition {
  bool seen = false;
  double angle = 0;     // to the anchor, from where the camera looks
  double distance = 0;  // m
};

/// Algorithm 2: follows the anchor from picture to picture until the tracker settles.
class FindRelativePosition final : public Task<RelativePosition> {
 public:
  /// The tracker goes on from where it was left, as the paper's does.
  FindRelativePosition(Vehicle& vehicle, AnchorTracker& tracker, const Anchor& anchor)
      : vehicle_(vehicle), tracker_(tracker), anchor_(anchor) {}
  bool done() override { return pictures_ >= 2 && (tracker_.moved() < settled || pictures_ >= most); }
  void step() override;
  RelativePosition finalise() override;

 private:
  static constexpr double settled = 6;  // pixels
  static constexpr int most = 6;        // pictures
  Vehicle& vehicle_;
  AnchorTracker& tracker_;
  Anchor anchor_;
  int pictures_ = 0;
  double focal_ = 1, middle_ = 0;
  std::optional<Region> region_;
};

struct TurnOptions {
  double rate = 0.25;       // rad/s, at first
  double slowest = 0.03;    // rad/s; each turn back is slower, down to this
  double precision = 0.02;  // rad
};

/// Algorithm 3: turns until the anchor is in the middle of the picture; turns back, slower, whenever it went past it.
/// The result is how often it did.
class FaceAnchor final : public Task<int> {
 public:
  FaceAnchor(Vehicle& vehicle, AnchorTracker& tracker, const Anchor& anchor, const TurnOptions& options = {})
      : vehicle_(vehicle), tracker_(tracker), anchor_(anchor), options_(options) {}
  void initialise() override;
  bool done() override { return seen_ && std::abs(angle_) <= options_.precision; }
  void step() override;
  int finalise() override;

 private:
  bool look();
  Vehicle& vehicle_;
  AnchorTracker& tracker_;
  Anchor anchor_;
  TurnOptions options_;
  double angle_ = 0, rate_ = 0, turning_ = 0;
  bool seen_ = false, lost_ = false;
  int oscillations_ = 0;
};

/// Algorithm 4: moves along its first heading, turning towards the anchor again and again, until it is abeam. The
/// result is the angle turned.
class MoveForwardUntilAbeam final : public Task<double> {
 public:
  MoveForwardUntilAbeam(Vehicle& vehicle, AnchorTracker& tracker, const Anchor& anchor, double speed = 0.5,
                        double precision = 0.06, const TurnOptions& turn = {})
      : vehicle_(vehicle), tracker_(tracker), anchor_(anchor), speed_(speed), precision_(precision), turn_(turn) {}
  void initialise() override;
  bool done() override;
  void step() override;
  double finalise() override;

 private:
  [[nodiscard]] double turned() const;
  Vehicle& vehicle_;
  AnchorTracker& tracker_;
  Anchor anchor_;
  double speed_, precision_;
  TurnOptions turn_;
  double heading_ = 0, yaw_ = 0;
};

/// Algorithm 5: flies along the sides of a square by IMU odometry alone, then measures by the anchor how far it is from
/// where it began. The result is that distance as it sees it.
class ClosedPath final : public Task<double> {
 public:
  ClosedPath(Vehicle& vehicle, AnchorTracker& tracker, const Anchor& anchor, double side, double speed = 0.8)
      : vehicle_(vehicle), tracker_(tracker), anchor_(anchor), side_(side), speed_(speed) {}
  void initialise() override;
  bool done() override { return leg_ == 4; }
  void step() override;
  double finalise() override;

 private:
  void calibrate();
  void begin_leg();
  bool next_reading(ImuReading& reading);
  void add_reading(const ImuReading& reading);
  [[nodiscard]] std::array<double, 2> level_force(const ImuReading& reading) const;
  Vehicle& vehicle_;
  AnchorTracker& tracker_;
  Anchor anchor_;
  double side_, speed_;
  int leg_ = 0;
  double travelled_ = 0, heading_ = 0;
  std::array<double, 2> velocity_{}, bias_{}, acceleration_{};
  SimTime last_, seen_;
  SimSpan period_ = std::chrono::milliseconds(5);  // of the IMU, as found
  std::uint64_t number_ = 0;
  RelativePosition begin_;
};

/// In (−π, π].
double wrapped(double angle);

}  // namespace isochron::tasks
