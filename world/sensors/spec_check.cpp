#include <algorithm>
#include <cmath>

#include "core/nearest_name.hpp"
#include "world/names.hpp"
#include "world/sensors/magnetic_field.hpp"
#include "world/sensors/mount.hpp"
#include "world/sensors/sensor.hpp"
#include "world/sensors/spec.hpp"

namespace isochron::world {
namespace {

constexpr double pi = 3.14159265358979323846;

constexpr std::array<const char*, 13> type_names{"pose",         "joints",   "contact",     "imu",   "gps",
                                                 "range",        "lidar",    "camera",      "model", "barometer",
                                                 "magnetometer", "airspeed", "optical_flow"};

/// Collects the mistakes of one sensor, each with its place and name.
class Checker {
 public:
  Checker(const SensorSpec& spec, const Catalog& catalog) : spec_(spec), catalog_(catalog) {}

  std::vector<Mistake> all() {
    check_name();
    check_timing();
    if (spec_.type == SensorType::joints) {
      check_joints();
    } else if (spec_.type == SensorType::model) {
      check_model_sensor();
    } else {
      check_mount();
    }
    check_options();
    check_memory();
    return std::move(mistakes_);
  }

 private:
  void mistake(const std::string& what, std::string hint = {}) {
    const std::string owner = spec_.robot.empty() ? "" : spec_.robot + "/";
    mistakes_.push_back({spec_.place, "sensor `" + owner + spec_.name + "`: " + what, std::move(hint)});
  }
  void demand(bool holds, const char* what) {
    if (!holds) mistake(what);
  }
  /// For amounts of noise and the like: a number, not negative.
  void amount(double value, const char* name) {
    if (!(value >= 0) || std::isinf(value)) mistake(std::string(name) + " must be a number of at least 0");
  }

  void check_name() {
    demand(!spec_.name.empty(), "it has no name");
    demand(spec_.name.find('/') == std::string::npos, "its name has a `/`");
  }

  void check_timing() {
    const SimSpan zero = SimSpan::zero();
    demand(spec_.period >= zero, "period is negative");
    demand(spec_.phase >= zero, "phase is negative");
    demand(spec_.latency >= zero, "latency is negative");
    demand(spec_.jitter >= zero, "jitter is negative");
    demand(spec_.acquire >= zero, "acquire is negative");
    demand(spec_.keep >= zero, "keep is negative");
    if (spec_.type == SensorType::imu && spec_.period == zero) {
      mistake("an IMU needs a period", "its noise is given by density, which means nothing without one");
    }
    if (spec_.type == SensorType::optical_flow && spec_.period == zero) {
      mistake("optical flow needs a period", "it says how far the picture moved since the last one");
    }
    if (spec_.type == SensorType::lidar && spec_.period == zero && spec_.lidar.sectors > 1) {
      mistake("a LiDAR that spins needs a period", "give `period`, or one sector");
    }
  }

  void check_mount() {
    const int given = !spec_.body.empty() + !spec_.site.empty() + !spec_.camera.empty();
    if (given != 1) {
      mistake(given == 0 ? "it is mounted nowhere" : "it is mounted more than once", "give one of body, site, camera");
      return;
    }
    if (!spec_.body.empty() && !catalog_.body(spec_.body)) {
      mistake("there is no body `" + spec_.body + "`", nearest_hint(spec_.body, catalog_.bodies));
    }
    if (!spec_.site.empty() && !catalog_.site(spec_.site)) {
      mistake("there is no site `" + spec_.site + "`", nearest_hint(spec_.site, names_of(catalog_.sites)));
    }
    if (!spec_.camera.empty() && !catalog_.camera(spec_.camera)) {
      mistake("there is no camera `" + spec_.camera + "`", nearest_hint(spec_.camera, names_of(catalog_.cameras)));
    }
    check_offset();
  }
  void check_offset() {
    double length = 0;
    for (const double x : spec_.offset.orientation) length += x * x;
    demand(std::abs(length - 1) < 1e-6, "the orientation of its offset is not of unit length");
    for (const double x : spec_.offset.position) {
      if (!std::isfinite(x)) return mistake("the position of its offset is not a number");
    }
  }

