/* Somebody on the wire of ROS 2 who is not us: plain C on Cyclone DDS, with types made by idlc. On lo, in the domain of
 * ROS_DOMAIN_ID. Usage:
 *   ros2_peer hear TYPE TOPIC COUNT [best_effort|latched]  prints COUNT messages, the bytes of each in hex
 *   ros2_peer say TOPIC COUNT MS TEXT     std_msgs/String, COUNT times, so many ms apart
 *   ros2_peer lie TOPIC COUNT             text that claims to be a geometry_msgs/Twist
 *   ros2_peer drive TOPIC COUNT MS V W    geometry_msgs/Twist
 *   ros2_peer call SERVICE                std_srvs/Trigger; prints the answer
 *   ros2_peer step SERVICE N              simulation_interfaces/StepSimulation */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "ros2_peer.h"

struct known {
  const char* name;
  const dds_topic_descriptor_t* type;
};
static const struct known types[] = {
#include "bridge/ros2/test/catalogue_types.inc"
};

static dds_entity_t participant;

static dds_qos_t* quality(const char* words) {
  dds_qos_t* qos = dds_create_qos();
  const int best_effort = strstr(words, "best_effort") != NULL;
  dds_qset_reliability(qos, best_effort ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE, DDS_MSECS(500));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  if (strstr(words, "latched") != NULL) dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
  return qos;
}
static dds_entity_t topic(const dds_topic_descriptor_t* type, const char* prefix, const char* name,
                          const char* suffix) {
  char full[512];
  snprintf(full, sizeof full, "%s%s%s", prefix, name, suffix);
  return dds_create_topic(participant, type, full, NULL, NULL);
}
static dds_entity_t reader(dds_entity_t of, const char* words) {
  return dds_create_reader(participant, of, quality(words), NULL);
}
static dds_entity_t writer(dds_entity_t of) { return dds_create_writer(participant, of, quality(""), NULL); }

/* Until somebody is at the other end. */
static int wait_for_reader(dds_entity_t of) {
  for (int i = 0; i < 3000; ++i) {
    if (dds_get_matched_subscriptions(of, NULL, 0) > 0) return 1;
    dds_sleepfor(DDS_MSECS(10));
  }
  return fprintf(stderr, "nobody listens\n"), 0;
}

static int hear(const char* type, const char* name, long count, const char* words) {
  const dds_topic_descriptor_t* found = NULL;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    if (strcmp(types[i].name, type) == 0) found = types[i].type;
  }
  if (found == NULL) return fprintf(stderr, "no type %s\n", type), 1;
  const dds_entity_t from = reader(topic(found, "rt", name, ""), words);
  if (count == 0) dds_sleepfor(DDS_MSECS(1500)); /* only seen */
  const dds_time_t until = dds_time() + DDS_SECS(30);
  while (count > 0 && dds_time() < until) {
    struct ddsi_serdata* sample = NULL;
    dds_sample_info_t info;
    if (dds_takecdr(from, &sample, 1, &info, DDS_ANY_STATE) <= 0) {
      dds_sleepfor(DDS_MSECS(1));
      continue;
    }
    if (info.valid_data) {
      const uint32_t size = ddsi_serdata_size(sample);
      unsigned char* bytes = malloc(size + 4);
      ddsi_serdata_to_ser(sample, 0, size, bytes);
      for (uint32_t i = 0; i < size; ++i) printf("%02x", bytes[i]);
      printf("\n");
      fflush(stdout);
      free(bytes);
      --count;
    }
    ddsi_serdata_unref(sample);
  }
  return count > 0;
}

static int write_often(dds_entity_t to, const void* sample, long count, long ms) {
  if (!wait_for_reader(to)) return 1;
  for (long i = 0; i < count; ++i) {
    dds_write(to, sample);
    if (ms > 0) dds_sleepfor(DDS_MSECS(ms));
  }
  dds_sleepfor(DDS_MSECS(300));
  return 0;
}

