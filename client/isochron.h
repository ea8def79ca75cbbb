#ifndef ISOCHRON_H
#define ISOCHRON_H
/* The C interface of the client library: what a robot program calls, in any language. The environment says to whom it
 * is attached (ISOCHRON=shm:… from a coordinator on this machine); the program is the same in every mode.
 *
 * All times are nanoseconds of simulated time since the start of the run.
 * Every function that can fail returns a negative isochron_status, and isochron_error() has the sentence for it.
 * Threads: any; each thread that calls has a link of its own and may wait by itself.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isochron_robot isochron_robot;

typedef enum isochron_status {
  ISOCHRON_OK = 1,
  ISOCHRON_ENDED = 0,   /* the run is over: return from main */
  ISOCHRON_NOTHING = 2, /* no message was there */
  ISOCHRON_NOT_ATTACHED = -1,
  ISOCHRON_UNKNOWN_NAME = -2,
  ISOCHRON_WRONG_TYPE = -3,
  ISOCHRON_TOO_LARGE = -4,
  ISOCHRON_REFUSED = -5,
  ISOCHRON_WRONG_VERSION = -6
} isochron_status;

#define ISOCHRON_NEVER INT64_MAX

/* Attaches to the coordinator that started this process. The process has one; calling again gives it again. */
int isochron_attach(isochron_robot** robot);

/* Idle until the next release of this period (0: as the scenario declares). *now is the time at which it goes on. */
int isochron_wait(isochron_robot* robot, int64_t period_ns, int64_t* now);
int isochron_wait_until(isochron_robot* robot, int64_t until_ns, int64_t* now);

/* A variable of the world, sampled at this program's own time. Type and size must be those of the variable; type NULL
 * accepts any of that size. */
int isochron_read(isochron_robot* robot, const char* name, const char* type, void* data, size_t size);
/* The same for a variable without a fixed size, such as a picture: the bytes of its message (CDR) and when it was
 * taken. ISOCHRON_NOTHING: there is none yet. */
int isochron_read_message(isochron_robot* robot, const char* name, const char* type, void* data, size_t capacity,
                          size_t* size, int64_t* taken);
/* Holds from now until the next write. */
int isochron_write(isochron_robot* robot, const char* name, const char* type, const void* data, size_t size);

/* One of several variables. */
typedef struct isochron_item {
  const char* name;
  const char* type; /* NULL accepts any */
  void* data;
  size_t size; /* of data. After isochron_read_all: of what came, 0 = there is none yet */
} isochron_item;
/* Several variables in one request, all sampled at one time, which *time tells (NULL: not wanted). */
int isochron_read_all(isochron_robot* robot, isochron_item* items, size_t count, int64_t* time);
/* Several in one request: all hold from one time on, or none is written. */
int isochron_write_all(isochron_robot* robot, const isochron_item* items, size_t count);

/* The type and size of a variable, the largest size where it has no fixed one. `type` has room for `capacity`
 * characters. */
int isochron_describe(isochron_robot* robot, const char* name, char* type, size_t capacity, size_t* size);

/* To another program: "planner" of the same robot, "prey/controller" of another one, "" as the scenario says. */
int isochron_send(isochron_robot* robot, const char* to, const char* type, const void* data, size_t size);
/* The oldest message from a program ("" = any). Waits until `until_ns` at most: 0 = not at all. *sent is the time at
 * which it was sent. */
int isochron_receive(isochron_robot* robot, const char* from, const char* type, void* data, size_t capacity,
                     size_t* size, int64_t until_ns, int64_t* sent);

/* This program's own time. */
int64_t isochron_now(isochron_robot* robot);
int isochron_log(isochron_robot* robot, const char* text);

/* Why the last call of this thread failed. */
const char* isochron_error(void);

#ifdef __cplusplus
}
#endif
#endif
