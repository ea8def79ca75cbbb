// A sensor that the model file declares (a MuJoCo <sensor>), given the same timing as all others.

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"

namespace isochron::world {
namespace {

class ModelSensor final : public Sensor {
 public:
  ModelSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<isochron_msgs::Values>()}), index_(*catalog.sensor(spec_in.model_sensor)) {
    message_.header.frame_id = frame_id();
    message_.values.resize(catalog.sensors[index_].dimensions);
    reserve(0, cdr_size(message_));
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    const auto values = view.model_sensor(index_);
    message_.header.stamp = stamp;
    message_.values.assign(values.begin(), values.end());
    into.put(message_);
  }

  std::uint32_t index_;
  isochron_msgs::Values message_;
};

}  // namespace

std::unique_ptr<Sensor> make_model_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<ModelSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
