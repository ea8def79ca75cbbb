// An ordinary node on the wire of ROS 2 that drives a car of the full house: odometry and what the car's radio hears come in on
// topics, and a Twist goes out (throttle, brake, steer as linear.x, linear.y, angular.z). It knows nothing of Isochron.
// On Cyclone DDS alone, so that it runs where ROS 2 is not installed. Usage: full_house_node APPROACH SPEED

#include <dds/dds.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "experiments/full_house/driving.hpp"
#include "node_types.h"

namespace {

dds_entity_t participant;

dds_qos_t* quality(int depth) {
  dds_qos_t* qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_MSECS(100));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, depth);
  return qos;
}

dds_entity_t reader(const dds_topic_descriptor_t* type, const char* name, int depth) {
  return dds_create_reader(participant, dds_create_topic(participant, type, name, nullptr, nullptr), quality(depth),
                           nullptr);
}

/// Calls f for each sample that is there.
template <class Sample, class F>
void take(dds_entity_t reader, F&& f) {
  void* sample = nullptr;
  dds_sample_info_t info;
  while (dds_take(reader, &sample, &info, 1, 1) > 0) {
    if (info.valid_data) f(*static_cast<const Sample*>(sample));
    dds_return_loan(reader, &sample, 1);
    sample = nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: full_house_node APPROACH SPEED\n"), 2;
  full_house::Driving driving(full_house::approach_of(argv[1]), std::atof(argv[2]));
  const char* domain = std::getenv("ROS_DOMAIN_ID");
  participant = dds_create_participant(
      domain != nullptr ? static_cast<dds_domainid_t>(std::atoi(domain)) : DDS_DOMAIN_DEFAULT, nullptr, nullptr);
  if (participant < 0) return std::fprintf(stderr, "no DDS: %s\n", dds_strretcode(-participant)), 1;
  const dds_entity_t odom = reader(&nav_msgs_msg_dds__Odometry__desc, "rt/full_house/odom", 1);
  const dds_entity_t radio = reader(&std_msgs_msg_dds__UInt8MultiArray__desc, "rt/full_house/v2x", 100);
  const dds_entity_t topic =
      dds_create_topic(participant, &geometry_msgs_msg_dds__Twist__desc, "rt/full_house/drive", nullptr, nullptr);
  const dds_entity_t drive = dds_create_writer(participant, topic, quality(1), nullptr);
  const dds_entity_t woken = dds_create_waitset(participant);
  dds_waitset_attach(woken, dds_create_readcondition(odom, DDS_ANY_STATE), 0);
  dds_waitset_attach(woken, dds_create_readcondition(radio, DDS_ANY_STATE), 0);
  for (;;) {
    dds_waitset_wait(woken, nullptr, 0, DDS_SECS(1));
    take<std_msgs_msg_dds__UInt8MultiArray_>(radio, [&](const auto& frame) {
      driving.hear({frame.data._buffer, frame.data._length});
    });
    take<nav_msgs_msg_dds__Odometry_>(odom, [&](const auto& at) {
      const auto& q = at.pose.pose.orientation;
      const auto controls = driving.drive(at.pose.pose.position.x, at.pose.pose.position.y,
                                          full_house::heading_of({q.w, q.x, q.y, q.z}), at.twist.twist.linear.x);
      const geometry_msgs_msg_dds__Twist_ twist{{controls.throttle, controls.brake, 0}, {0, 0, controls.steer}};
      dds_write(drive, &twist);
    });
  }
}
