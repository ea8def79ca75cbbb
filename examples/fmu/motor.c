/* A DC motor as an FMU, FMI 2.0 for co-simulation: what a modelling tool would export, written by hand.
 *
 *     L i' = voltage - R i - K w          J w' = K i - B w - load
 *
 * Its functions are those that the standard names; their types are written down here, so that no header is needed. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
typedef int status;
enum { OK, WARNING, DISCARD, ERROR };
typedef struct {
  void (*log)(void* environment, const char* instance, status, const char* category, const char* format, ...);
  void* (*allocate)(size_t count, size_t size);
  void (*release)(void* block);
  void (*step_finished)(void* environment, status);
  void* environment;
} callbacks;

enum { VOLTAGE, LOAD, SPEED, CURRENT, R, L, K, J, B, TORQUE, COUNT }; /* valueReferences of modelDescription.xml */

typedef struct {
  double value[COUNT];
  const callbacks* host;
} motor;

API void* fmi2Instantiate(const char* name, int kind, const char* guid, const char* resources, const callbacks* host,
                          int visible, int logging) {
  (void)resources;
  (void)visible;
  (void)logging;
  if (kind != 1 || strcmp(guid, "{isochron-motor-1}") != 0) {
    host->log(host->environment, name, ERROR, "logStatusError", "the model description is not of this binary");
    return NULL;
  }
  motor* m = host->allocate(1, sizeof *m);
  if (m == NULL) return NULL;
  m->host = host;
  m->value[R] = 1.0, m->value[L] = 0.01, m->value[K] = 0.1, m->value[J] = 0.002, m->value[B] = 0.0005;
  return m;
}

API void fmi2FreeInstance(void* c) { ((motor*)c)->host->release(c); }

API status fmi2SetupExperiment(void* c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  (void)c, (void)has_tolerance, (void)tolerance, (void)start, (void)has_stop, (void)stop;
  return OK;
}
API status fmi2EnterInitializationMode(void* c) { return (void)c, OK; }
API status fmi2ExitInitializationMode(void* c) { return (void)c, OK; }
API status fmi2Terminate(void* c) { return (void)c, OK; }

API status fmi2GetReal(void* c, const unsigned* references, size_t count, double* values) {
  for (size_t i = 0; i < count; ++i) {
    if (references[i] >= COUNT) return ERROR;
    values[i] = ((motor*)c)->value[references[i]];
  }
  return OK;
}
API status fmi2SetReal(void* c, const unsigned* references, size_t count, const double* values) {
  for (size_t i = 0; i < count; ++i) {
    if (references[i] >= COUNT) return ERROR;
    ((motor*)c)->value[references[i]] = values[i];
  }
  return OK;
}

/* Euler's rule, in steps of a tenth of a millisecond or less. */
API status fmi2DoStep(void* c, double at, double size, int never_back) {
  (void)at;
  (void)never_back;
  double* v = ((motor*)c)->value;
  const int steps = 1 + (int)(size / 1e-4);
  const double h = size / steps;
  for (int i = 0; i < steps; ++i) {
    const double di = (v[VOLTAGE] - v[R] * v[CURRENT] - v[K] * v[SPEED]) / v[L];
    const double dw = (v[K] * v[CURRENT] - v[B] * v[SPEED] - v[LOAD]) / v[J];
    v[CURRENT] += h * di;
    v[SPEED] += h * dw;
  }
  v[TORQUE] = v[K] * v[CURRENT];
  return OK;
}

/* What a motor has none of. */
#define NONE(get, set, type)                                                     \
  API status get(void* c, const unsigned* r, size_t count, type* values) {       \
    return (void)c, (void)r, (void)values, count == 0 ? OK : ERROR;              \
  }                                                                              \
  API status set(void* c, const unsigned* r, size_t count, type const* values) { \
    return (void)c, (void)r, (void)values, count == 0 ? OK : ERROR;              \
  }
typedef const char* text;
NONE(fmi2GetInteger, fmi2SetInteger, int)
NONE(fmi2GetBoolean, fmi2SetBoolean, int)
NONE(fmi2GetString, fmi2SetString, text)
API status fmi2GetStatus(void* c, int kind, status* value) { return (void)c, (void)kind, (void)value, DISCARD; }
API status fmi2GetRealStatus(void* c, int kind, double* value) { return (void)c, (void)kind, (void)value, DISCARD; }
API status fmi2GetBooleanStatus(void* c, int kind, int* value) { return (void)c, (void)kind, (void)value, DISCARD; }
