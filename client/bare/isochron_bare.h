#ifndef ISOCHRON_BARE_H
#define ISOCHRON_BARE_H
/* The client for a board without an operating system: C99, no heap, no threads, no C library. It speaks what
 * protocol/target_wire.hpp says, as the large client does, with keys where the host has one.
 *
 *     isochron_bare robot;
 *     isochron_bare_attach(&robot, &transport, &who);
 *     isochron_bare_bind(&robot, "pose", 0, sizeof pose, &pose_at);
 *     while (isochron_bare_wait(&robot, 20000000, 0) == ISOCHRON_BARE_OK) {
 *       isochron_bare_read(&robot, pose_at, &pose, sizeof pose);
 *       ...
 *     }
 *
 * A transport is two functions and a clock. They do not wait: the client asks again until there is something, and
 * that is where the board waits for its answers. Over a bare UART put client/bare/isochron_serial.h between; a
 * transport that keeps bytes in order by itself, such as TCP of a small IP stack, is used as it is.
 *
 * Values travel as they stand in memory: little endian, IEEE floats. All times are nanoseconds of simulated time.
 *
 * Requires: one request at a time, from one thread. A clock that resolves 50 us or better, and whose rate is right
 *           to one in a thousand, or the host takes its own (docs/hil.md).
 * Cost:     ISOCHRON_BARE_MESSAGE bytes and some; each function but now() waits until it is answered.
 * Fails:    a negative status, and `why` has a sentence. ISOCHRON_BARE_LOST: attach again. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for one message of either direction: a value, and 70 bytes and names around it. */
#ifndef ISOCHRON_BARE_MESSAGE
#define ISOCHRON_BARE_MESSAGE 640
#endif

enum {
  ISOCHRON_BARE_OK = 1,
  ISOCHRON_BARE_ENDED = 0,   /* the run is over */
  ISOCHRON_BARE_NOTHING = 2, /* no message was there, no reading yet */
  ISOCHRON_BARE_LOST = -1,   /* the host cannot be reached */
  ISOCHRON_BARE_UNKNOWN_NAME = -2,
  ISOCHRON_BARE_WRONG_TYPE = -3,
  ISOCHRON_BARE_TOO_LARGE = -4,
  ISOCHRON_BARE_REFUSED = -5,
  ISOCHRON_BARE_WRONG_VERSION = -6
};

typedef struct isochron_bare_transport {
  void* context;
  /* Takes some of the bytes: how many; 0 = none now, negative = the line is gone. */
  int (*send)(void* context, const uint8_t* bytes, size_t size);
  /* What has come, `size` bytes at most: how many; 0 = nothing now, negative = the line is gone. */
  int (*receive)(void* context, uint8_t* bytes, size_t size);
  /* Nanoseconds since any moment; it only grows. */
  int64_t (*clock)(void* context);
} isochron_bare_transport;

typedef struct isochron_bare_who {
  const char* name;     /* "prey/pilot" */
  const uint8_t* key;   /* NULL: the host has none */
  size_t key_size;      /* 16 or 32 */
  const uint8_t* nonce; /* with a key: 32 bytes that were never used before, from a source of randomness */
} isochron_bare_who;

/* Its fields are the client's own, but for `why`. */
typedef struct isochron_bare {
  const char* why; /* what the last failure was; until the next call */
  isochron_bare_transport transport;
  uint8_t held, sealed, gone, over;
  int64_t received, answered;
  uint64_t sent_number, received_number;
  uint8_t to_server[16], to_client[16];
  size_t used; /* of the message in hand */
  uint8_t message[ISOCHRON_BARE_MESSAGE + 1];
} isochron_bare;

int isochron_bare_attach(isochron_bare* robot, const isochron_bare_transport* transport, const isochron_bare_who* who);
/* Says good-bye; the run goes on without this target. */
void isochron_bare_leave(isochron_bare* robot);

/* Idle until the next release of this period; 0: as the scenario declares. *now may be NULL. */
int isochron_bare_wait(isochron_bare* robot, int64_t period_ns, int64_t* now);
int isochron_bare_wait_until(isochron_bare* robot, int64_t until_ns, int64_t* now);

/* The number of a variable, by which it is read and written. `type` NULL accepts any of that size. */
int isochron_bare_bind(isochron_bare* robot, const char* name, const char* type, size_t size, uint32_t* variable);
int isochron_bare_read(isochron_bare* robot, uint32_t variable, void* data, size_t size);
/* Holds from now until the next write. */
int isochron_bare_write(isochron_bare* robot, uint32_t variable, const void* data, size_t size);

/* To another program; "" as the scenario says. */
int isochron_bare_send(isochron_bare* robot, const char* to, const char* type, const void* data, size_t size);
/* The oldest message from a program ("" = any), waiting until `until_ns` at most; 0 = not at all. */
int isochron_bare_receive(isochron_bare* robot, const char* from, const char* type, void* data, size_t capacity,
                          size_t* size, int64_t until_ns);

int64_t isochron_bare_now(isochron_bare* robot);
int isochron_bare_log(isochron_bare* robot, const char* text);

#ifdef __cplusplus
}
#endif
#endif
