#include "tasks/uav.hpp"

#include <cmath>
#include <utility>

#include "msg/ros_messages.hpp"

namespace isochron::tasks {
namespace {

using namespace std::chrono_literals;

constexpr SimSpan looking_limit = 5s;
constexpr int calibration_readings = 20;
/// CamShift gives four standard deviations as the size; a flat board has a width of √12 of them.
constexpr double camshift_size = 1.1547;

}  // namespace

double wrapped(double angle) {
  const double turns = std::remainder(angle, 2 * M_PI);
  return turns <= -M_PI ? turns + 2 * M_PI : turns;
}

void Vehicle::stop() {
  for (const std::string& name : {names_.north, names_.west, names_.turn}) robot_.write(name.c_str(), 0.0);
}

void Vehicle::rotate(double rate) { robot_.write(names_.turn.c_str(), rate); }

void Vehicle::move(double direction, double speed) {
  robot_.write(names_.north.c_str(), speed * std::cos(direction));
  robot_.write(names_.west.c_str(), speed * std::sin(direction));
}

double Vehicle::yaw() {
  const auto& [w, x, y, z] = imu().orientation;
  return std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

cv::Mat Vehicle::image() {
  auto message = robot_.read<sensor_msgs::Image>(names_.camera.c_str());
  if (!message || message->encoding != "rgb8") throw ClientError("the camera gives no colour picture");
  pixels_ = std::move(message->data);
  return cv::Mat(static_cast<int>(message->height), static_cast<int>(message->width), CV_8UC3, pixels_.data());
}

ImuReading Vehicle::imu() { return robot_.read<ImuReading>(names_.imu.c_str()); }
RangeReading Vehicle::range() { return robot_.read<RangeReading>(names_.range.c_str()); }

double Vehicle::focal_length(const cv::Mat& picture) const {
  return picture.rows / 2.0 / std::tan(names_.vertical_fov / 2);
}

void CharacteriseSensor::step() {
  if (kind_ == SensorKind::range) {
    (void)vehicle_.range();
  } else {
    (void)vehicle_.image();
  }
  ++taken_;
}

double CharacteriseSensor::finalise() { return (vehicle_.robot().now() - start_).seconds() / std::max(taken_, 1); }

void FindRelativePosition::step() {
  const cv::Mat picture = vehicle_.image();
  focal_ = vehicle_.focal_length(picture);
  middle_ = (picture.cols - 1) / 2.0;
  region_ = tracker_.follow(picture);
  ++pictures_;
}

RelativePosition FindRelativePosition::finalise() {
  if (!region_) return {};
  const double angle = std::atan2(middle_ - region_->centre.x, focal_);
  // A board seen at an angle looks narrower, not lower.
  const double height = std::max(region_->height / camshift_size, 1.0);
  return {true, angle, focal_ * anchor_.height / height / std::cos(angle)};
}

bool FaceAnchor::look() {
  FindRelativePosition find(vehicle_, tracker_, anchor_);
  const RelativePosition found = run(vehicle_.robot(), "relative position", find, looking_limit).result;
  seen_ = found.seen;
  if (!seen_) return false;
  lost_ = false;
  const bool passed = turning_ != 0 && found.angle * turning_ < 0;
  angle_ = found.angle;
  return passed;
}

void FaceAnchor::initialise() {
  vehicle_.stop();
  rate_ = options_.rate;
  look();
  if (done()) return;
  turning_ = angle_ < 0 ? -1 : 1;
  vehicle_.rotate(turning_ * rate_);
}

void FaceAnchor::step() {
  const bool passed = look();
  const bool lost = !seen_ && !std::exchange(lost_, !seen_);  // out of sight just now: it went past it for good
  if (!passed && !lost) return;
  ++oscillations_;
  turning_ = turning_ == 0 ? 1 : -turning_;
  rate_ = std::max(rate_ / 2, options_.slowest);
  vehicle_.rotate(turning_ * (lost ? options_.rate : rate_));
}

int FaceAnchor::finalise() {
  vehicle_.stop();
  metrics["oscillations"] = oscillations_;
  metrics["angle"] = angle_;
  return oscillations_;
}

void MoveForwardUntilAbeam::initialise() {
  heading_ = yaw_ = vehicle_.yaw();
  vehicle_.move(heading_, speed_);
}

double MoveForwardUntilAbeam::turned() const { return std::abs(wrapped(yaw_ - heading_)); }

bool MoveForwardUntilAbeam::done() { return turned() >= M_PI / 2; }

void MoveForwardUntilAbeam::step() {
  FindRelativePosition find(vehicle_, tracker_, anchor_);
  const RelativePosition found = run(vehicle_.robot(), "relative position", find, looking_limit).result;
  if (!found.seen || std::abs(found.angle) > precision_) {
    FaceAnchor face(vehicle_, tracker_, anchor_, turn_);
    metrics["oscillations"] += run(vehicle_.robot(), "face anchor", face, SimSpan(20s)).result;
    metrics["turns"] += 1;
  }
  yaw_ = vehicle_.yaw();
  if (!done()) vehicle_.move(heading_, speed_);
}

double MoveForwardUntilAbeam::finalise() {
  vehicle_.stop();
  return turned();
}

void ClosedPath::initialise() {
  FindRelativePosition find(vehicle_, tracker_, anchor_);
  begin_ = run(vehicle_.robot(), "relative position", find, looking_limit).result;
  heading_ = vehicle_.yaw();
  calibrate();
  begin_leg();
}

/// While it stands, what the accelerometer says is its bias.
void ClosedPath::calibrate() {
  ImuReading reading;
  for (int taken = 0; taken < calibration_readings;) {
    if (!next_reading(reading)) continue;
    const auto level = level_force(reading);
    for (std::size_t i = 0; i < 2; ++i) bias_[i] += level[i] / calibration_readings;
    ++taken;
  }
  last_ = reading.stamp;
}

/// False: there is none since the last one; it has waited until the next is due.
bool ClosedPath::next_reading(ImuReading& reading) {
  Robot& robot = vehicle_.robot();
  reading = vehicle_.imu();
  if (reading.number == number_) {
    robot.wait_until(std::max(seen_ + period_, robot.now() + SimSpan(1ms)));
    return false;
  }
  if (number_ > 0) period_ = (reading.stamp - seen_) / static_cast<std::int64_t>(reading.number - number_);
  number_ = reading.number;
  seen_ = reading.stamp;
  return true;
}

void ClosedPath::begin_leg() {
  travelled_ = 0;
  vehicle_.move(heading_ + leg_ * M_PI / 2, speed_);
}

void ClosedPath::step() {
  ImuReading reading;
  if (!next_reading(reading)) return;
  add_reading(reading);
  if (travelled_ < side_) return;
  if (++leg_ < 4) begin_leg();
}

/// Specific force without its vertical part, in the frame of the first heading: a vehicle that flies leans.
std::array<double, 2> ClosedPath::level_force(const ImuReading& reading) const {
  const auto& [w, x, y, z] = reading.orientation;
  const auto& f = reading.linear_acceleration;
  const double east = (1 - 2 * (y * y + z * z)) * f[0] + 2 * (x * y - w * z) * f[1] + 2 * (x * z + w * y) * f[2];
  const double north = 2 * (x * y + w * z) * f[0] + (1 - 2 * (x * x + z * z)) * f[1] + 2 * (y * z - w * x) * f[2];
  const double c = std::cos(heading_), s = std::sin(heading_);
  return {c * east + s * north, c * north - s * east};
}

void ClosedPath::add_reading(const ImuReading& reading) {
  const double dt = (reading.stamp - last_).seconds();
  last_ = reading.stamp;
  const auto level = level_force(reading);
  for (std::size_t i = 0; i < 2; ++i) {
    const double now = level[i] - bias_[i];
    velocity_[i] += (now + acceleration_[i]) / 2 * dt;
    acceleration_[i] = now;
  }
  const double along = leg_ * M_PI / 2;
  travelled_ += (velocity_[0] * std::cos(along) + velocity_[1] * std::sin(along)) * dt;
}

double ClosedPath::finalise() {
  vehicle_.stop();
  vehicle_.robot().wait_until(vehicle_.robot().now() + SimSpan(1500ms));  // until it stands
  FindRelativePosition find(vehicle_, tracker_, anchor_);
  const RelativePosition end = run(vehicle_.robot(), "relative position", find, looking_limit).result;
  if (!begin_.seen || !end.seen) return -1;
  const double x = end.distance * std::cos(end.angle) - begin_.distance * std::cos(begin_.angle);
  const double y = end.distance * std::sin(end.angle) - begin_.distance * std::sin(begin_.angle);
  return std::hypot(x, y);
}

}  // namespace isochron::tasks
