#include "bridge/fmi/instance.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "bridge/fmi/package.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

constexpr std::array<const char*, 6> status_words{"ok", "warning", "discard", "error", "fatal", "pending"};

class Symbols {
 public:
  Symbols(void* handle, std::string file) : handle_(handle), file_(std::move(file)) {}
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    if (function == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
  }
  template <class F>
  void find_if_there(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
  }
  void demand_all() const {
    if (!missing_.empty()) throw InputError({}, "the binary of the FMU, " + file_ + ", does not have " + missing_);
  }

 private:
  void* handle_;
  std::string file_, missing_;
};

void find_all(Symbols& symbols, v2::Functions& f, bool exchange) {
  symbols.find(f.instantiate, "fmi2Instantiate");
  symbols.find(f.free_instance, "fmi2FreeInstance");
  symbols.find(f.set_up, "fmi2SetupExperiment");
  symbols.find(f.enter_initialisation, "fmi2EnterInitializationMode");
  symbols.find(f.exit_initialisation, "fmi2ExitInitializationMode");
  symbols.find(f.terminate, "fmi2Terminate");
  symbols.find(f.get_real, "fmi2GetReal");
  symbols.find(f.get_integer, "fmi2GetInteger");
  symbols.find(f.get_boolean, "fmi2GetBoolean");
  symbols.find(f.get_string, "fmi2GetString");
  symbols.find(f.set_real, "fmi2SetReal");
  symbols.find(f.set_integer, "fmi2SetInteger");
  symbols.find(f.set_boolean, "fmi2SetBoolean");
  symbols.find(f.set_string, "fmi2SetString");
  if (!exchange) {
    symbols.find(f.do_step, "fmi2DoStep");
    symbols.find(f.get_status, "fmi2GetStatus");
    symbols.find(f.get_real_status, "fmi2GetRealStatus");
    symbols.find(f.get_boolean_status, "fmi2GetBooleanStatus");
    return;
  }
  symbols.find(f.enter_event_mode, "fmi2EnterEventMode");
  symbols.find(f.new_discrete_states, "fmi2NewDiscreteStates");
  symbols.find(f.enter_continuous_time, "fmi2EnterContinuousTimeMode");
  symbols.find(f.completed_step, "fmi2CompletedIntegratorStep");
  symbols.find(f.set_time, "fmi2SetTime");
  symbols.find(f.set_states, "fmi2SetContinuousStates");
  symbols.find(f.get_states, "fmi2GetContinuousStates");
  symbols.find(f.get_derivatives, "fmi2GetDerivatives");
  symbols.find(f.get_indicators, "fmi2GetEventIndicators");
  symbols.find_if_there(f.get_nominals, "fmi2GetNominalsOfContinuousStates");
  symbols.find_if_there(f.get_directional, "fmi2GetDirectionalDerivative");
}

void find_values(Symbols& symbols, v3::Functions& f) {
  symbols.find(f.get_float32, "fmi3GetFloat32");
  symbols.find(f.get_float64, "fmi3GetFloat64");
  symbols.find(f.get_int8, "fmi3GetInt8");
  symbols.find(f.get_uint8, "fmi3GetUInt8");
  symbols.find(f.get_int16, "fmi3GetInt16");
  symbols.find(f.get_uint16, "fmi3GetUInt16");
  symbols.find(f.get_int32, "fmi3GetInt32");
  symbols.find(f.get_uint32, "fmi3GetUInt32");
  symbols.find(f.get_int64, "fmi3GetInt64");
  symbols.find(f.get_uint64, "fmi3GetUInt64");
  symbols.find(f.get_boolean, "fmi3GetBoolean");
  symbols.find(f.get_string, "fmi3GetString");
  symbols.find(f.get_binary, "fmi3GetBinary");
  symbols.find(f.set_float32, "fmi3SetFloat32");
  symbols.find(f.set_float64, "fmi3SetFloat64");
  symbols.find(f.set_int8, "fmi3SetInt8");
  symbols.find(f.set_uint8, "fmi3SetUInt8");
  symbols.find(f.set_int16, "fmi3SetInt16");
  symbols.find(f.set_uint16, "fmi3SetUInt16");
  symbols.find(f.set_int32, "fmi3SetInt32");
  symbols.find(f.set_uint32, "fmi3SetUInt32");
  symbols.find(f.set_int64, "fmi3SetInt64");
  symbols.find(f.set_uint64, "fmi3SetUInt64");
  symbols.find(f.set_boolean, "fmi3SetBoolean");
  symbols.find(f.set_string, "fmi3SetString");
  symbols.find(f.set_binary, "fmi3SetBinary");
}