  void check_joints() {
    for (const std::string& name : spec_.joints.joints) {
      const auto joint = catalog_.joint(name);
      if (!joint) {
        mistake("there is no joint `" + name + "`", nearest_hint(name, names_of(catalog_.joints)));
      } else if (catalog_.joints[*joint].positions != 1) {
        mistake("joint `" + name + "` is neither a hinge nor a slide", "use a pose sensor on its body");
      }
    }
    amount(spec_.joints.position_noise, "position_noise");
    amount(spec_.joints.velocity_noise, "velocity_noise");
    amount(spec_.joints.resolution, "resolution");
  }
  void check_model_sensor() {
    if (catalog_.sensor(spec_.model_sensor)) return;
    mistake("the model has no sensor `" + spec_.model_sensor + "`",
            nearest_hint(spec_.model_sensor, names_of(catalog_.sensors)));
  }

  void check_options() {
    switch (spec_.type) {
      case SensorType::pose:
        amount(spec_.pose.position_noise, "position_noise");
        amount(spec_.pose.orientation_noise, "orientation_noise");
        break;
      case SensorType::contact:
        amount(spec_.contact.threshold, "threshold");
        break;
      case SensorType::imu:
        check_imu();
        break;
      case SensorType::gps:
        check_gps();
        break;
      case SensorType::range:
        check_range();
        break;
      case SensorType::lidar:
        check_lidar();
        break;
      case SensorType::camera:
        check_camera();
        break;
      case SensorType::barometer:
        check_barometer();
        break;
      case SensorType::magnetometer:
        check_magnetometer();
        break;
      case SensorType::airspeed:
        check_airspeed();
        break;
      case SensorType::optical_flow:
        check_reach(spec_.optical_flow.min, spec_.optical_flow.max);
        amount(spec_.optical_flow.noise, "noise");
        demand(spec_.optical_flow.max_rate > 0, "max_rate must be positive");
        break;
      case SensorType::joints:
      case SensorType::model:
        break;
    }
  }
  void check_barometer() {
    const BarometerOptions& o = spec_.barometer;
    demand(o.altitude > -500 && o.altitude < 20000, "altitude must be within -500 and 20000 m");
    demand(o.sea_level_pressure > 80000 && o.sea_level_pressure < 120000,
           "sea_level_pressure must be within 80000 and 120000 Pa");
    demand(std::abs(o.sea_level_temperature) < 80, "sea_level_temperature must be within ±80 °C");
    amount(o.noise, "noise");
    amount(o.drift, "drift");
    amount(o.resolution, "resolution");
    demand(o.drift_time > SimSpan::zero(), "drift_time must be positive");
  }
  void check_magnetometer() {
    const MagnetometerOptions& o = spec_.magnetometer;
    demand(std::abs(o.latitude) <= 90, "latitude must be within ±90 degrees");
    demand(std::abs(o.longitude) <= 180, "longitude must be within ±180 degrees");
    demand(std::isfinite(o.altitude), "altitude is not a number");
    amount(o.noise, "noise");
    amount(o.bias, "bias");
    if (const auto field = magnetic_field(o); !field.ok()) mistake(field.error());
  }
  /// Only an aircraft says what the air does where it is.
  void check_airspeed() {
    amount(spec_.airspeed.noise, "noise");
    amount(spec_.airspeed.bias, "bias");
    demand(spec_.airspeed.altitude > -500 && spec_.airspeed.altitude < 20000,
           "altitude must be within -500 and 20000 m");
    if (!mistakes_.empty()) return;
    const std::string& body = catalog_.bodies[mount_of(spec_, catalog_).body];
    if (!catalog_.sensor(body + "/wind")) {
      mistake("body `" + body + "` is no aircraft, and only those know the air", "name it in `aircraft`");
    }
  }
  void check_imu() {
    for (const ImuAxis* axis : {&spec_.imu.gyroscope, &spec_.imu.accelerometer}) {
      amount(axis->noise_density, "noise_density");
      amount(axis->bias, "bias");
      amount(axis->bias_walk, "bias_walk");
      amount(axis->range, "range");
      amount(axis->resolution, "resolution");
    }
    amount(spec_.imu.orientation_noise, "orientation_noise");
  }
  void check_gps() {
    const GpsOptions& o = spec_.gps;
    demand(std::abs(o.latitude) <= 90, "latitude must be within ±90 degrees");
    demand(std::abs(o.longitude) <= 180, "longitude must be within ±180 degrees");
    demand(std::isfinite(o.altitude), "altitude is not a number");
    amount(o.horizontal_noise, "horizontal_noise");
    amount(o.vertical_noise, "vertical_noise");
    amount(o.drift, "drift");
    demand(o.drift_time > SimSpan::zero(), "drift_time must be longer than 0");
    demand(o.satellites >= 6 && o.satellites <= 1000, "satellites must be 6 to 1000");
    demand(o.mask >= 0 && o.mask <= 1.2, "mask must be within 0 and 1.2 radians");
    demand(o.worst_dilution > 1, "worst_dilution must be greater than 1");
    demand(o.sky > 0, "sky must be positive");
    amount(o.velocity_noise, "velocity_noise");
    if (o.velocity_noise > 0 && !o.velocity) mistake("velocity_noise has no effect", "give `velocity: true`");
  }
  void check_reach(double min, double max) {
    demand(min >= 0, "min must be at least 0");
    demand(max > min && max < 1e6, "max must be greater than min and less than 1e6");
  }
  void check_range() {
    check_reach(spec_.range.min, spec_.range.max);
    amount(spec_.range.noise, "noise");
    amount(spec_.range.noise_per_metre, "noise_per_metre");
    demand(spec_.range.drop_out >= 0 && spec_.range.drop_out <= 1, "drop_out must be within 0 and 1");
    demand(spec_.range.cone >= 0 && spec_.range.cone <= pi, "cone must be within 0 and π");
  }
  void check_lidar() {
    const LidarOptions& o = spec_.lidar;
    check_reach(o.min, o.max);
    amount(o.noise, "noise");
    amount(o.noise_per_metre, "noise_per_metre");
    amount(o.weak_range, "weak_range");
    demand(o.drop_out >= 0 && o.drop_out <= 1, "drop_out must be within 0 and 1");
    demand(o.channels >= 1 && o.channels <= 1024, "channels must be 1 to 1024");
    demand(o.columns >= 1 && o.columns <= 65536, "columns must be 1 to 65536");
    demand(o.sectors >= 1 && o.sectors <= o.columns, "sectors must be 1 to the number of columns");
    demand(o.lowest >= -pi / 2 && o.highest <= pi / 2 && o.lowest <= o.highest,
           "lowest and highest must be elevations");
    demand(o.first < o.last && o.last - o.first <= 2 * pi + 1e-9 && std::abs(o.first) <= 2 * pi,
           "first and last must be azimuths at most one turn apart");
    demand(o.format == LidarFormat::cloud || (o.channels == 1 && o.lowest == 0),
           "a scan has one channel, at elevation 0");
  }
  void check_camera() {
    const CameraOptions& o = spec_.picture;
    demand(o.width >= 1 && o.width <= 8192 && o.height >= 1 && o.height <= 8192, "width and height must be 1 to 8192");
    demand(o.vertical_fov >= 0 && o.vertical_fov < pi, "vertical_fov must be less than π");
    demand(o.colour || o.depth || o.segmentation, "it gives neither colour, depth nor segmentation");
    demand(o.near >= 0 && o.far > o.near && o.far < 1e6, "near and far must be distances");
    amount(o.noise, "noise");
    demand(o.sun[0] * o.sun[0] + o.sun[1] * o.sun[1] + o.sun[2] * o.sun[2] > 0,
           "the direction of the sun must not be zero");
  }

