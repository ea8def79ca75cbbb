// Instances of FMI 2.0: what both kinds have in common, co-simulation, model exchange.

#include <cctype>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bridge/fmi/instance.hpp"
#include "bridge/fmi/model_exchange.hpp"

namespace isochron::fmi {
namespace {

void take_line(void* environment, const char*, Status status, const char* category, const char* format, ...) {
  char text[4096];
  va_list values;
  va_start(values, format);
  const int size = format == nullptr ? -1 : std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  static_cast<Log*>(environment)->add(status, category, size < 0 ? "" : text);
}

/// "file:///tmp/…/resources": what is no letter, digit or -._~/ is written as %XX.
std::string uri_of(const std::string& path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("-._~/", c) != nullptr) {
      uri += c;
    } else {
      uri += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return uri;
}

class Fmi2 : public Instance {
 public:
  Fmi2(const Description& description, const InstanceOptions& options, Log& log)
      : f_(Binary::load(options.folder, description).fmi2()),
        verdict_(log),
        callbacks_{&take_line, &std::calloc, &std::free, nullptr, &log} {
    const std::string resources = uri_of(options.folder + "/resources");
    const v2::Kind kind = description.exchange ? v2::model_exchange : v2::co_simulation;
    self_ = f_.instantiate(options.name.c_str(), kind, description.token.c_str(), resources.c_str(), &callbacks_, 0,
                           options.logging ? 1 : 0);
    if (self_ == nullptr) {
      verdict_.give_up(std::string("fmi2Instantiate of the FMU returned nothing") +
                       (description.needs_tool ? "; it needs the tool that made it" : ""));
    }
  }
  ~Fmi2() override {
    if (self_ != nullptr && !verdict_.fatal()) f_.free_instance(self_);
  }

  void set(const Batch& batch, const void* values) override {
    const Reference* refs = batch.references.data();
    const std::size_t n = batch.references.size();
    switch (batch.type) {
      case Type::float64:
        return verdict_.demand(f_.set_real(self_, refs, n, static_cast<const double*>(values)), "fmi2SetReal");
      case Type::int32:
        return verdict_.demand(f_.set_integer(self_, refs, n, static_cast<const int*>(values)), "fmi2SetInteger");
      case Type::boolean: {
        const auto* truth = static_cast<const std::uint8_t*>(values);
        truth_.assign(truth, truth + n);
        return verdict_.demand(f_.set_boolean(self_, refs, n, truth_.data()), "fmi2SetBoolean");
      }
      default: {
        const auto* texts = static_cast<const Bytes*>(values);
        texts_.clear();
        for (std::size_t i = 0; i < n; ++i) texts_.push_back(texts[i].data);
        return verdict_.demand(f_.set_string(self_, refs, n, texts_.data()), "fmi2SetString");
      }
    }
  }

  void get(const Batch& batch, void* values) override {
    const Reference* refs = batch.references.data();
    const std::size_t n = batch.references.size();
    switch (batch.type) {
      case Type::float64:
        return verdict_.demand(f_.get_real(self_, refs, n, static_cast<double*>(values)), "fmi2GetReal");
      case Type::int32:
        return verdict_.demand(f_.get_integer(self_, refs, n, static_cast<int*>(values)), "fmi2GetInteger");
      case Type::boolean: {
        truth_.assign(n, 0);
        verdict_.demand(f_.get_boolean(self_, refs, n, truth_.data()), "fmi2GetBoolean");
        for (std::size_t i = 0; i < n; ++i) static_cast<std::uint8_t*>(values)[i] = truth_[i] != 0 ? 1 : 0;
        return;
      }
      default: {
        texts_.assign(n, nullptr);
        verdict_.demand(f_.get_string(self_, refs, n, texts_.data()), "fmi2GetString");
        for (std::size_t i = 0; i < n; ++i) {
          static_cast<Bytes*>(values)[i] = {texts_[i], texts_[i] == nullptr ? 0 : std::strlen(texts_[i])};
        }
      }
    }
  }

  void configure(const std::function<void()>&) override {}  // FMI 2 has no structural parameters

  void initialise(double start, std::optional<double> tolerance) override {
    verdict_.demand(f_.set_up(self_, tolerance ? 1 : 0, tolerance.value_or(0), start, 0, 0), "fmi2SetupExperiment");
    verdict_.demand(f_.enter_initialisation(self_), "fmi2EnterInitializationMode");
    verdict_.demand(f_.exit_initialisation(self_), "fmi2ExitInitializationMode");
  }

