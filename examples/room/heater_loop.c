/* The heater as a program that asks for time in its own loop. */
#include <stdlib.h>

#include "client/node/isochron_node_program.h"

int main(void) {
  const isochron_host* host = isochron_program_host();
  isochron_node* node = isochron_attach("Heater", "on below `wanted`");
  if (!node) return 2;
  const char* given = host->parameter(node, "wanted");
  const double wanted = given ? atof(given) : 20;
  host->input(node, "room", "example_msgs/msg/Temperature\nfloat64 degrees", NULL);
  const isochron_output heat = {.name = "heat",
                                .type = "example_msgs/msg/Power\nfloat64 watts",
                                .kind = ISOCHRON_PREDICTIVE,
                                .period_ns = 1000000000};
  host->output(node, &heat);
  int on = 0;
  isochron_happening what;
  while (isochron_next(node, &what)) {
    if (what.kind == ISOCHRON_MESSAGE) on = *(const double*)what.data < wanted;
    if (what.kind == ISOCHRON_DUE) isochron_put(node, &(double){on ? 500 : 0}, sizeof(double));
  }
  isochron_detach(node);
  return 0;
}
