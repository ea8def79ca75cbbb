/* The FMU of the tests, FMI 2.0: a bouncing ball with events inside its steps, a stiff equation, every type of variable
 * passed through, and all the ways to go wrong that `trouble` asks for; for model exchange the ball and the equation
 * alone. The tests write model descriptions for it. The
 * interface is written down from the standard. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
typedef int status;
enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING };
typedef void (*logger)(void*, const char*, status, const char*, const char*, ...);
typedef struct {
  logger log;
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
  void (*finished)(void*, status);
  void* environment;
} callbacks;

enum { U, Y, K, H, V, G, E, X, LAMBDA, REALS };
enum { N_IN, N_OUT, TROUBLE, BOUNCES, INTEGERS };
enum { RETURNS_ERROR = 1, CRASHES, IS_FATAL, EXITS, IS_PENDING, STOPS_HALFWAY, ENDS, STANDS_STILL, TALKS };

typedef struct {
  double real[REALS];
  int integer[INTEGERS];
  int boolean[2];
  char text[2][64];
  char name[64];
  const callbacks* host;
  double reached;
  int waits;
  int instances;
} kit;

static int instances; /* in this process */
static int* volatile nowhere;

API void* fmi2Instantiate(const char* name, int kind, const char* guid, const char* resources, const callbacks* host,
                          int visible, int logging) {
  (void)visible;
  (void)logging;
  if (kind < 0 || kind > 1 || strcmp(guid, "{kit}") != 0 || strncmp(resources, "file:///", 8) != 0) {
    host->log(host->environment, name, ERROR, "logStatusError", "guid %s is not mine", guid);
    return NULL;
  }
  kit* k = host->allocate(1, sizeof *k);
  if (!k) return NULL;
  k->host = host;
  k->real[K] = 1, k->real[H] = 1, k->real[G] = -9.81, k->real[E] = 0.7, k->real[X] = 1, k->real[LAMBDA] = 1000;
  snprintf(k->name, sizeof k->name, "%s", name);
  k->instances = ++instances;
  return k;
}
API void fmi2FreeInstance(void* c) {
  --instances;
  ((kit*)c)->host->release(c);
}
API status fmi2SetupExperiment(void* c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  (void)has_stop;
  (void)stop;
  ((kit*)c)->reached = start;
  return has_tolerance && tolerance <= 0 ? ERROR : OK;
}
API status fmi2EnterInitializationMode(void* c) { return (void)c, OK; }
API status fmi2ExitInitializationMode(void* c) { return (void)c, OK; }
API status fmi2Terminate(void* c) { return (void)c, OK; }

#define GET(name, type, field, limit)                                      \
  API status name(void* c, const unsigned* refs, size_t n, type* values) { \
    for (size_t i = 0; i < n; ++i) {                                       \
      if (refs[i] >= (limit)) return ERROR;                                \
      values[i] = ((kit*)c)->field[refs[i]];                               \
    }                                                                      \
    return OK;                                                             \
  }
#define SET(name, type, field, limit)                                            \
  API status name(void* c, const unsigned* refs, size_t n, const type* values) { \
    for (size_t i = 0; i < n; ++i) {                                             \
      if (refs[i] >= (limit)) return ERROR;                                      \
      ((kit*)c)->field[refs[i]] = values[i];                                     \
    }                                                                            \
    return OK;                                                                   \
  }
GET(fmi2GetReal, double, real, REALS)
SET(fmi2SetReal, double, real, REALS)
GET(fmi2GetInteger, int, integer, INTEGERS)
SET(fmi2SetInteger, int, integer, INTEGERS)
GET(fmi2GetBoolean, int, boolean, 2)
SET(fmi2SetBoolean, int, boolean, 2)
GET(fmi2GetString, const char*, text, 2)
API status fmi2SetString(void* c, const unsigned* refs, size_t n, const char* const* values) {
  for (size_t i = 0; i < n; ++i) {
    if (refs[i] >= 2) return ERROR;
    snprintf(((kit*)c)->text[refs[i]], 64, "%s", values[i]);
  }
  return OK;
}

static void fall(kit* k, double size) {
  const double h = k->real[H] + k->real[V] * size + k->real[G] * size * size / 2;
  if (h > 0 || k->real[G] == 0) {
    k->real[H] = h;
    k->real[V] += k->real[G] * size;
    return;
  }
  const double g = -k->real[G], until = (k->real[V] + sqrt(k->real[V] * k->real[V] + 2 * g * k->real[H])) / g;
  k->real[V] = -k->real[E] * (k->real[V] - g * until);
  k->real[H] = 0;
  ++k->integer[BOUNCES];
  if (size - until > 1e-9 && k->real[V] > 1e-6) fall(k, size - until);
}

