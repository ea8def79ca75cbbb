/* heater.c as a program: a process of its own. */
#include "client/node/isochron_node_program.h"

int main(void) { return isochron_node_main(isochron_node_types()); }
