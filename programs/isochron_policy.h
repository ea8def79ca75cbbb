#ifndef ISOCHRON_POLICY_H
#define ISOCHRON_POLICY_H
/* A scheduling policy of your own, in C or any language that can export C functions: a shared library with these three
 * functions, named in a scenario as `policy: {library: my_policy}`. For each core of the robot one policy is opened.
 * It must decide from what it is told alone: no clock, no randomness of its own, or the run does not repeat.
 * docs/coordinator.md has an example. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOCHRON_POLICY_VERSION 1

struct isochron_candidate {
  uint32_t program;       /* as the scenario numbers the robot's programs, from 0 */
  int32_t priority;       /* as the scenario has it; INT32_MIN for best_effort */
  int64_t executed_ns;    /* charged so far */
  int64_t ready_since_ns; /* when it last became ready */
  uint64_t queued;        /* grows whenever it becomes ready and whenever its slice is over */
  int32_t running;        /* 1: it has the core already */
};

struct isochron_policy_setup {
  uint32_t version;            /* ISOCHRON_POLICY_VERSION of the one who asks */
  const char* robot;           /* its name */
  const char* const* programs; /* their names, in the scenario's order */
  size_t program_count;
  int64_t quantum_ns; /* time.quantum of the scenario */
};

/* NULL: it does not want to, which ends the run before it starts. */
void* isochron_policy_open(const struct isochron_policy_setup* setup);
/* Which of the candidates runs, as an index into them. *slice_ns: ask again after so much executed time; it is
 * INT64_MAX beforehand, which means never. */
size_t isochron_policy_pick(void* policy, const struct isochron_candidate* candidates, size_t count, int64_t now_ns,
                            int64_t* slice_ns);
void isochron_policy_close(void* policy);

#ifdef __cplusplus
}
#endif
#endif