static int say(const char* name, long count, long ms, const char* text, const char* claimed) {
  dds_topic_descriptor_t type = std_msgs_msg_dds__String__desc;
  if (claimed != NULL) type.m_typename = claimed;
  std_msgs_msg_dds__String_ sample = {(char*)text};
  return write_often(writer(topic(&type, "rt", name, "")), &sample, count, ms);
}

static dds_entity_t asking, answering;
static int connect_service(const dds_topic_descriptor_t* request, const dds_topic_descriptor_t* response,
                           const char* name) {
  asking = writer(topic(request, "rq", name, "Request"));
  answering = reader(topic(response, "rr", name, "Reply"), "");
  if (!wait_for_reader(asking)) return 0;
  for (int i = 0; i < 3000 && dds_get_matched_publications(answering, NULL, 0) <= 0; ++i) dds_sleepfor(DDS_MSECS(10));
  return 1;
}
static void* answer(void) {
  void* sample = NULL;
  dds_sample_info_t info;
  for (int i = 0; i < 3000; ++i) {
    if (dds_take(answering, &sample, &info, 1, 1) > 0 && info.valid_data) return sample;
    dds_sleepfor(DDS_MSECS(10));
  }
  fprintf(stderr, "no answer\n");
  exit(1);
}

int main(int argc, char** argv) {
  const char* domain = getenv("ROS_DOMAIN_ID");
  const dds_domainid_t id = domain ? (dds_domainid_t)atoi(domain) : 0;
  dds_create_domain(
      id,
      "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
      "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
      "<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers>"
      "</Discovery></Domain></CycloneDDS>");
  participant = dds_create_participant(id, NULL, NULL);
  if (participant < 0) return fprintf(stderr, "no DDS: %s\n", dds_strretcode(-participant)), 1;
  const char* what = argc > 1 ? argv[1] : "";
  int result = 2;
  if (strcmp(what, "hear") == 0 && argc >= 5) result = hear(argv[2], argv[3], atol(argv[4]), argc > 5 ? argv[5] : "");
  if (strcmp(what, "say") == 0 && argc == 6) result = say(argv[2], atol(argv[3]), atol(argv[4]), argv[5], NULL);
  if (strcmp(what, "lie") == 0 && argc == 4) {
    result = say(argv[2], atol(argv[3]), 10, "this is no twist", "geometry_msgs::msg::dds_::Twist_");
  }
  if (strcmp(what, "drive") == 0 && argc == 7) {
    geometry_msgs_msg_dds__Twist_ twist = {{atof(argv[5]), 0, 0}, {0, 0, atof(argv[6])}};
    result = write_often(writer(topic(&geometry_msgs_msg_dds__Twist__desc, "rt", argv[2], "")), &twist, atol(argv[3]),
                         atol(argv[4]));
  }
  if (strcmp(what, "call") == 0 && argc == 3) {
    const int there =
        connect_service(&std_srvs_srv_dds__Trigger_Request__desc, &std_srvs_srv_dds__Trigger_Response__desc, argv[2]);
    std_srvs_srv_dds__Trigger_Request_ request = {7, 1, 0};
    if (there && dds_write(asking, &request) == DDS_RETCODE_OK) {
      printf("%s\n", ((std_srvs_srv_dds__Trigger_Response_*)answer())->message);
      result = 0;
    }
  }
  if (strcmp(what, "step") == 0 && argc == 4) {
    const int there = connect_service(&simulation_interfaces_srv_dds__StepSimulation_Request__desc,
                                      &simulation_interfaces_srv_dds__StepSimulation_Response__desc, argv[2]);
    simulation_interfaces_srv_dds__StepSimulation_Request_ request = {7, 1, strtoull(argv[3], NULL, 10)};
    if (there && dds_write(asking, &request) == DDS_RETCODE_OK) {
      const simulation_interfaces_srv_dds__StepSimulation_Response_* done = answer();
      printf("%d %s\n", done->result, done->error_message);
      result = 0;
    }
  }
  if (result == 2) fprintf(stderr, "what?\n");
  dds_delete(participant);
  return result;
}
