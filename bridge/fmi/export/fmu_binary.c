/* The binary of FMUs that `isochron export fmu` makes: FMI 2.0 and 3.0, co-simulation. It computes nothing. It starts
 * `isochron serve fmu` with the scenario among the FMU's resources and hands values to and fro over a socket:
 *
 *     host      ready: inputs u32, outputs u32, step f64, start values f64 × inputs, f64 × outputs
 *     binary    step:  how many steps u32, values f64 × inputs         0 steps: end
 *     host      0 u32, values f64 × outputs                            or: size u32 of a text, the text; then it is
 * over
 *
 * Both are on one machine: numbers are as in memory. Variable 0 is the time, then come inputs, then outputs.
 * No part of it is Isochron's library, so that it loads into any tool. */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, ERROR = 3 };
typedef int Status;
typedef uint32_t Reference;

typedef void (*Logger2)(void* environment, const char* name, Status status, const char* category, const char* text,
                        ...);
typedef void (*Logger3)(void* environment, Status status, const char* category, const char* text);
struct callbacks2 {
  Logger2 logger;
  void *allocate, *release, *step_finished;
  void* environment;
};

struct fmu {
  char* name;
  char* resources; /* a path */
  Logger2 logger2;
  Logger3 logger3;
  void* environment;
  int socket;
  pid_t host;
  uint32_t inputs, outputs;
  double* values; /* inputs, then outputs */
  double step, start;
  uint64_t done; /* steps */
  int dead;
};

static void say(struct fmu* f, const char* format, ...) {
  char text[1200];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (f->logger2) f->logger2(f->environment, f->name, ERROR, "logStatusError", "%s", text);
  if (f->logger3) f->logger3(f->environment, ERROR, "logStatusError", text);
  if (!f->logger2 && !f->logger3) fprintf(stderr, "%s: %s\n", f->name, text);
}

static int put(int to, const void* bytes, size_t size) {
  const char* at = bytes;
  while (size > 0) {
    const ssize_t n = send(to, at, size, MSG_NOSIGNAL);
    if (n <= 0) return 0;
    at += n;
    size -= (size_t)n;
  }
  return 1;
}
static int take(int from, void* bytes, size_t size) {
  char* at = bytes;
  while (size > 0) {
    const ssize_t n = recv(from, at, size, 0);
    if (n <= 0) return 0;
    at += n;
    size -= (size_t)n;
  }
  return 1;
}

/* "file:///tmp/a%20b/resources" or a path, without a slash at its end. */
static char* path_of(const char* uri) {
  if (uri == NULL) return strdup("");
  if (strncmp(uri, "file://", 7) == 0) {
    uri += 7;
  } else if (strncmp(uri, "file:", 5) == 0) {
    uri += 5;
  }
  char* path = malloc(strlen(uri) + 1);
  size_t n = 0;
  for (; *uri != 0; ++uri) {
    unsigned code = 0;
    if (*uri == '%' && sscanf(uri + 1, "%2x", &code) == 1 && code != 0) {
      path[n++] = (char)code;
      uri += 2;
    } else {
      path[n++] = *uri;
    }
  }
  while (n > 1 && path[n - 1] == '/') --n;
  path[n] = 0;
  return path;
}

static void stop(struct fmu* f) {
  if (f->host <= 0) return;
  const uint32_t end = 0;
  put(f->socket, &end, sizeof end);
  close(f->socket);
  waitpid(f->host, NULL, 0);
  f->host = 0;
}

/* The first line of resources/isochron is the command as it was when the FMU was made. */
static int read_command(struct fmu* f, char* command, size_t size) {
  char file[4200];
  snprintf(file, sizeof file, "%s/isochron", f->resources);
  FILE* in = fopen(file, "r");
  if (in == NULL) return 0;
  const int good = fgets(command, (int)size, in) != NULL;
  fclose(in);
  if (!good) return 0;
  command[strcspn(command, "\n")] = 0;
  const char* wanted = getenv("ISOCHRON");
  if (wanted != NULL && *wanted != 0) snprintf(command, size, "%s", wanted);
  if (access(command, X_OK) != 0) snprintf(command, size, "isochron"); /* on the PATH */
  return 1;
}

