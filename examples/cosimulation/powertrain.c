/* An electric powertrain as an FMU, FMI 3.0 for co-simulation, written by hand: pedal and road speed in, torque at the
 * wheels out. The motor's torque is limited by its power, follows with a lag, and empties a battery.
 *
 *     T' = (wanted - T) / lag       wanted = pedal · min(T_max, P_max / w)       charge' = - T w / (efficiency ·
 * energy)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
typedef int status;
enum { OK, WARNING, DISCARD, ERROR };

/* valueReferences of modelDescription.xml; `share` is the torque as a share of torque_max */
enum { TIME, PEDAL, SPEED, SHARE, TORQUE, CHARGE, TORQUE_MAX, POWER_MAX, LAG, RADIUS, ENERGY, EFFICIENCY, COUNT };

typedef struct {
  double value[COUNT];
} powertrain;

API const char* fmi3GetVersion(void) { return "3.0"; }

API void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources, bool visible,
                                      bool logging, bool event_mode, bool early_return, const uint32_t* intermediate,
                                      size_t intermediate_count, void* environment, void* log, void* update) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)event_mode, (void)early_return, (void)intermediate;
  (void)intermediate_count, (void)environment, (void)log, (void)update;
  if (strcmp(token, "{isochron-powertrain-1}") != 0) return NULL;
  powertrain* p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  p->value[CHARGE] = 0.8, p->value[TORQUE_MAX] = 2500, p->value[POWER_MAX] = 80e3, p->value[LAG] = 0.05;
  p->value[RADIUS] = 0.31, p->value[ENERGY] = 180e6, p->value[EFFICIENCY] = 0.9;
  return p;
}
API void fmi3FreeInstance(void* p) { free(p); }
API status fmi3EnterInitializationMode(void* p, bool has_tolerance, double tolerance, double start, bool has_stop,
                                       double stop) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((powertrain*)p)->value[TIME] = start;
  return OK;
}

API status fmi3GetFloat64(void* p, const uint32_t* references, size_t count, double* values, size_t value_count) {
  (void)value_count;
  for (size_t i = 0; i < count; ++i) {
    if (references[i] >= COUNT) return ERROR;
    values[i] = ((powertrain*)p)->value[references[i]];
  }
  return OK;
}
API status fmi3SetFloat64(void* p, const uint32_t* references, size_t count, const double* values, size_t value_count) {
  (void)value_count;
  for (size_t i = 0; i < count; ++i) {
    if (references[i] >= COUNT) return ERROR;
    ((powertrain*)p)->value[references[i]] = values[i];
  }
  return OK;
}

API status fmi3DoStep(void* p, double at, double size, bool never_back, bool* event, bool* end, bool* early,
                      double* reached) {
  (void)never_back;
  double* v = ((powertrain*)p)->value;
  const int steps = 1 + (int)(size / 1e-3);
  const double h = size / steps;
  const double pedal = v[PEDAL] < 0 ? 0 : v[PEDAL] > 1 ? 1 : v[PEDAL];
  const double w = (v[SPEED] > 1 ? v[SPEED] : 1) / v[RADIUS];
  for (int i = 0; i < steps; ++i) {
    const double most = v[POWER_MAX] / w < v[TORQUE_MAX] ? v[POWER_MAX] / w : v[TORQUE_MAX];
    const double wanted = v[CHARGE] > 0 ? pedal * most : 0;
    v[TORQUE] += h * (wanted - v[TORQUE]) / v[LAG];
    v[CHARGE] -= h * v[TORQUE] * v[SPEED] / v[RADIUS] / (v[EFFICIENCY] * v[ENERGY]);
  }
  v[SHARE] = v[TORQUE] / v[TORQUE_MAX];
  v[TIME] = at + size;
  *event = *end = *early = false;
  *reached = at + size;
  return OK;
}

/* What it has none of. */
#define FINE(name) \
  API status name(void* p) { return (void)p, OK; }
#define NONE(name)                                                     \
  API status name(void* p, const uint32_t* references, size_t count) { \
    return (void)p, (void)references, count == 0 ? OK : ERROR;         \
  }
FINE(fmi3ExitInitializationMode)
FINE(fmi3EnterEventMode)
FINE(fmi3EnterStepMode)
FINE(fmi3UpdateDiscreteStates)
FINE(fmi3EnterConfigurationMode)
FINE(fmi3ExitConfigurationMode)
FINE(fmi3Terminate)
NONE(fmi3GetFloat32)
NONE(fmi3GetInt8)
NONE(fmi3GetUInt8)
NONE(fmi3GetInt16)
NONE(fmi3GetUInt16)
NONE(fmi3GetInt32)
NONE(fmi3GetUInt32)
NONE(fmi3GetInt64)
NONE(fmi3GetUInt64)
NONE(fmi3GetBoolean)
NONE(fmi3GetString)
NONE(fmi3GetBinary)
NONE(fmi3SetFloat32)
NONE(fmi3SetInt8)
NONE(fmi3SetUInt8)
NONE(fmi3SetInt16)
NONE(fmi3SetUInt16)
NONE(fmi3SetInt32)
NONE(fmi3SetUInt32)
NONE(fmi3SetInt64)
NONE(fmi3SetUInt64)
NONE(fmi3SetBoolean)
NONE(fmi3SetString)
NONE(fmi3SetBinary)