  /// The ring is made at set-up: a latency of an hour at a microsecond's period is a slip, not a wish.
  void check_memory() {
    if (!mistakes_.empty()) return;
    constexpr double most = 1e9;
    const double held = static_cast<double>(readings_kept(spec_)) * bytes_each();
    if (held <= most) return;
    mistake("its readings on their way would need " + std::to_string(static_cast<long>(held / 1e6)) + " MB",
            "shorten latency, jitter or keep, or lengthen the period");
  }
  [[nodiscard]] double bytes_each() const {
    if (spec_.type == SensorType::lidar) return 24.0 * spec_.lidar.channels * spec_.lidar.columns;
    const CameraOptions& o = spec_.picture;
    const int pixel = 3 * o.colour + 4 * o.depth + 2 * o.segmentation;
    return spec_.type == SensorType::camera ? static_cast<double>(o.width) * o.height * pixel : 1000;
  }

  const SensorSpec& spec_;
  const Catalog& catalog_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

const char* to_string(SensorType type) { return type_names[static_cast<std::size_t>(type)]; }

bool sensor_type_from(std::string_view text, SensorType& type) {
  const auto* found = std::find(type_names.begin(), type_names.end(), text);
  if (found == type_names.end()) return false;
  type = static_cast<SensorType>(found - type_names.begin());
  return true;
}

std::vector<std::string> sensor_type_names() { return {type_names.begin(), type_names.end()}; }

std::vector<Mistake> check(const SensorSpec& spec, const Catalog& catalog) { return Checker(spec, catalog).all(); }

}  // namespace isochron::world
