/* The heater of room.yaml in C: the same file is a library of nodes and a program (heater_main.c). */
#include <stdlib.h>

#include "core/isochron_node.h"

typedef struct heater {
  double wanted;
  int on;
} heater;

static void heard(void* self, int32_t input, const void* message, size_t size, int64_t time_ns) {
  heater* h = self;
  const double* degrees = message; /* example_msgs/msg/Temperature is one number */
  (void)input, (void)size, (void)time_ns;
  h->on = *degrees < h->wanted;
}

static void fill(void* self, int32_t output, void* message, size_t size, int64_t time_ns) {
  double* watts = message;
  (void)output, (void)size, (void)time_ns;
  *watts = ((heater*)self)->on ? 500 : 0;
}

static void* create(const isochron_host* host, isochron_node* node) {
  heater* h = calloc(1, sizeof *h);
  const char* wanted = host->parameter(node, "wanted");
  if (!h) return NULL;
  h->wanted = wanted ? atof(wanted) : 20;
  host->input(node, "room", "example_msgs/msg/Temperature\nfloat64 degrees", heard);
  const isochron_output heat = {.name = "heat",
                                .type = "example_msgs/msg/Power\nfloat64 watts",
                                .kind = ISOCHRON_PREDICTIVE,
                                .period_ns = 1000000000,
                                .fill = fill};
  host->output(node, &heat);
  return h;
}

const isochron_node_list* isochron_node_types(void) {
  static const isochron_node_type types[] = {{"Heater", "on below `wanted`", create, NULL, NULL, free}};
  static const isochron_node_list list = {ISOCHRON_NODE_ABI, 1, types};
  return &list;
}
