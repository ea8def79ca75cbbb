/* A small importer of co-simulation FMUs, of its own and of nothing else in this project: what another tool would do.
 *
 *     importer VERSION BINARY.so TOKEN RESOURCES STEP STEPS INPUT_REFERENCE VALUE OUTPUT_REFERENCE…
 *
 * Prints time and outputs after each step. Exit code 1: the FMU refused something, 2: it cannot be loaded. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void log_line2(void* env, const char* name, int status, const char* category, const char* text, ...) {
  (void)env, (void)category;
  fprintf(stderr, "%s: status %d: %s\n", name, status, text);
}
static void log_line3(void* env, int status, const char* category, const char* text) {
  (void)env, (void)category;
  fprintf(stderr, "status %d: %s\n", status, text);
}
struct callbacks {
  void (*logger)(void*, const char*, int, const char*, const char*, ...);
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
  void (*finished)(void*, int);
  void* env;
};

static void* library;
static void* function(const char* name) {
  void* found = dlsym(library, name);
  if (found != NULL) return found;
  fprintf(stderr, "there is no %s\n", name);
  exit(2);
}
static void demand(int status, const char* what) {
  if (status <= 1) return;
  fprintf(stderr, "%s returned %d\n", what, status);
  exit(1);
}
static void print(double time, const double* values, int count) {
  printf("%.9g", time);
  for (int i = 0; i < count; ++i) printf(" %.17g", values[i]);
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc < 10) return 2;
  const bool old = argv[1][0] == '2';
  library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  const double step = atof(argv[5]), value = atof(argv[8]);
  const int steps = atoi(argv[6]), count = argc - 9;
  const unsigned input = (unsigned)atoi(argv[7]);
  unsigned references[64];
  double values[64];
  for (int i = 0; i < count && i < 64; ++i) references[i] = (unsigned)atoi(argv[9 + i]);
  if (old) {
    char uri[4096];
    snprintf(uri, sizeof uri, "file://%s", argv[4]);
    struct callbacks callbacks = {&log_line2, &calloc, &free, NULL, NULL};
    void* (*instantiate)(const char*, int, const char*, const char*, const struct callbacks*, int, int) =
        function("fmi2Instantiate");
    int (*set_up)(void*, int, double, double, int, double) = function("fmi2SetupExperiment");
    int (*enter)(void*) = function("fmi2EnterInitializationMode");
    int (*leave)(void*) = function("fmi2ExitInitializationMode");
    int (*set)(void*, const unsigned*, size_t, const double*) = function("fmi2SetReal");
    int (*get)(void*, const unsigned*, size_t, double*) = function("fmi2GetReal");
    int (*do_step)(void*, double, double, int) = function("fmi2DoStep");
    int (*terminate)(void*) = function("fmi2Terminate");
    void (*release)(void*) = function("fmi2FreeInstance");
    void* fmu = instantiate("fmu", 1, argv[3], uri, &callbacks, 0, 0);
    if (fmu == NULL) return 1;
    demand(set_up(fmu, 0, 0, 0, 0, 0), "fmi2SetupExperiment");
    demand(enter(fmu), "fmi2EnterInitializationMode");
    demand(leave(fmu), "fmi2ExitInitializationMode");
    for (int i = 0; i < steps; ++i) {
      demand(set(fmu, &input, 1, &value), "fmi2SetReal");
      demand(do_step(fmu, i * step, step, 1), "fmi2DoStep");
      demand(get(fmu, references, (size_t)count, values), "fmi2GetReal");
      print((i + 1) * step, values, count);
    }
    demand(terminate(fmu), "fmi2Terminate");
    release(fmu);
    return 0;
  }
  void* (*instantiate)(const char*, const char*, const char*, bool, bool, bool, bool, const unsigned*, size_t, void*,
                       void (*)(void*, int, const char*, const char*), void*) = function("fmi3InstantiateCoSimulation");
  int (*enter)(void*, bool, double, double, bool, double) = function("fmi3EnterInitializationMode");
  int (*leave)(void*) = function("fmi3ExitInitializationMode");
  int (*set)(void*, const unsigned*, size_t, const double*, size_t) = function("fmi3SetFloat64");
  int (*get)(void*, const unsigned*, size_t, double*, size_t) = function("fmi3GetFloat64");
  int (*do_step)(void*, double, double, bool, bool*, bool*, bool*, double*) = function("fmi3DoStep");
  int (*terminate)(void*) = function("fmi3Terminate");
  void (*release)(void*) = function("fmi3FreeInstance");
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/", argv[4]);
  void* fmu = instantiate("fmu", argv[3], folder, false, false, false, false, NULL, 0, NULL, &log_line3, NULL);
  if (fmu == NULL) return 1;
  demand(enter(fmu, false, 0, 0, false, 0), "fmi3EnterInitializationMode");
  demand(leave(fmu), "fmi3ExitInitializationMode");
  for (int i = 0; i < steps; ++i) {
    bool event, end, early;
    double reached;
    demand(set(fmu, &input, 1, &value, 1), "fmi3SetFloat64");
    demand(do_step(fmu, i * step, step, true, &event, &end, &early, &reached), "fmi3DoStep");
    demand(get(fmu, references, (size_t)count, values, (size_t)count), "fmi3GetFloat64");
    print(reached, values, count);
  }
  demand(terminate(fmu), "fmi3Terminate");
  release(fmu);
  return 0;
}