void find_exchange(Symbols& symbols, v3::Functions& f) {
  symbols.find(f.instantiate_exchange, "fmi3InstantiateModelExchange");
  symbols.find(f.enter_continuous_time, "fmi3EnterContinuousTimeMode");
  symbols.find(f.completed_step, "fmi3CompletedIntegratorStep");
  symbols.find(f.set_time, "fmi3SetTime");
  symbols.find(f.set_states, "fmi3SetContinuousStates");
  symbols.find(f.get_states, "fmi3GetContinuousStates");
  symbols.find(f.get_derivatives, "fmi3GetContinuousStateDerivatives");
  symbols.find(f.get_indicators, "fmi3GetEventIndicators");
  symbols.find_if_there(f.get_nominals, "fmi3GetNominalsOfContinuousStates");
  symbols.find_if_there(f.get_directional, "fmi3GetDirectionalDerivative");
  symbols.find(f.get_state_count, "fmi3GetNumberOfContinuousStates");
  symbols.find(f.get_indicator_count, "fmi3GetNumberOfEventIndicators");
}

void find_all(Symbols& symbols, v3::Functions& f, bool exchange) {
  symbols.find(f.free_instance, "fmi3FreeInstance");
  symbols.find(f.enter_initialisation, "fmi3EnterInitializationMode");
  symbols.find(f.exit_initialisation, "fmi3ExitInitializationMode");
  symbols.find(f.enter_event_mode, "fmi3EnterEventMode");
  symbols.find(f.update_discrete_states, "fmi3UpdateDiscreteStates");
  symbols.find(f.enter_configuration, "fmi3EnterConfigurationMode");
  symbols.find(f.exit_configuration, "fmi3ExitConfigurationMode");
  symbols.find(f.terminate, "fmi3Terminate");
  find_values(symbols, f);
  if (exchange) return find_exchange(symbols, f);
  symbols.find(f.instantiate, "fmi3InstantiateCoSimulation");
  symbols.find(f.do_step, "fmi3DoStep");
  symbols.find(f.enter_step_mode, "fmi3EnterStepMode");
  symbols.find_if_there(f.get_clock, "fmi3GetClock");
  symbols.find_if_there(f.set_clock, "fmi3SetClock");
  symbols.find_if_there(f.get_interval, "fmi3GetIntervalDecimal");
  symbols.find_if_there(f.get_shift, "fmi3GetShiftDecimal");
}

}  // namespace

const Binary& Binary::load(const std::string& folder, const Description& description) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Binary>> loaded;
  const std::string file =
      folder + "/binaries/" + platform_here(description.version) + "/" + description.identifier + ".so";
  const std::lock_guard lock(mutex);
  const std::string key = (description.exchange ? "exchange " : "co-simulation ") + file;
  const auto known = loaded.find(key);
  if (known != loaded.end()) return *known->second;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    std::string why = dlerror();
    if (why.starts_with(file + ": ")) why.erase(0, file.size() + 2);
    throw InputError({}, "the binary of the FMU cannot be loaded: " + foreign_text(why),
                     "a library that it needs must be installed, or brought along next to the binary");
  }
  auto binary = std::make_unique<Binary>();
  Symbols symbols(handle, description.identifier + ".so");
  if (description.version == Version::fmi2) {
    find_all(symbols, binary->fmi2_, description.exchange);
  } else {
    find_all(symbols, binary->fmi3_, description.exchange);
  }
  symbols.demand_all();
  return *loaded.emplace(key, std::move(binary)).first->second;
}

void Log::add(Status status, const char* category, const char* text) {
  LogLine line{status, category == nullptr ? "" : foreign_name(category), text == nullptr ? "" : foreign_text(text)};
  const std::lock_guard lock(mutex_);
  any_.store(true, std::memory_order_release);
  if (status != status_ok) complaints_.push_back(line.text);
  if (complaints_.size() > 3) complaints_.pop_front();
  if (lines_.size() < most) {
    lines_.push_back(std::move(line));
  } else {
    ++dropped_;
  }
}

std::vector<LogLine> Log::take() {
  const std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_release);
  if (dropped_ > 0) {
    lines_.push_back({status_warning, "isochron", std::to_string(dropped_) + " further lines were not kept"});
    dropped_ = 0;
  }
  return std::exchange(lines_, {});
}

std::string Log::complaints() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const std::string& line : complaints_) text += (text.empty() ? "" : "; ") + line;
  return text;
}

void Verdict::demand(Status status, const char* function) {
  if (status == status_ok || status == status_warning) return;
  fatal_ = fatal_ || status == status_fatal || status < 0 || status > status_pending;
  const bool known = status >= 0 && status <= status_pending;
  give_up(std::string(function) + " of the FMU returned " +
          (known ? status_words[static_cast<std::size_t>(status)] : "status " + std::to_string(status)));
}

void Verdict::give_up(const std::string& what) {
  failed_ = true;
  const std::string said = log_.complaints();
  throw std::runtime_error(said.empty() ? what : what + "; it said: " + said);
}

bool Advance::reached(double time) {
  constexpr int patience = 100;
  if (!(time > at_)) return ++standing_ < patience;
  const double to = whole_.to;
  at_ = std::min(time, to);
  if (to - at_ <= 1e-14 * std::max(1.0, std::abs(to))) at_ = to;  // what is left is rounding
  standing_ = 0;
  return true;
}

std::unique_ptr<Instance> Instance::make(const Description& description, const InstanceOptions& options, Log& log) {
  return description.version == Version::fmi2 ? make_fmi2(description, options, log)
                                              : make_fmi3(description, options, log);
}

}  // namespace isochron::fmi
