/* The FMU of the tests, FMI 3.0: a bouncing ball whose bounces are events of the event mode, a clockwork with events at
 * known times, an array whose length is a structural parameter, and every type of variable passed through. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
typedef int status;
enum { OK, WARNING, DISCARD, ERROR, FATAL };
typedef void (*logger)(void*, status, const char*, const char*);
typedef void (*updater)(void*, double, bool, bool, bool, bool, bool*, double*);
enum { MOST = 8 };
/* valueReferences */
enum { U = 1, Y, K, H, V, G, E, TICKS, BOUNCES, N, ARRAY_IN, ARRAY_OUT, CHANGES, PASS = 20 };
/* sampler: SAMPLE ticks by time and takes IN to TAKEN; RESET, ticked by others, sets TAKEN to 0; FULL ticks at every
 * third sample */
enum { SAMPLE = 40, RESET, FULL, IN, TAKEN, SAMPLES };

typedef struct {
  double u, y, k, h, v, g, e;
  int32_t ticks, bounces, changes, steps;
  uint64_t n;
  double in[MOST], out[MOST];
  float float32[2];
  int8_t int8[2];
  uint8_t uint8[2];
  int16_t int16[2];
  uint16_t uint16[2];
  uint32_t uint32[2];
  int64_t int64[2];
  uint64_t uint64[2];
  int32_t int32[2];
  bool boolean[2];
  char text[2][64];
  uint8_t binary[2][64];
  size_t size[2];
  double time, next_tick;
  double in_clocked, taken;
  int32_t samples;
  bool sample, reset, full, sampler;
  bool events, early, in_event_mode, bounce, configured, exchange;
  logger log;
  updater update;
  void* environment;
} kit;

API void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources, bool visible,
                                      bool logging, bool event_mode, bool early_return, const uint32_t* intermediate,
                                      size_t intermediate_count, void* environment, logger log, updater update) {
  (void)name, (void)visible, (void)logging, (void)intermediate;
  if (strcmp(token, "{kit}") != 0 || resources[strlen(resources) - 1] != '/') {
    log(environment, ERROR, "logStatusError", "this is not my token");
    return NULL;
  }
  kit* k = calloc(1, sizeof *k);
  if (!k) return NULL;
  k->k = 1, k->h = 1, k->g = -9.81, k->e = 0.7, k->n = 2, k->next_tick = 0.03;
  k->events = event_mode, k->early = early_return;
  k->log = log, k->environment = environment;
  k->update = intermediate_count > 0 ? update : NULL;
  return k;
}
API void* fmi3InstantiateModelExchange(const char* name, const char* token, const char* resources, bool visible,
                                       bool logging, void* environment, logger log) {
  return fmi3InstantiateCoSimulation(name, token, resources, visible, logging, true, false, NULL, 0, environment, log,
                                     NULL);
}
API void fmi3FreeInstance(void* c) { free(c); }
API status fmi3EnterInitializationMode(void* c, bool has_tolerance, double tolerance, double start, bool has_stop,
                                       double stop) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((kit*)c)->time = start;
  return OK;
}
API status fmi3EnterContinuousTimeMode(void* c) {
  kit* k = c;
  k->in_event_mode = false, k->exchange = true;
  return OK;
}
API status fmi3ExitInitializationMode(void* c) {
  kit* k = c;
  k->in_event_mode = k->events;
  return OK;
}
API status fmi3EnterEventMode(void* c) {
  kit* k = c;
  if (k->in_event_mode || !k->events) return ERROR;
  k->in_event_mode = true;
  return OK;
}
API status fmi3EnterStepMode(void* c) {
  kit* k = c;
  if (!k->in_event_mode) return ERROR;
  k->in_event_mode = false;
  return OK;
}
API status fmi3EnterConfigurationMode(void* c) { return ((kit*)c)->configured = true, OK; }
API status fmi3ExitConfigurationMode(void* c) { return (void)c, OK; }
API status fmi3Terminate(void* c) { return (void)c, OK; }

