/* A program that is a node of flows, in C. It needs this library and nothing else of Isochron.
 *
 * With callbacks, the same types as in a library (core/isochron_node.h):
 *
 *     int main(void) { return isochron_node_main(isochron_node_types()); }
 *
 * Or by asking for time in a loop of its own:
 *
 *     isochron_node* node = isochron_attach("Heater", "on below 20 degrees");
 *     int32_t room = isochron_program_host()->input(node, "room", TEMPERATURE, NULL);
 *     int32_t heat = isochron_program_host()->output(node, &(isochron_output){…});
 *     isochron_happening what;
 *     while (isochron_next(node, &what)) {
 *       if (what.kind == ISOCHRON_MESSAGE) …what.port, what.data, what.time_ns…
 *       if (what.kind == ISOCHRON_DUE) isochron_put(node, &power, sizeof power);
 *     }
 *     isochron_detach(node);
 *
 * Messages of fixed size are C structs, others CDR bytes, as in isochron_node.h. `isochron run` starts the program and
 * talks to it over the file descriptor in ISOCHRON_NODE_FD. Threads: one. */
#ifndef ISOCHRON_NODE_PROGRAM_H
#define ISOCHRON_NODE_PROGRAM_H

#include "core/isochron_node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Serves nodes of these types until the run ends. Returns the exit code of the program. */
int isochron_node_main(const isochron_node_list* types);

/* The host's functions, for nodes that attach. */
const isochron_host* isochron_program_host(void);
/* NULL: the program was not started by isochron; why is on standard error. */
isochron_node* isochron_attach(const char* type, const char* about);

enum isochron_happening_kind { ISOCHRON_STARTED = 0, ISOCHRON_MESSAGE = 1, ISOCHRON_DUE = 2, ISOCHRON_FINISHED = 3 };
typedef struct isochron_happening {
  int32_t kind; /* isochron_happening_kind */
  int32_t port; /* input of a message, output that is due */
  int64_t time_ns;
  const void* data; /* of a message; valid until the next call */
  size_t size;
} isochron_happening;
/* What happens next; waits for it. 0: the run is over. Before the first call all ports are declared; after DUE and
 * before the next call the message is put, or fail() is called. */
int isochron_next(isochron_node* node, isochron_happening* what);
/* The message that is due. */
void isochron_put(isochron_node* node, const void* message, size_t size);
void isochron_detach(isochron_node* node);

#ifdef __cplusplus
}
#endif
#endif
