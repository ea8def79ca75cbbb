#pragma once
// The C interfaces of FMUs for co-simulation and model exchange, written down from the FMI 2.0 and 3.0 standards: types
// and functions that this project calls, and no others. Names are ours; what is looked up in the binary is the
// standard's name.

#include <cstddef>
#include <cstdint>

namespace isochron::fmi {

using Reference = std::uint32_t;

/// `pending` is of FMI 2 alone.
enum Status : int { status_ok, status_warning, status_discard, status_error, status_fatal, status_pending };

namespace v2 {

using Component = void*;
using Boolean = int;

struct Callbacks {
  void (*logger)(void* environment, const char* instance, Status status, const char* category, const char* message,
                 ...);
  void* (*allocate)(std::size_t count, std::size_t size);
  void (*free)(void* block);
  void (*step_finished)(void* environment, Status status);
  void* environment;
};

enum Kind : int { model_exchange, co_simulation };
enum StatusKind : int { do_step_status, pending_status, last_successful_time, terminated };

struct EventInfo {
  Boolean again, terminate, nominals_changed, states_changed, has_next_event;
  double next_event;
};

struct Functions {
  Component (*instantiate)(const char* name, Kind kind, const char* guid, const char* resources,
                           const Callbacks* callbacks, Boolean visible, Boolean logging);
  void (*free_instance)(Component);
  Status (*set_up)(Component, Boolean has_tolerance, double tolerance, double start, Boolean has_stop, double stop);
  Status (*enter_initialisation)(Component);
  Status (*exit_initialisation)(Component);
  Status (*terminate)(Component);
  Status (*get_real)(Component, const Reference*, std::size_t, double*);
  Status (*get_integer)(Component, const Reference*, std::size_t, int*);
  Status (*get_boolean)(Component, const Reference*, std::size_t, Boolean*);
  Status (*get_string)(Component, const Reference*, std::size_t, const char**);
  Status (*set_real)(Component, const Reference*, std::size_t, const double*);
  Status (*set_integer)(Component, const Reference*, std::size_t, const int*);
  Status (*set_boolean)(Component, const Reference*, std::size_t, const Boolean*);
  Status (*set_string)(Component, const Reference*, std::size_t, const char* const*);
  Status (*do_step)(Component, double at, double size, Boolean never_back);
  Status (*get_status)(Component, StatusKind, Status*);
  Status (*get_real_status)(Component, StatusKind, double*);
  Status (*get_boolean_status)(Component, StatusKind, Boolean*);
  // Of model exchange.
  Status (*enter_event_mode)(Component);
  Status (*new_discrete_states)(Component, EventInfo*);
  Status (*enter_continuous_time)(Component);
  Status (*completed_step)(Component, Boolean never_back, Boolean* event, Boolean* end);
  Status (*set_time)(Component, double);
  Status (*set_states)(Component, const double*, std::size_t);
  Status (*get_states)(Component, double*, std::size_t);
  Status (*get_derivatives)(Component, double*, std::size_t);
  Status (*get_indicators)(Component, double*, std::size_t);
  Status (*get_nominals)(Component, double*, std::size_t);  // null: it does not have it
  /// Null: it does not have it.
  Status (*get_directional)(Component, const Reference* unknowns, std::size_t, const Reference* knowns, std::size_t,
                            const double* seed, double* sensitivity);
};

}  // namespace v2

namespace v3 {

using Instance = void*;

using LogMessage = void (*)(void* environment, Status status, const char* category, const char* message);
using IntermediateUpdate = void (*)(void* environment, double time, bool set_requested, bool get_allowed, bool finished,
                                    bool can_return_early, bool* return_early, double* return_time);

template <class T>
using Get = Status (*)(Instance, const Reference*, std::size_t references, T* values, std::size_t count);
template <class T>
using Set = Status (*)(Instance, const Reference*, std::size_t references, const T* values, std::size_t count);

struct Functions {
  Instance (*instantiate)(const char* name, const char* token, const char* resources, bool visible, bool logging,
                          bool event_mode, bool early_return, const Reference* intermediate,
                          std::size_t intermediate_count, void* environment, LogMessage log, IntermediateUpdate update);
  Instance (*instantiate_exchange)(const char* name, const char* token, const char* resources, bool visible,
                                   bool logging, void* environment, LogMessage log);
  void (*free_instance)(Instance);
  Status (*enter_initialisation)(Instance, bool has_tolerance, double tolerance, double start, bool has_stop,
                                 double stop);
  Status (*exit_initialisation)(Instance);
  Status (*enter_event_mode)(Instance);
  Status (*enter_step_mode)(Instance);
  Status (*update_discrete_states)(Instance, bool* again, bool* terminate, bool* nominals, bool* values,
                                   bool* has_next_event, double* next_event);
  Status (*enter_continuous_time)(Instance);
  Status (*completed_step)(Instance, bool never_back, bool* event, bool* end);
  Status (*set_time)(Instance, double);
  Status (*set_states)(Instance, const double*, std::size_t);
  Status (*get_states)(Instance, double*, std::size_t);
  Status (*get_derivatives)(Instance, double*, std::size_t);
  Status (*get_indicators)(Instance, double*, std::size_t);
  Status (*get_nominals)(Instance, double*, std::size_t);  // null: it does not have it
  /// Null: it does not have it.
  Status (*get_directional)(Instance, const Reference* unknowns, std::size_t, const Reference* knowns, std::size_t,
                            const double* seed, std::size_t, double* sensitivity, std::size_t);
  Status (*get_state_count)(Instance, std::size_t*);
  Status (*get_indicator_count)(Instance, std::size_t*);
  Status (*enter_configuration)(Instance);
  Status (*exit_configuration)(Instance);
  Status (*terminate)(Instance);
  Status (*do_step)(Instance, double at, double size, bool never_back, bool* event_needed, bool* terminate, bool* early,
                    double* last_successful);
  Get<float> get_float32;
  Get<double> get_float64;
  Get<std::int8_t> get_int8;
  Get<std::uint8_t> get_uint8;
  Get<std::int16_t> get_int16;
  Get<std::uint16_t> get_uint16;
  Get<std::int32_t> get_int32;
  Get<std::uint32_t> get_uint32;
  Get<std::int64_t> get_int64;
  Get<std::uint64_t> get_uint64;
  // Of clocks; null: it does not have them.
  Status (*get_clock)(Instance, const Reference*, std::size_t, bool* values);
  Status (*set_clock)(Instance, const Reference*, std::size_t, const bool* values);
  Status (*get_interval)(Instance, const Reference*, std::size_t, double* intervals, int* qualifiers);
  Status (*get_shift)(Instance, const Reference*, std::size_t, double* shifts);
  Get<bool> get_boolean;
  Get<const char*> get_string;
  Status (*get_binary)(Instance, const Reference*, std::size_t, std::size_t* sizes, const std::uint8_t** values,
                       std::size_t count);
  Set<float> set_float32;
  Set<double> set_float64;
  Set<std::int8_t> set_int8;
  Set<std::uint8_t> set_uint8;
  Set<std::int16_t> set_int16;
  Set<std::uint16_t> set_uint16;
  Set<std::int32_t> set_int32;
  Set<std::uint32_t> set_uint32;
  Set<std::int64_t> set_int64;
  Set<std::uint64_t> set_uint64;
  Set<bool> set_boolean;
  Set<const char*> set_string;
  Status (*set_binary)(Instance, const Reference*, std::size_t, const std::size_t* sizes,
                       const std::uint8_t* const* values, std::size_t count);
};

}  // namespace v3
}  // namespace isochron::fmi
