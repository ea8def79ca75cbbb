/* A scenario as an environment for learning: worlds that are reset and stepped from outside, many at once, without a
 * journal. The Python class isochron.Env is made of it; any language that calls C can use it.
 *
 * Programs in libraries take part as in mode callback: they compute in no time, and the action is on top of what they
 * write. Executables and boards cannot.
 *
 * Threads: one at a time for each environment.
 * Cost:    isochron_env_step() does not allocate; it costs what the worlds and their programs cost. */
#ifndef ISOCHRON_ENV_H
#define ISOCHRON_ENV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isochron_env isochron_env;

/* `sets`: so many "KEY=VALUE". `observe` and `act`: names with a comma between them; "" = everything. NULL: it failed,
 * and `why` says what is wrong, as the command would. */
isochron_env* isochron_env_make(const char* file, const char* const* sets, uint32_t set_count, uint32_t worlds,
                                const char* observe, const char* act, char* why, uint32_t why_size);
void isochron_env_free(isochron_env* env);

/* Names with a newline behind each. */
const char* isochron_env_observed(const isochron_env* env);
const char* isochron_env_acted(const isochron_env* env);
uint32_t isochron_env_observations(const isochron_env* env); /* numbers for each world */
uint32_t isochron_env_actions(const isochron_env* env);
double isochron_env_step_seconds(const isochron_env* env);

/* One world to where it began, as a run with this seed begins. 0 = it failed. */
int isochron_env_reset(isochron_env* env, uint32_t world, uint64_t seed, double* observation);
/* All worlds, so many steps each, with the actions held. The numbers of world w are at w * count. ended[w]: 1 = the
 * scenario's duration is over; 2 = something failed, and isochron_env_why() says what. */
void isochron_env_step(isochron_env* env, const double* actions, uint32_t steps, double* observations, double* times,
                       uint8_t* ended);
const char* isochron_env_why(const isochron_env* env);

/* The whole state of a world as numbers, to come back to; programs are made anew by a restore. */
uint32_t isochron_env_snapshot_size(isochron_env* env, uint32_t world);
void isochron_env_snapshot(isochron_env* env, uint32_t world, double* into);
int isochron_env_restore(isochron_env* env, uint32_t world, const double* from, double* observation);

/* What the same costs without an environment around it, in seconds: so many rounds of `steps` steps of world 0, which
 * goes back to its beginning each `rounds_between` rounds. For benchmarks. */
double isochron_env_bare(isochron_env* env, uint32_t rounds, uint32_t steps, uint32_t rounds_between);

#ifdef __cplusplus
}
#endif
#endif