static status trouble(kit* k, double at, double size) {
  k->reached = at + size;
  switch (at < 0.045 ? 0 : k->integer[TROUBLE]) {
    case RETURNS_ERROR:
      k->host->log(k->host->environment, k->name, ERROR, "logStatusError", "the %s is broken at %g", "gear", at);
      return ERROR;
    case CRASHES:
      *nowhere = 1;
      return OK;
    case IS_FATAL:
      return FATAL;
    case EXITS:
      exit(7);
    case IS_PENDING:
      k->waits = 3;
      return PENDING;
    case STOPS_HALFWAY:
      if (size < 0.006) return OK;
      k->reached = at + size / 2;
      return DISCARD;
    case ENDS:
      return DISCARD;
    case STANDS_STILL:
      k->reached = at;
      return DISCARD;
    case TALKS:
      k->host->log(k->host->environment, k->name, OK, "logAll", "step from %g", at);
      return OK;
    default:
      return OK;
  }
}

API status fmi2DoStep(void* c, double at, double size, int never_back) {
  (void)never_back;
  kit* k = c;
  if (fabs(at - k->reached) > 1e-9) return ERROR; /* not where we were */
  const status s = trouble(k, at, size);
  if (s != OK && s != DISCARD && s != PENDING) return s;
  fall(k, k->reached - at);
  const double step = k->reached - at; /* implicit Euler: x' = -lambda (x - cos t) */
  k->real[X] = (k->real[X] + step * k->real[LAMBDA] * cos(k->reached)) / (1 + step * k->real[LAMBDA]);
  k->real[Y] = k->real[K] * k->real[U];
  k->integer[N_OUT] = k->integer[N_IN];
  k->boolean[1] = k->boolean[0];
  memcpy(k->text[1], k->text[0], sizeof k->text[0]);
  return s;
}
API status fmi2GetStatus(void* c, int kind, status* s) {
  (void)kind;
  *s = ((kit*)c)->waits-- > 0 ? PENDING : OK;
  return OK;
}
API status fmi2GetRealStatus(void* c, int kind, double* value) {
  if (kind != 2) return DISCARD;
  *value = ((kit*)c)->reached;
  return OK;
}
API status fmi2GetBooleanStatus(void* c, int kind, int* value) {
  *value = ((kit*)c)->integer[TROUBLE] == ENDS;
  return kind == 3 ? OK : DISCARD;
}

/* ---- model exchange: states h, v, x; h is an event indicator; a tick is announced each 30 ms ---- */
typedef struct {
  int again, end, nominals, states, has_next;
  double next;
} event_info;

API status fmi2EnterEventMode(void* c) { return (void)c, OK; }
API status fmi2EnterContinuousTimeMode(void* c) { return (void)c, OK; }
API status fmi2NewDiscreteStates(void* c, event_info* info) {
  kit* k = c;
  memset(info, 0, sizeof *info);
  if (k->real[H] <= 1e-9 && k->real[V] < 0) {
    k->real[V] = -k->real[E] * k->real[V];
    k->real[H] = 0;
    ++k->integer[BOUNCES];
    info->again = info->states = 1;
  }
  k->real[Y] = k->real[K] * k->real[U];
  if (k->reached >= 0.03 * (k->integer[N_OUT] + 1) - 1e-12) ++k->integer[N_OUT];
  info->has_next = 1;
  info->next = 0.03 * (k->integer[N_OUT] + 1);
  return OK;
}
API status fmi2CompletedIntegratorStep(void* c, int never_back, int* event, int* end) {
  (void)never_back;
  *event = *end = 0;
  return ((kit*)c)->integer[TROUBLE] == RETURNS_ERROR && ((kit*)c)->reached > 0.05 ? ERROR : OK;
}
API status fmi2SetTime(void* c, double time) { return ((kit*)c)->reached = time, OK; }
API status fmi2SetContinuousStates(void* c, const double* x, size_t n) {
  if (n != 3) return ERROR;
  kit* k = c;
  k->real[H] = x[0], k->real[V] = x[1], k->real[X] = x[2];
  return OK;
}
API status fmi2GetContinuousStates(void* c, double* x, size_t n) {
  if (n != 3) return ERROR;
  const kit* k = c;
  x[0] = k->real[H], x[1] = k->real[V], x[2] = k->real[X];
  return OK;
}
API status fmi2GetDerivatives(void* c, double* dx, size_t n) {
  if (n != 3) return ERROR;
  const kit* k = c;
  dx[0] = k->real[V], dx[1] = k->real[G], dx[2] = -k->real[LAMBDA] * (k->real[X] - cos(k->reached));
  return OK;
}
API status fmi2GetEventIndicators(void* c, double* z, size_t n) {
  if (n != 1) return ERROR;
  const kit* k = c;
  z[0] = k->real[H] == 0 && k->real[V] > 0 ? 1e-12 : k->real[H];
  return OK;
}