static void bounce(kit* k) {
  k->v = -k->e * k->v;
  k->h = 0;
  ++k->bounces;
  k->bounce = false;
}

API status fmi3UpdateDiscreteStates(void* c, bool* again, bool* end, bool* nominals, bool* values, bool* has_next,
                                    double* next) {
  kit* k = c;
  if (!k->in_event_mode) return ERROR;
  *again = *end = *nominals = *values = false;
  if (k->sample) k->taken = k->in_clocked, ++k->samples, k->full = k->samples % 3 == 0, *again = k->full;
  if (k->reset) k->taken = 0;
  if (!k->sample) k->full = false;
  k->sample = k->reset = false;
  if (k->bounce || (k->exchange && k->h <= 1e-9 && k->v < 0)) bounce(k), *again = true;
  if (k->time >= k->next_tick - 1e-12) ++k->ticks, k->next_tick += 0.03, *again = true;
  *has_next = true;
  *next = k->next_tick;
  return OK;
}

static void pass_on(kit* k) {
  k->y = k->k * k->u;
  for (int i = 0; i < MOST; ++i) k->out[i] = k->k * k->in[i];
  k->float32[1] = k->float32[0], k->int8[1] = k->int8[0], k->uint8[1] = k->uint8[0], k->int16[1] = k->int16[0];
  k->uint16[1] = k->uint16[0], k->uint32[1] = k->uint32[0], k->int64[1] = k->int64[0], k->uint64[1] = k->uint64[0];
  k->int32[1] = k->int32[0], k->boolean[1] = k->boolean[0];
  memcpy(k->text[1], k->text[0], sizeof k->text[0]);
  memcpy(k->binary[1], k->binary[0], sizeof k->binary[0]);
  k->size[1] = k->size[0];
}

API status fmi3DoStep(void* c, double at, double size, bool never_back, bool* event, bool* end, bool* early,
                      double* last) {
  (void)never_back;
  kit* k = c;
  *event = *end = *early = false;
  if (k->in_event_mode || fabs(at - k->time) > 1e-9) return ERROR;
  if (k->events && at < k->next_tick - 1e-12 && at + size > k->next_tick + 1e-9 && k->early) return ERROR;
  double left = size;
  while (left > 1e-12) {
    const double h = k->h + k->v * left + k->g * left * left / 2;
    if (h > 0) {
      k->h = h, k->v += k->g * left, left = 0;
      break;
    }
    const double g = -k->g, until = (k->v + sqrt(k->v * k->v + 2 * g * k->h)) / g;
    k->v -= g * until, k->h = 0, left -= until;
    if (!k->events) {
      bounce(k);
      if (k->v < 1e-6) break;
      continue;
    }
    k->bounce = *event = true;
    if (k->early && left > 1e-9) {
      *early = true;
      break;
    }
    bounce(k);
  }
  k->time = *early ? at + size - left : at + size;
  *last = k->time;
  ++k->steps;
  pass_on(k);
  for (int i = 1; k->update && i <= 4; ++i) { /* its own solver makes four steps */
    bool early_wanted = true;
    double until = 0;
    const double whole = k->y;
    k->y = whole + i;
    k->update(k->environment, at + size * i / 4, false, true, false, false, &early_wanted, &until);
    k->y = whole;
    if (early_wanted) return ERROR;
  }
  return OK;
}

