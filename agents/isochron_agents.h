/* Joining a world of agents from C, and from whatever can call C (client/python/isochron/agents.py does). The interface
   of agents/client.hpp, in plain types. Times are simulated nanoseconds. A body is 13 numbers: position, orientation
   (w x y z), linear and angular velocity, SI units, world frame.

   Threads: one at a time for each client. Fails: null or a negative number; isochron_agents_error says why. */
#ifndef ISOCHRON_AGENTS_H
#define ISOCHRON_AGENTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isochron_agents isochron_agents;

/* server "host:port"; key in hexadecimal digits; null = it could not be done within limit_s. */
isochron_agents* isochron_agents_join(const char* server, const char* key, const char* name, double limit_s);
void isochron_agents_leave(isochron_agents* client);
/* Of this client, or of the last join that failed (null). Valid until the next call. */
const char* isochron_agents_error(const isochron_agents* client);

int64_t isochron_agents_start(isochron_agents* client);
int64_t isochron_agents_heartbeat(isochron_agents* client);

/* The agent's number. type_url: null for bodies; else that of the states it will publish. */
int64_t isochron_agents_add(isochron_agents* client, const char* name, const char* type_url, double reach);
int isochron_agents_publish_body(isochron_agents* client, int64_t agent, int64_t t, const double body[13]);
int isochron_agents_publish(isochron_agents* client, int64_t agent, int64_t t, const double position[3],
                            const char* type_url, const void* state, size_t size);
int isochron_agents_withdraw(isochron_agents* client, int64_t agent);

enum { ISOCHRON_AGENTS_GO = 0, ISOCHRON_AGENTS_BEGIN_AT = 1, ISOCHRON_AGENTS_OVER = 2 };
/* Everything up to t is published: waits until the simulation may go on from t. BEGIN_AT: *time says from where. */
int isochron_agents_pass(isochron_agents* client, int64_t t, int64_t* time);

typedef struct isochron_other {
  const char* name;
  const char* type_url;
  const void* state;
  size_t size;
  int has_body;
  double body[13];    /* at the time asked for */
  int64_t stamp, age; /* of the state used; age < 0: between two stamps */
  int extrapolated;
} isochron_other;
/* How many others there are; fills at most `room` of them, by name. Pointers are valid until the next call. */
int64_t isochron_agents_others(isochron_agents* client, int64_t t, isochron_other* others, int64_t room);

#ifdef __cplusplus
}
#endif
#endif
