/* Nodes of flows in C, or in any language that can call C. No part of it depends on a C++ compiler or on its version.
 *
 * A node type is a table of functions. create() makes one node and declares its ports through the host's functions; the
 * host then calls heard() for each message and fill() for each message that is due, in order of time, one at a time.
 *
 *     struct heater { const isochron_host* host; isochron_node* node; double wanted; int on; };
 *
 *     static void heard(void* self, int32_t input, const void* message, size_t size, int64_t time_ns) { … }
 *     static void fill(void* self, int32_t output, void* message, size_t size, int64_t time_ns) { … }
 *
 * The same tables serve twice: a shared library exports isochron_node_types() and is loaded by `isochron run`; a
 * program calls isochron_node_main() (client/node/isochron_node_program.h) and is a process of its own.
 *
 * Types of messages are text: "float64" for a number, or a message's name and fields in ROS's notation:
 *     "example_msgs/msg/Power\nfloat64 watts\n"
 * Messages of numbers, bools, times and fixed arrays are C structs with these fields in this order (a time is an
 * int64_t of nanoseconds). Messages with strings or lists are CDR bytes, little endian, with their header of four
 * bytes.
 *
 * Times are nanoseconds. What a host function is handed is copied. Nothing may be thrown through these functions; a
 * node that cannot go on calls fail() and returns. */
#ifndef ISOCHRON_NODE_H
#define ISOCHRON_NODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOCHRON_NODE_ABI 1

typedef struct isochron_node isochron_node; /* one node, as its host knows it */

typedef void (*isochron_heard)(void* self, int32_t input, const void* message, size_t size, int64_t time_ns);
typedef void (*isochron_fill)(void* self, int32_t output, void* message, size_t size, int64_t time_ns);

enum isochron_kind { ISOCHRON_PREDICTIVE = 0, ISOCHRON_OBSERVATION = 1, ISOCHRON_EVENT = 2 };

typedef struct isochron_output {
  const char* name;
  const char* type;
  int32_t kind;         /* isochron_kind */
  int32_t varies;       /* not 0: the period changes; see next_at() */
  int64_t period_ns;    /* not of events */
  int64_t first_ns;     /* time of the first message; not of events */
  int64_t lookahead_ns; /* of events */
  uint32_t capacity;    /* messages that a sink may lag behind; 0 = 4 */
  isochron_fill fill;   /* NULL for events. `message` holds what was there some messages ago: set every field. */
} isochron_output;

/* What a host does for its nodes. Ports are numbered from 0 in the order of their declaration, inputs and outputs
 * apart; -1: it could not be declared, and the host says why. */
typedef struct isochron_host {
  uint32_t abi;  /* ISOCHRON_NODE_ABI of the host */
  uint32_t size; /* of this table; later versions add to its end */
  int32_t (*input)(isochron_node* node, const char* name, const char* type,
                   isochron_heard heard); /* heard may be NULL */
  int32_t (*output)(isochron_node* node, const isochron_output* output);
  const char* (*parameter)(isochron_node* node, const char* name); /* NULL: not given */
  /* The message that came last, NULL if none did. Valid until the node's function returns. */
  const void* (*latest)(isochron_node* node, int32_t input, size_t* size, int64_t* time_ns);
  /* While filling a message whose size is not fixed: room for so many bytes of it. */
  void* (*room)(isochron_node* node, size_t size);
  /* An event, at now + lookahead or later. An earlier one fails the node. */
  void (*send)(isochron_node* node, int32_t output, int64_t time_ns, const void* message, size_t size);
  void (*next_at)(isochron_node* node, int32_t output, int64_t time_ns);      /* while filling, this once */
  void (*set_period)(isochron_node* node, int32_t output, int64_t period_ns); /* from now on */
  void (*fail)(isochron_node* node, const char* why);
} isochron_host;

typedef struct isochron_node_type {
  const char* name;
  const char* about; /* a sentence for people */
  /* Returns what the other functions get as `self`; NULL after fail(). */
  void* (*create)(const isochron_host* host, isochron_node* node);
  void (*start)(void* self, int64_t time_ns);  /* before the first message; events may be sent; may be NULL */
  void (*finish)(void* self, int64_t time_ns); /* after the last message; may be NULL */
  void (*destroy)(void* self);
} isochron_node_type;

typedef struct isochron_node_list {
  uint32_t abi; /* ISOCHRON_NODE_ABI */
  uint32_t count;
  const isochron_node_type* types;
} isochron_node_list;

/* What a library of nodes exports. */
const isochron_node_list* isochron_node_types(void);

#ifdef __cplusplus
}
#endif
#endif