static double* float64_of(kit* k, uint32_t ref, size_t* n) {
  *n = 1;
  switch (ref) {
    case U:
      return &k->u;
    case Y:
      return &k->y;
    case K:
      return &k->k;
    case H:
      return &k->h;
    case V:
      return &k->v;
    case G:
      return &k->g;
    case E:
      return &k->e;
    case IN:
      return &k->in_clocked;
    case TAKEN:
      return &k->taken;
    case ARRAY_IN:
      return *n = k->n, k->in;
    case ARRAY_OUT:
      return *n = k->n, k->out;
    default:
      return NULL;
  }
}
API status fmi3GetFloat64(void* c, const uint32_t* refs, size_t count, double* values, size_t n) {
  size_t at = 0, size = 0;
  for (size_t i = 0; i < count; ++i, at += size) {
    const double* from = float64_of(c, refs[i], &size);
    if (!from || at + size > n) return ERROR;
    memcpy(values + at, from, size * sizeof *from);
  }
  return at == n ? OK : ERROR;
}
API status fmi3SetFloat64(void* c, const uint32_t* refs, size_t count, const double* values, size_t n) {
  size_t at = 0, size = 0;
  for (size_t i = 0; i < count; ++i, at += size) {
    double* to = float64_of(c, refs[i], &size);
    if (!to || at + size > n) return ERROR;
    if (refs[i] == IN && ((kit*)c)->steps > 0 && !((kit*)c)->sample) return ERROR; /* its clock does not tick */
    memcpy(to, values + at, size * sizeof *to);
  }
  return at == n ? OK : ERROR;
}
API status fmi3GetInt32(void* c, const uint32_t* refs, size_t count, int32_t* values, size_t n) {
  kit* k = c;
  for (size_t i = 0; i < count && i < n; ++i) {
    values[i] = refs[i] == TICKS     ? k->ticks
                : refs[i] == SAMPLES ? k->samples
                : refs[i] == BOUNCES ? k->bounces
                : refs[i] == CHANGES ? k->changes
                                     : k->int32[refs[i] & 1];
  }
  return OK;
}
API status fmi3SetInt32(void* c, const uint32_t* refs, size_t count, const int32_t* values, size_t n) {
  kit* k = c;
  for (size_t i = 0; i < count && i < n; ++i) {
    if (k->events && k->steps > 0 && !k->in_event_mode) return ERROR; /* discrete: in event mode only */
    k->int32[refs[i] & 1] = values[i];
    ++k->changes;
  }
  return OK;
}
/* PASS is the input of each type, PASS + 1 its output. */
#define THROUGH(Name, type, field)                                                                      \
  API status fmi3Get##Name(void* c, const uint32_t* refs, size_t count, type* values, size_t n) {       \
    for (size_t i = 0; i < count && i < n; ++i) values[i] = ((kit*)c)->field[refs[i] & 1];              \
    return OK;                                                                                          \
  }                                                                                                     \
  API status fmi3Set##Name(void* c, const uint32_t* refs, size_t count, const type* values, size_t n) { \
    for (size_t i = 0; i < count && i < n; ++i) ((kit*)c)->field[refs[i] & 1] = values[i];              \
    return OK;                                                                                          \
  }
