// Pinhole camera without a GPU: one ray for each pixel gives colour (Lambert under a headlight and a sun), depth along
// the optical axis, and which geometry it is. No function of libm on the way, so pictures have the same bits
// everywhere.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "msg/ros_messages.hpp"
#include "world/sensors/camera_model.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

constexpr double ambient = 0.3, headlight = 0.3, sunlight = 0.5;

using Rgb = std::array<float, 3>;

Rgb sky(const Vec3& direction) {
  constexpr Rgb horizon{0.80F, 0.87F, 0.94F}, zenith{0.33F, 0.53F, 0.82F};
  const auto up = static_cast<float>(std::clamp(direction[2], 0.0, 1.0));
  Rgb colour;
  for (int i = 0; i < 3; ++i) colour[i] = horizon[i] + (zenith[i] - horizon[i]) * up;
  return colour;
}

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5F, 0.0F, 255.0F)); }

/// The message of a picture, without its pixels.
sensor_msgs::Image head_of(const CameraOptions& options, const char* encoding, std::uint32_t pixel) {
  sensor_msgs::Image image;
  image.width = options.width;
  image.height = options.height;
  image.encoding = encoding;
  image.step = options.width * pixel;
  return image;
}

std::vector<Output> outputs_of(const CameraOptions& options) {
  std::vector<Output> outputs;
  if (options.colour) outputs.push_back(output_of<sensor_msgs::Image>("image"));
  if (options.depth) outputs.push_back(output_of<sensor_msgs::Image>("depth"));
  if (options.segmentation) outputs.push_back(output_of<sensor_msgs::Image>("segmentation"));
  return outputs;
}

class CameraSensor final : public Sensor {
 public:
  CameraSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, outputs_of(spec_in.picture)),
        options_(spec_in.picture),
        mount_(mount_of(spec_in, catalog)),
        model_(pinhole_of(spec_in, catalog)),
        axes_(axes_of(!spec_in.camera.empty())),
        sun_(unit(spec_in.picture.sun)),
        colour_{head_of(options_, "rgb8", options_.colour ? 3 : 0), {}},
        depth_{head_of(options_, "32FC1", options_.depth ? 4 : 0), {}},
        segments_{head_of(options_, "mono16", options_.segmentation ? 2 : 0), {}} {
    std::size_t output = 0;
    for (Picture* picture : {&colour_, &depth_, &segments_}) {
      picture->head.header.frame_id = frame_id();
      if (picture->size() > 0) reserve(output++, cdr_size(picture->head) + picture->size());
    }
  }

 private:
  /// Drawn where whoever reads it will find it.
  struct Picture {
    sensor_msgs::Image head;
    std::span<std::byte> pixels;
    [[nodiscard]] std::size_t size() const { return std::size_t{head.step} * head.height; }
  };
  struct Axes {
    Vec3 right, up, forward;  // in the mount's frame
  };
  static Axes axes_of(bool on_camera) {
    if (on_camera) return {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
    return {{0, -1, 0}, {0, 0, 1}, {1, 0, 0}};
  }

  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const Scene& scene = view.scene();
    const Frame frame(mount_.pose(view.engine()));
    const Axes world{frame.outward(axes_.right), frame.outward(axes_.up), frame.outward(axes_.forward)};
    std::size_t output = 0;
    for (Picture* picture : {&colour_, &depth_, &segments_}) {
      picture->head.header.stamp = stamp;
      if (picture->size() > 0) picture->pixels = into.put_head(picture->head, picture->size(), output++);
    }
    std::size_t pixel = 0;
    for (std::uint32_t row = 0; row < options_.height; ++row) {
      const Vec3 to_row = world.forward + ((model_.cy - row - 0.5) / model_.focal) * world.up;
      for (std::uint32_t column = 0; column < options_.width; ++column, ++pixel) {
        const Vec3 through = to_row + ((column + 0.5 - model_.cx) / model_.focal) * world.right;
        draw(scene, frame.origin, through, pixel);
      }
    }
    if (options_.noise > 0 && options_.colour) add_noise();
  }

  /// `through` is 1 long along the optical axis.
  void draw(const Scene& scene, const Vec3& eye, const Vec3& through, std::size_t pixel) {
    const double stretch = length(through);
    const Ray ray{eye, (1 / stretch) * through, options_.near * stretch, options_.far * stretch};
    Hit hit;
    const bool found = scene.cast(ray, hit, mount_.unseen());
    if (options_.colour) {
      const Rgb colour = found ? shade(scene, ray, hit) : sky(ray.direction);
      for (int i = 0; i < 3; ++i) colour_.pixels[3 * pixel + i] = std::byte{to_byte(colour[i])};
    }
    if (options_.depth) {
      const float metres = found ? static_cast<float>(hit.distance / stretch) : INFINITY;
      std::memcpy(&depth_.pixels[4 * pixel], &metres, sizeof metres);
    }
    if (options_.segmentation) {
      const auto id = static_cast<std::uint16_t>(!found ? 0 : 1 + (options_.segment_bodies ? hit.body : hit.geometry));
      std::memcpy(&segments_.pixels[2 * pixel], &id, sizeof id);
    }
  }

  Rgb shade(const Scene& scene, const Ray& ray, const Hit& hit) const {
    if (scene.material(hit.geometry).glows) return scene.material(hit.geometry).colour;
    double light = ambient + headlight * -dot(hit.normal, ray.direction);
    const double towards_sun = dot(hit.normal, sun_);
    if (towards_sun > 0 && !(options_.shadows && in_shadow(scene, ray, hit))) light += sunlight * towards_sun;
    Rgb colour = scene.colour_at(hit, ray);
    for (float& c : colour) c *= static_cast<float>(light);
    return colour;
  }
  bool in_shadow(const Scene& scene, const Ray& ray, const Hit& hit) const {
    const Vec3 point = ray.origin + hit.distance * ray.direction + 1e-4 * hit.normal;
    return scene.blocked({point, sun_, 1e-4, options_.far});
  }

  /// The count of ones among 64 random bits is normal for all purposes of 8-bit pictures: mean 32, deviation 4.
  void add_noise() {
    for (std::byte& pixel : colour_.pixels) {
      const double normal = (std::popcount(noise().bits()) - 32) * 0.25;
      const double value = std::to_integer<int>(pixel) + options_.noise * normal + 0.5;
      pixel = std::byte{static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0))};
    }
  }

  const CameraOptions options_;
  Mount mount_;
  PinholeModel model_;
  Axes axes_;
  Vec3 sun_;
  Picture colour_;
  Picture depth_;
  Picture segments_;
};

}  // namespace

std::unique_ptr<Sensor> make_camera(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<CameraSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