  void terminate() override {
    if (!verdict_.failed()) verdict_.demand(f_.terminate(self_), "fmi2Terminate");
  }

 protected:
  const v2::Functions& f_;
  v2::Component self_ = nullptr;
  Verdict verdict_;

 private:
  v2::Callbacks callbacks_;
  std::vector<v2::Boolean> truth_;
  std::vector<const char*> texts_;
};

class Fmi2Simulation final : public Fmi2 {
 public:
  Fmi2Simulation(const Description& description, const InstanceOptions& options, Log& log)
      : Fmi2(description, options, log), variable_step_(description.variable_step) {}

  void step(const Stretch& stretch, const std::function<void()>& set_inputs, Change change) override {
    if (change != Change::none) set_inputs();
    Advance advance(stretch);
    while (!advance.arrived()) {
      const Status status = step_once(advance.left().from, advance.left().size);
      if (status != status_discard) {
        verdict_.demand(status, "fmi2DoStep");
        return;
      }
      const double time = reached();
      if (ended_) return;
      if (!advance.reached(time)) verdict_.give_up("fmi2DoStep of the FMU was discarded again and again");
    }
  }

 private:
  Status step_once(double at, double size) {
    Status status = f_.do_step(self_, at, size, 1);
    while (status == status_pending) {  // it computes in a thread of its own
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (f_.get_status(self_, v2::do_step_status, &status) > status_warning) {
        verdict_.give_up("fmi2GetStatus of the FMU does not say whether its step is done");
      }
    }
    return status;
  }

  /// How far a discarded step came.
  double reached() {
    v2::Boolean ended = 0;
    ended_ = f_.get_boolean_status(self_, v2::terminated, &ended) == status_ok && ended != 0;
    double time = 0;
    if (ended_) return time;
    if (!variable_step_ || f_.get_real_status(self_, v2::last_successful_time, &time) > status_warning) {
      verdict_.give_up("fmi2DoStep of the FMU was discarded");
    }
    return time;
  }

  bool variable_step_;
};

constexpr ExchangeNames exchange_names{"fmi2SetTime",        "fmi2SetContinuousStates", "fmi2GetContinuousStates",
                                       "fmi2GetDerivatives", "fmi2GetEventIndicators",  "fmi2EnterEventMode"};

class Fmi2Exchange final : public ModelExchange<Fmi2, exchange_names> {
 public:
  Fmi2Exchange(const Description& description, const InstanceOptions& options, Log& log)
      : ModelExchange(description, options, log) {
    state_count_ = description.state_count;
    indicator_count_ = description.indicator_count;
  }

 private:
  void jacobian(double t, const double* x, std::span<double* const> columns) override {
    constexpr double one = 1;
    place(t, {x, state_count_});
    for (std::size_t j = 0; j < columns.size(); ++j) {
      verdict_.demand(f_.get_directional(self_, derivatives_.data(), state_count_, &states_[j], 1, &one, columns[j]),
                      "fmi2GetDirectionalDerivative");
    }
  }
  bool completed_step() override {
    v2::Boolean event = 0, end = 0;
    verdict_.demand(f_.completed_step(self_, 1, &event, &end), "fmi2CompletedIntegratorStep");
    ended_ = ended_ || end != 0;
    return event != 0;
  }
  std::optional<double> leave_events() override {
    constexpr int most_iterations = 10'000;
    v2::EventInfo info{1, 0, 0, 0, 0, 0};
    for (int i = 0; info.again != 0; ++i) {
      if (i == most_iterations) verdict_.give_up("the FMU's events do not come to an end");
      info = {};
      verdict_.demand(f_.new_discrete_states(self_, &info), "fmi2NewDiscreteStates");
      ended_ = ended_ || info.terminate != 0;
    }
    verdict_.demand(f_.enter_continuous_time(self_), "fmi2EnterContinuousTimeMode");
    return info.has_next_event != 0 ? std::optional<double>(info.next_event) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Instance> make_fmi2(const Description& description, const InstanceOptions& options, Log& log) {
  if (description.exchange) return std::make_unique<Fmi2Exchange>(description, options, log);
  return std::make_unique<Fmi2Simulation>(description, options, log);
}

}  // namespace isochron::fmi