static int start(struct fmu* f) {
  char command[4096], number[16];
  int pair[2];
  if (!read_command(f, command, sizeof command)) {
    say(f, "the FMU's resources are not there: %s", f->resources);
    return 0;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 0;
  f->host = fork();
  if (f->host == 0) {
    const int own = dup(pair[1]); /* without close-on-exec */
    snprintf(number, sizeof number, "%d", own);
    setenv("ISOCHRON_FMU_FD", number, 1);
    unsetenv("LD_PRELOAD");
    dup2(2, 1);
    execlp(command, "isochron", "serve", "fmu", f->resources, (char*)NULL);
    _exit(127);
  }
  close(pair[1]);
  f->socket = pair[0];
  uint32_t counts[2];
  if (f->host < 0 || !take(f->socket, counts, sizeof counts) || !take(f->socket, &f->step, sizeof f->step)) {
    say(f, "`%s serve fmu %s` could not be started; set ISOCHRON to the command", command, f->resources);
    return 0;
  }
  f->inputs = counts[0];
  f->outputs = counts[1];
  free(f->values);
  f->values = calloc((size_t)f->inputs + f->outputs + 1, sizeof(double));
  f->done = 0;
  f->dead = 0;
  return take(f->socket, f->values, ((size_t)f->inputs + f->outputs) * sizeof(double));
}

static void drop(struct fmu* f) {
  stop(f);
  free(f->name);
  free(f->resources);
  free(f->values);
  free(f);
}

static struct fmu* make(const char* name, const char* resources, Logger2 logger2, Logger3 logger3, void* environment) {
  struct fmu* f = calloc(1, sizeof *f);
  f->name = strdup(name == NULL ? "" : name);
  f->resources = path_of(resources);
  f->logger2 = logger2;
  f->logger3 = logger3;
  f->environment = environment;
  if (start(f)) return f;
  drop(f);
  return NULL;
}

static double time_of(const struct fmu* f) { return f->start + (double)f->done * f->step; }

static Status get(struct fmu* f, const Reference* references, size_t count, double* values) {
  for (size_t i = 0; i < count; ++i) {
    if (references[i] > f->inputs + f->outputs) {
      say(f, "there is no variable %u", references[i]);
      return ERROR;
    }
    values[i] = references[i] == 0 ? time_of(f) : f->values[references[i] - 1];
  }
  return OK;
}

static Status set(struct fmu* f, const Reference* references, size_t count, const double* values) {
  for (size_t i = 0; i < count; ++i) {
    if (references[i] == 0 || references[i] > f->inputs) {
      say(f, "variable %u is not an input", references[i]);
      return ERROR;
    }
    if (!isfinite(values[i])) {
      say(f, "variable %u was given a value that is no number", references[i]);
      return ERROR;
    }
    f->values[references[i] - 1] = values[i];
  }
  return OK;
}

static Status do_step(struct fmu* f, double at, double size) {
  if (f->dead) return ERROR;
  const double steps = round(size / f->step);
  const double slack = 1e-6 * f->step + 1e-12 * fabs(at);
  if (!(steps >= 1) || steps > 4e9 || fabs(steps * f->step - size) > slack) {
    say(f, "a step of %.9g s is not a multiple of %.9g s", size, f->step);
    return ERROR;
  }
  if (fabs(at - time_of(f)) > slack + 1e-9) {
    say(f, "a step from %.9g s, and it is %.9g s", at, time_of(f));
    return ERROR;
  }
  const uint32_t count = (uint32_t)steps;
  uint32_t trouble = 0;
  int good = put(f->socket, &count, sizeof count) && put(f->socket, f->values, f->inputs * sizeof(double)) &&
             take(f->socket, &trouble, sizeof trouble);
  if (good && trouble != 0) {
    char text[1001] = "";
    if (trouble > 1000) trouble = 1000;
    if (take(f->socket, text, trouble)) say(f, "%s", text);
    good = 0;
  } else if (good) {
    good = take(f->socket, f->values + f->inputs, f->outputs * sizeof(double));
  } else {
    say(f, "the simulation behind the FMU ended");
  }
  f->dead = !good;
  if (good) f->done += count;
  return good ? OK : ERROR;
}

static Status again(struct fmu* f) {
  stop(f);
  return start(f) ? OK : ERROR;
}

static Status unsupported(struct fmu* f, const char* function) {
  say(f, "%s is not supported", function);
  return ERROR;
}
#define NO(name) \
  EXPORT Status name(struct fmu* f) { return unsupported(f, #name); }
/* Values of types that it does not have: none of them is fine. */
#define NONE(name)                                                               \
  EXPORT Status name(struct fmu* f, const Reference* references, size_t count) { \
    (void)references;                                                            \
    return count == 0 ? OK : unsupported(f, #name);                              \
  }
#define FINE(name)              \
  EXPORT Status name(void* f) { \
    (void)f;                    \
    return OK;                  \
  }

/* FMI 2.0 */
EXPORT const char* fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char* fmi2GetVersion(void) { return "2.0"; }
FINE(fmi2SetDebugLogging)
EXPORT void* fmi2Instantiate(const char* name, int kind, const char* token, const char* resources,
                             const struct callbacks2* callbacks, int visible, int logging) {
  (void)token, (void)visible, (void)logging;
  if (kind != 1 || callbacks == NULL) return NULL; /* co-simulation only */
  return make(name, resources, callbacks->logger, NULL, callbacks->environment);
}
EXPORT void fmi2FreeInstance(struct fmu* f) {
  if (f != NULL) drop(f);
}
EXPORT Status fmi2SetupExperiment(struct fmu* f, int has_tolerance, double tolerance, double start_time, int has_stop,
                                  double stop_time) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop_time;
  f->start = start_time;
  return OK;
}
FINE(fmi2EnterInitializationMode)
FINE(fmi2ExitInitializationMode)
EXPORT Status fmi2Terminate(struct fmu* f) {
  stop(f);
  f->dead = 1;
  return OK;
}
EXPORT Status fmi2Reset(struct fmu* f) { return again(f); }
EXPORT Status fmi2GetReal(struct fmu* f, const Reference* r, size_t n, double* v) { return get(f, r, n, v); }
EXPORT Status fmi2SetReal(struct fmu* f, const Reference* r, size_t n, const double* v) { return set(f, r, n, v); }
NONE(fmi2GetInteger)
NONE(fmi2GetBoolean)
NONE(fmi2GetString)
NONE(fmi2SetInteger)
NONE(fmi2SetBoolean)
NONE(fmi2SetString)
NO(fmi2GetFMUstate)
NO(fmi2SetFMUstate)
NO(fmi2FreeFMUstate)
NO(fmi2SerializedFMUstateSize)
NO(fmi2SerializeFMUstate)
NO(fmi2DeSerializeFMUstate)
NO(fmi2GetDirectionalDerivative)
NO(fmi2SetRealInputDerivatives)
NO(fmi2GetRealOutputDerivatives)
EXPORT Status fmi2DoStep(struct fmu* f, double at, double size, int never_back) {
  (void)never_back;
  return do_step(f, at, size);
}
NO(fmi2CancelStep)
NO(fmi2GetStatus)
EXPORT Status fmi2GetRealStatus(struct fmu* f, int what, double* value) {
  (void)what;
  *value = time_of(f);
  return OK;
}
NO(fmi2GetIntegerStatus)
EXPORT Status fmi2GetBooleanStatus(struct fmu* f, int what, int* value) {
  (void)what;
  *value = f->dead;
  return OK;
}
NO(fmi2GetStringStatus)

/* FMI 3.0 */
EXPORT const char* fmi3GetVersion(void) { return "3.0"; }
FINE(fmi3SetDebugLogging)
EXPORT void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources, _Bool visible,
                                         _Bool logging, _Bool event_mode, _Bool early_return,
                                         const Reference* intermediate, size_t intermediate_count, void* environment,
                                         Logger3 logger, void* update) {
  (void)token, (void)visible, (void)logging, (void)event_mode, (void)early_return, (void)intermediate;
  (void)intermediate_count, (void)update;
  return make(name, resources, NULL, logger, environment);
}
EXPORT void* fmi3InstantiateModelExchange(void) { return NULL; }
EXPORT void* fmi3InstantiateScheduledExecution(void) { return NULL; }
EXPORT void fmi3FreeInstance(struct fmu* f) {
  if (f != NULL) drop(f);
}
EXPORT Status fmi3EnterInitializationMode(struct fmu* f, _Bool has_tolerance, double tolerance, double start_time,
                                          _Bool has_stop, double stop_time) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop_time;
  f->start = start_time;
  return OK;
}
FINE(fmi3ExitInitializationMode)
EXPORT Status fmi3Terminate(struct fmu* f) {
  stop(f);
  f->dead = 1;
  return OK;
}
EXPORT Status fmi3Reset(struct fmu* f) { return again(f); }
EXPORT Status fmi3GetFloat64(struct fmu* f, const Reference* r, size_t n, double* v, size_t count) {
  (void)count;
  return get(f, r, n, v);
}
EXPORT Status fmi3SetFloat64(struct fmu* f, const Reference* r, size_t n, const double* v, size_t count) {
  (void)count;
  return set(f, r, n, v);
}
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
NONE(fmi3GetClock)
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
NONE(fmi3SetClock)
NO(fmi3GetNumberOfVariableDependencies)
NO(fmi3GetVariableDependencies)
NO(fmi3GetFMUState)
NO(fmi3SetFMUState)
NO(fmi3FreeFMUState)
NO(fmi3SerializedFMUStateSize)
NO(fmi3SerializeFMUState)
NO(fmi3DeserializeFMUState)
NO(fmi3GetDirectionalDerivative)
NO(fmi3GetAdjointDerivative)
NO(fmi3EnterConfigurationMode)
NO(fmi3ExitConfigurationMode)
NONE(fmi3GetIntervalDecimal)
NONE(fmi3GetIntervalFraction)
NONE(fmi3GetShiftDecimal)
NONE(fmi3GetShiftFraction)
NONE(fmi3SetIntervalDecimal)
NONE(fmi3SetIntervalFraction)
NONE(fmi3SetShiftDecimal)
NONE(fmi3SetShiftFraction)
NO(fmi3EvaluateDiscreteStates)
NO(fmi3UpdateDiscreteStates)
NO(fmi3EnterEventMode)
NO(fmi3EnterContinuousTimeMode)
NO(fmi3CompletedIntegratorStep)
NO(fmi3SetTime)
NO(fmi3SetContinuousStates)
NO(fmi3GetContinuousStateDerivatives)
NO(fmi3GetEventIndicators)
NO(fmi3GetContinuousStates)
NO(fmi3GetNominalsOfContinuousStates)
NO(fmi3GetNumberOfEventIndicators)
NO(fmi3GetNumberOfContinuousStates)
NO(fmi3EnterStepMode)
NO(fmi3GetOutputDerivatives)
NO(fmi3ActivateModelPartition)
EXPORT Status fmi3DoStep(struct fmu* f, double at, double size, _Bool never_back, _Bool* event_needed,
                         _Bool* terminate_wanted, _Bool* early, double* reached) {
  (void)never_back;
  const Status status = do_step(f, at, size);
  *event_needed = 0;
  *terminate_wanted = 0;
  *early = 0;
  *reached = time_of(f);
  return status;
}
