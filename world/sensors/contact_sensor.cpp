// What its body touches: a bumper, or the load cell in a foot.

#include <algorithm>

#include "msg/ros_messages.hpp"
#include "world/sensors/kinds.hpp"
#include "world/sensors/mount.hpp"

namespace isochron::world {
namespace {

class ContactSensor final : public Sensor {
 public:
  ContactSensor(const SensorSpec& spec_in, const Catalog& catalog, std::uint64_t seed)
      : Sensor(spec_in, seed, {output_of<isochron_msgs::ContactState>()}), body_(mount_of(spec_in, catalog).body) {
    message_.header.frame_id = frame_id();
    for (const std::string& name : catalog.bodies) {
      if (name.size() > message_.other.size()) message_.other = name;
    }
    message_.other.reserve(message_.other.size());
    reserve(0, cdr_size(message_) + 8);  // the name moves the alignment of what follows
  }

 private:
  void look(const WorldView& view, SimTime stamp, std::uint32_t, Reading& into) override {
    clear();
    double strongest = -1;
    for (const Contact& contact : view.engine().contacts()) {
      const auto& geometry = view.engine().geometry();
      const std::uint32_t a = geometry[contact.geometry_a].body;
      const std::uint32_t b = geometry[contact.geometry_b].body;
      if (a != body_ && b != body_) continue;
      ++message_.contacts;
      message_.force += contact.normal_force;
      if (contact.normal_force <= strongest) continue;
      strongest = contact.normal_force;
      describe(contact, view.engine().catalog().bodies[a == body_ ? b : a], b == body_ ? 1 : -1);
    }
    message_.touching = message_.contacts > 0 && message_.force >= spec().contact.threshold;
    message_.header.stamp = stamp;
    into.put(message_);
  }

  void clear() {
    message_.contacts = 0;
    message_.force = 0;
    message_.other.clear();
    message_.position = {};
    message_.normal = {};
  }
  void describe(const Contact& contact, const std::string& other, double sign) {
    const Vec3& n = contact.normal;
    message_.other = other;
    message_.position = {contact.position[0], contact.position[1], contact.position[2]};
    message_.normal = {sign * n[0], sign * n[1], sign * n[2]};
  }

  std::uint32_t body_;
  isochron_msgs::ContactState message_;
};

}  // namespace

std::unique_ptr<Sensor> make_contact_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  return std::make_unique<ContactSensor>(spec, catalog, seed);
}

}  // namespace isochron::world