THROUGH(Float32, float, float32)
THROUGH(Int8, int8_t, int8)
THROUGH(UInt8, uint8_t, uint8)
THROUGH(Int16, int16_t, int16)
THROUGH(UInt16, uint16_t, uint16)
THROUGH(UInt32, uint32_t, uint32)
THROUGH(Int64, int64_t, int64)
THROUGH(Boolean, bool, boolean)
API status fmi3GetUInt64(void* c, const uint32_t* refs, size_t count, uint64_t* values, size_t n) {
  kit* k = c;
  for (size_t i = 0; i < count && i < n; ++i) values[i] = refs[i] == N ? k->n : k->uint64[refs[i] & 1];
  return OK;
}
API status fmi3SetUInt64(void* c, const uint32_t* refs, size_t count, const uint64_t* values, size_t n) {
  kit* k = c;
  for (size_t i = 0; i < count && i < n; ++i) {
    if (refs[i] == N && (!k->configured || values[i] > MOST)) return ERROR;
    if (refs[i] == N) k->n = values[i];
    if (refs[i] != N) k->uint64[refs[i] & 1] = values[i];
  }
  return OK;
}
API status fmi3GetString(void* c, const uint32_t* refs, size_t count, const char** values, size_t n) {
  for (size_t i = 0; i < count && i < n; ++i) values[i] = ((kit*)c)->text[refs[i] & 1];
  return OK;
}
API status fmi3SetString(void* c, const uint32_t* refs, size_t count, const char* const* values, size_t n) {
  for (size_t i = 0; i < count && i < n; ++i) snprintf(((kit*)c)->text[refs[i] & 1], 64, "%s", values[i]);
  return OK;
}
API status fmi3GetBinary(void* c, const uint32_t* refs, size_t count, size_t* sizes, const uint8_t** values, size_t n) {
  for (size_t i = 0; i < count && i < n; ++i) {
    sizes[i] = ((kit*)c)->size[refs[i] & 1];
    values[i] = ((kit*)c)->binary[refs[i] & 1];
  }
  return OK;
}
API status fmi3SetBinary(void* c, const uint32_t* refs, size_t count, const size_t* sizes, const uint8_t* const* values,
                         size_t n) {
  for (size_t i = 0; i < count && i < n; ++i) {
    if (sizes[i] > 64) return ERROR;
    memcpy(((kit*)c)->binary[refs[i] & 1], values[i], sizes[i]);
    ((kit*)c)->size[refs[i] & 1] = sizes[i];
  }
  return OK;
}

/* ---- clocks ---- */
API status fmi3SetClock(void* c, const uint32_t* refs, size_t count, const bool* values) {
  kit* k = c;
  for (size_t i = 0; i < count; ++i) {
    if (!k->in_event_mode) return ERROR;
    if (refs[i] == SAMPLE) k->sample = values[i];
    if (refs[i] == RESET) k->reset = values[i];
  }
  return OK;
}
API status fmi3GetClock(void* c, const uint32_t* refs, size_t count, bool* values) {
  for (size_t i = 0; i < count; ++i) values[i] = refs[i] == FULL && ((kit*)c)->full;
  return ((kit*)c)->in_event_mode ? OK : ERROR;
}
API status fmi3GetIntervalDecimal(void* c, const uint32_t* refs, size_t count, double* intervals, int* qualifiers) {
  (void)c, (void)refs;
  for (size_t i = 0; i < count; ++i) intervals[i] = 0.004, qualifiers[i] = 2;
  return OK;
}

/* ---- model exchange: states h, v ---- */
API status fmi3CompletedIntegratorStep(void* c, bool never_back, bool* event, bool* end) {
  (void)c, (void)never_back;
  *event = *end = false;
  return OK;
}
API status fmi3SetTime(void* c, double time) { return ((kit*)c)->time = time, OK; }
API status fmi3SetContinuousStates(void* c, const double* x, size_t n) {
  if (n != 2) return ERROR;
  ((kit*)c)->h = x[0], ((kit*)c)->v = x[1];
  return OK;
}
API status fmi3GetContinuousStates(void* c, double* x, size_t n) {
  if (n != 2) return ERROR;
  x[0] = ((kit*)c)->h, x[1] = ((kit*)c)->v;
  return OK;
}
API status fmi3GetContinuousStateDerivatives(void* c, double* dx, size_t n) {
  if (n != 2) return ERROR;
  dx[0] = ((kit*)c)->v, dx[1] = ((kit*)c)->g;
  return OK;
}
API status fmi3GetEventIndicators(void* c, double* z, size_t n) {
  if (n != 1) return ERROR;
  z[0] = ((kit*)c)->h == 0 && ((kit*)c)->v > 0 ? 1e-12 : ((kit*)c)->h;
  return OK;
}
API status fmi3GetNumberOfContinuousStates(void* c, size_t* n) { return (void)c, *n = 2, OK; }
API status fmi3GetNumberOfEventIndicators(void* c, size_t* n) { return (void)c, *n = 1, OK; }
