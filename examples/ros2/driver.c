/* An ordinary node on the wire of ROS 2: drives ahead, and turns away from what the LiDAR sees near. It is plain C on
 * Cyclone DDS, so that it runs where ROS 2 is not installed; driver.py is the same for rclpy. It knows topics and
 * nothing of Isochron. Usage: ros2_driver [SECONDS of wall time] */
#include <dds/dds.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "driver_types.h"

static dds_entity_t participant;

static dds_qos_t* quality(int reliable, int depth) {
  dds_qos_t* qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_MSECS(100));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, depth);
  return qos;
}

static dds_entity_t reader(const dds_topic_descriptor_t* type, const char* name, int reliable) {
  const dds_entity_t topic = dds_create_topic(participant, type, name, NULL, NULL);
  return dds_create_reader(participant, topic, quality(reliable, 5), NULL);
}

/* The nearest thing ahead, on the left (> 0) or on the right. */
static double nearest_ahead(const sensor_msgs_msg_dds__LaserScan_* scan, double* side) {
  double nearest = INFINITY;
  for (uint32_t i = 0; i < scan->ranges._length; ++i) {
    const double angle = scan->angle_min + i * scan->angle_increment;
    if (fabs(angle) > 0.6 || !(scan->ranges._buffer[i] < nearest)) continue;
    nearest = scan->ranges._buffer[i];
    *side = angle;
  }
  return nearest;
}

int main(int argc, char** argv) {
  const time_t until = time(NULL) + (argc > 1 ? atoi(argv[1]) : 3600);
  const char* domain = getenv("ROS_DOMAIN_ID");
  if (getenv("CYCLONEDDS_URI") == NULL) {
    dds_create_domain(
        domain ? (dds_domainid_t)atoi(domain) : 0,
        "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
        "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
        "<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers>"
        "</Discovery></Domain></CycloneDDS>");
  }
  participant = dds_create_participant(domain ? (dds_domainid_t)atoi(domain) : DDS_DOMAIN_DEFAULT, NULL, NULL);
  if (participant < 0) return fprintf(stderr, "no DDS: %s\n", dds_strretcode(-participant)), 1;
  const dds_entity_t scans = reader(&sensor_msgs_msg_dds__LaserScan__desc, "rt/scan", 0);
  const dds_entity_t odom = reader(&nav_msgs_msg_dds__Odometry__desc, "rt/odom", 1);
  const dds_entity_t topic =
      dds_create_topic(participant, &geometry_msgs_msg_dds__Twist__desc, "rt/cmd_vel", NULL, NULL);
  const dds_entity_t command = dds_create_writer(participant, topic, quality(1, 10), NULL);
  const dds_entity_t woken = dds_create_waitset(participant);
  dds_waitset_attach(woken, dds_create_readcondition(scans, DDS_ANY_STATE), 0);
  dds_waitset_attach(woken, dds_create_readcondition(odom, DDS_ANY_STATE), 0);
  long heard = 0;
  while (time(NULL) < until) {
    dds_waitset_wait(woken, NULL, 0, DDS_MSECS(200));
    void* sample = NULL;
    dds_sample_info_t info;
    while (dds_take(scans, &sample, &info, 1, 1) > 0) {
      if (info.valid_data) {
        double side = 1;
        const double nearest = nearest_ahead(sample, &side);
        geometry_msgs_msg_dds__Twist_ twist = {{0.4, 0, 0}, {0, 0, 0}};
        if (nearest < 1.2) twist.linear.x = 0.1, twist.angular.z = side > 0 ? -0.8 : 0.8;
        dds_write(command, &twist);
      }
      dds_return_loan(scans, &sample, 1);
      sample = NULL;
    }
    while (dds_take(odom, &sample, &info, 1, 1) > 0) {
      const nav_msgs_msg_dds__Odometry_* at = sample;
      if (info.valid_data && heard++ % 100 == 0) {
        printf("%d.%03u s: at %.2f %.2f\n", at->header.stamp.sec, at->header.stamp.nanosec / 1000000,
               at->pose.pose.position.x, at->pose.pose.position.y);
        fflush(stdout);
      }
      dds_return_loan(odom, &sample, 1);
      sample = NULL;
    }
  }
  dds_delete(participant);
  return 0;
}
