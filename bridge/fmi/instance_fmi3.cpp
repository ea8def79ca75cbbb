// Instances of FMI 3.0: what both kinds have in common, co-simulation, model exchange. Where an FMU for co-simulation
// has an event mode it is used: steps may end early at an event, which is handled before the rest of the step.

#include <cstring>
#include <utility>

#include "bridge/fmi/clocks.hpp"
#include "bridge/fmi/instance.hpp"
#include "bridge/fmi/model_exchange.hpp"

namespace isochron::fmi {
namespace {

/// What the FMU hands back to us when it calls.
struct Environment {
  Log& log;
  const Instance::Between& between;
};

void take_line(void* environment, Status status, const char* category, const char* text) {
  static_cast<Environment*>(environment)->log.add(status, category, text);
}

/// It is never told to return early: what is between two communication points is looked at, no more.
void look_between(void* environment, double time, bool, bool get_allowed, bool, bool, bool* return_early, double*) {
  if (return_early != nullptr) *return_early = false;
  const auto& look = static_cast<Environment*>(environment)->between;
  if (get_allowed && look) look(time);
}

class Fmi3 : public Instance {
 public:
  Fmi3(const Description& description, const InstanceOptions& options, Log& log)
      : f_(Binary::load(options.folder, description).fmi3()),
        environment_{log, between_},
        verdict_(log),
        events_(description.event_mode),
        variable_step_(description.variable_step) {
    const std::string resources = options.folder + "/resources/";
    const char *name = options.name.c_str(), *token = description.token.c_str();
    const bool logging = options.logging;
    const auto make = [&] {
      return f_.instantiate(name, token, resources.c_str(), false, logging, events_, early_return(),
                            options.intermediate.empty() ? nullptr : options.intermediate.data(),
                            options.intermediate.size(), &environment_, &take_line,
                            options.intermediate.empty() ? nullptr : &look_between);
    };
    self_ = description.exchange
                ? f_.instantiate_exchange(name, token, resources.c_str(), false, logging, &environment_, &take_line)
                : make();
    if (self_ == nullptr && std::exchange(events_, false)) self_ = make();  // some claim an event mode and have none
    if (self_ == nullptr) {
      verdict_.give_up(std::string("the FMU could not be instantiated") +
                       (description.needs_tool ? "; it needs the tool that made it" : ""));
    }
  }
  ~Fmi3() override {
    if (self_ != nullptr && !verdict_.fatal()) f_.free_instance(self_);
  }

  void set(const Batch& batch, const void* values) override {
    switch (batch.type) {
      case Type::float32:
        return put(f_.set_float32, "fmi3SetFloat32", batch, values);
      case Type::float64:
        return put(f_.set_float64, "fmi3SetFloat64", batch, values);
      case Type::int8:
        return put(f_.set_int8, "fmi3SetInt8", batch, values);
      case Type::uint8:
        return put(f_.set_uint8, "fmi3SetUInt8", batch, values);
      case Type::int16:
        return put(f_.set_int16, "fmi3SetInt16", batch, values);
      case Type::uint16:
        return put(f_.set_uint16, "fmi3SetUInt16", batch, values);
      case Type::int32:
        return put(f_.set_int32, "fmi3SetInt32", batch, values);
      case Type::uint32:
        return put(f_.set_uint32, "fmi3SetUInt32", batch, values);
      case Type::int64:
        return put(f_.set_int64, "fmi3SetInt64", batch, values);
      case Type::uint64:
        return put(f_.set_uint64, "fmi3SetUInt64", batch, values);
      case Type::boolean:
        return put(f_.set_boolean, "fmi3SetBoolean", batch, values);
      case Type::text:
      case Type::binary:
        return put_bytes(batch, static_cast<const Bytes*>(values));
      case Type::clock:
        return tick(batch, static_cast<const bool*>(values));
    }
  }

  void get(const Batch& batch, void* values) override {
    switch (batch.type) {
      case Type::float32:
        return take(f_.get_float32, "fmi3GetFloat32", batch, values);
      case Type::float64:
        return take(f_.get_float64, "fmi3GetFloat64", batch, values);
      case Type::int8:
        return take(f_.get_int8, "fmi3GetInt8", batch, values);
      case Type::uint8:
        return take(f_.get_uint8, "fmi3GetUInt8", batch, values);
      case Type::int16:
        return take(f_.get_int16, "fmi3GetInt16", batch, values);
      case Type::uint16:
        return take(f_.get_uint16, "fmi3GetUInt16", batch, values);
      case Type::int32:
        return take(f_.get_int32, "fmi3GetInt32", batch, values);
      case Type::uint32:
        return take(f_.get_uint32, "fmi3GetUInt32", batch, values);
      case Type::int64:
        return take(f_.get_int64, "fmi3GetInt64", batch, values);
      case Type::uint64:
        return take(f_.get_uint64, "fmi3GetUInt64", batch, values);
      case Type::boolean:
        return take(f_.get_boolean, "fmi3GetBoolean", batch, values);
      case Type::text:
      case Type::binary:
        return take_bytes(batch, static_cast<Bytes*>(values));
      case Type::clock:
        for (std::size_t i = 0; i < batch.count; ++i) static_cast<bool*>(values)[i] = has_ticked(batch.references[i]);
        return;
    }
  }

  void configure(const std::function<void()>& set_lengths) override {
    verdict_.demand(f_.enter_configuration(self_), "fmi3EnterConfigurationMode");
    set_lengths();
    verdict_.demand(f_.exit_configuration(self_), "fmi3ExitConfigurationMode");
  }

  void initialise(double start, std::optional<double> tolerance) override {
    verdict_.demand(f_.enter_initialisation(self_, tolerance.has_value(), tolerance.value_or(0), start, false, 0),
                    "fmi3EnterInitializationMode");
    verdict_.demand(f_.exit_initialisation(self_), "fmi3ExitInitializationMode");
  }

  void terminate() override {
    if (!verdict_.failed()) verdict_.demand(f_.terminate(self_), "fmi3Terminate");
  }

 protected:
  /// Clocks that others trigger; in event mode.
  virtual void tick(const Batch& /*clocks*/, const bool* /*ticks*/) {}
  [[nodiscard]] virtual bool has_ticked(Reference /*clock*/) const { return false; }
  /// Before discrete states settle, again and again.
  virtual void look_at_events() {}

  [[nodiscard]] bool early_return() const { return events_ && variable_step_; }

  /// Lets discrete states settle, in event mode.
  void settle() {
    constexpr int most_iterations = 10'000;
    bool again = true;
    for (int i = 0; again; ++i) {
      if (i == most_iterations) verdict_.give_up("the FMU's events do not come to an end");
      bool end = false, nominals = false, values = false, has_next = false;
      double next = 0;
      again = false;
      look_at_events();
      verdict_.demand(f_.update_discrete_states(self_, &again, &end, &nominals, &values, &has_next, &next),
                      "fmi3UpdateDiscreteStates");
      ended_ = ended_ || end;
      next_event_ = has_next ? std::optional<double>(next) : std::nullopt;
    }
  }

  const v3::Functions& f_;
  Environment environment_;
  v3::Instance self_ = nullptr;
  Verdict verdict_;
  bool events_, variable_step_;
  std::optional<double> next_event_;

 private:
  template <class T>
  void put(v3::Set<T> function, const char* name, const Batch& batch, const void* values) {
    verdict_.demand(
        function(self_, batch.references.data(), batch.references.size(), static_cast<const T*>(values), batch.count),
        name);
  }
  template <class T>
  void take(v3::Get<T> function, const char* name, const Batch& batch, void* values) {
    verdict_.demand(
        function(self_, batch.references.data(), batch.references.size(), static_cast<T*>(values), batch.count), name);
  }

  void put_bytes(const Batch& batch, const Bytes* values) {
    const Reference* refs = batch.references.data();
    const std::size_t n = batch.references.size();
    texts_.clear();
    sizes_.clear();
    for (std::size_t i = 0; i < batch.count; ++i) {
      texts_.push_back(values[i].data);
      sizes_.push_back(values[i].size);
    }
    if (batch.type == Type::text) {
      return verdict_.demand(f_.set_string(self_, refs, n, texts_.data(), batch.count), "fmi3SetString");
    }
    bytes_.clear();
    for (const char* text : texts_) bytes_.push_back(reinterpret_cast<const std::uint8_t*>(text));
    verdict_.demand(f_.set_binary(self_, refs, n, sizes_.data(), bytes_.data(), batch.count), "fmi3SetBinary");
  }

  void take_bytes(const Batch& batch, Bytes* values) {
    const Reference* refs = batch.references.data();
    const std::size_t n = batch.references.size();
    texts_.assign(batch.count, nullptr);
    sizes_.assign(batch.count, 0);
    if (batch.type == Type::text) {
      verdict_.demand(f_.get_string(self_, refs, n, texts_.data(), batch.count), "fmi3GetString");
      for (std::size_t i = 0; i < batch.count; ++i) sizes_[i] = texts_[i] == nullptr ? 0 : std::strlen(texts_[i]);
    } else {
      bytes_.assign(batch.count, nullptr);
      verdict_.demand(f_.get_binary(self_, refs, n, sizes_.data(), bytes_.data(), batch.count), "fmi3GetBinary");
      for (std::size_t i = 0; i < batch.count; ++i) texts_[i] = reinterpret_cast<const char*>(bytes_[i]);
    }
    for (std::size_t i = 0; i < batch.count; ++i) values[i] = {texts_[i], texts_[i] == nullptr ? 0 : sizes_[i]};
  }

  std::vector<const char*> texts_;
  std::vector<const std::uint8_t*> bytes_;
  std::vector<std::size_t> sizes_;
};

class Fmi3Simulation final : public Fmi3 {
 public:
  Fmi3Simulation(const Description& description, const InstanceOptions& options, Log& log)
      : Fmi3(description, options, log), clocks_(description, f_, verdict_) {}

  void initialise(double start, std::optional<double> tolerance) override {
    Fmi3::initialise(start, tolerance);
    if (!events_) return;
    clocks_.begin(self_, start);
    leave_events(start);
  }

  void step(const Stretch& stretch, const std::function<void()>& set_inputs, Change change) override {
    const bool at_event = events_ && change == Change::discrete;
    clocks_.forget();
    if (at_event) verdict_.demand(f_.enter_event_mode(self_), "fmi3EnterEventMode");
    if (change != Change::none) set_inputs();
    if (at_event) leave_events(stretch.from);
    Advance advance(stretch);
    while (!advance.arrived() && !ended_) {
      if (!advance.reached(step_once(advance.left()))) {
        verdict_.give_up("fmi3DoStep of the FMU does not get on");
      }
    }
  }

 private:
  /// Returns how far it came.
  double step_once(const Stretch& left) {
    const std::optional<double> next = next_event();
    const bool stops_before = next && variable_step_ && *next > left.from && *next < left.to;
    const double goal = stops_before ? *next : left.to;
    const double size = stops_before ? goal - left.from : left.size;
    bool event = false, end = false, early = false;
    double last = goal;
    const Status status = f_.do_step(self_, left.from, size, true, &event, &end, &early, &last);
    verdict_.demand(status, "fmi3DoStep");
    ended_ = ended_ || end;
    const double reached = early ? last : goal;
    if (events_ && !ended_ && (event || (next && reached >= *next))) {
      verdict_.demand(f_.enter_event_mode(self_), "fmi3EnterEventMode");
      leave_events(reached);
    }
    return reached;
  }

  /// That the FMU announced, or a clock's.
  [[nodiscard]] std::optional<double> next_event() const {
    const std::optional<double> tick = clocks_.next();
    if (!tick || (next_event_ && *next_event_ < *tick)) return next_event_;
    return tick;
  }

  void leave_events(double now) {
    const auto ticking = clocks_.due(self_, now);
    if (!ticking.empty() && set_clocked_) set_clocked_(ticking);
    settle();
    clocks_.ticked(self_, now);
    verdict_.demand(f_.enter_step_mode(self_), "fmi3EnterStepMode");
  }

  void tick(const Batch& clocks, const bool* ticks) override {
    if (!events_ || f_.set_clock == nullptr) return;
    triggered_.clear();
    for (std::size_t i = 0; i < clocks.references.size(); ++i) {
      if (ticks[i]) triggered_.push_back(clocks.references[i]);
    }
    constexpr bool yes = true;
    for (const Reference clock : triggered_) verdict_.demand(f_.set_clock(self_, &clock, 1, &yes), "fmi3SetClock");
    if (!triggered_.empty() && set_clocked_) set_clocked_(triggered_);
  }
  [[nodiscard]] bool has_ticked(Reference clock) const override { return clocks_.has_ticked(clock); }
  void look_at_events() override { clocks_.see(self_); }

  Clocks clocks_;
  std::vector<Reference> triggered_;
};

constexpr ExchangeNames exchange_names{"fmi3SetTime",
                                       "fmi3SetContinuousStates",
                                       "fmi3GetContinuousStates",
                                       "fmi3GetContinuousStateDerivatives",
                                       "fmi3GetEventIndicators",
                                       "fmi3EnterEventMode"};

class Fmi3Exchange final : public ModelExchange<Fmi3, exchange_names> {
 public:
  using ModelExchange::ModelExchange;

 private:
  void count_states() override {
    verdict_.demand(f_.get_state_count(self_, &state_count_), "fmi3GetNumberOfContinuousStates");
    verdict_.demand(f_.get_indicator_count(self_, &indicator_count_), "fmi3GetNumberOfEventIndicators");
  }
  void jacobian(double t, const double* x, std::span<double* const> columns) override {
    constexpr double one = 1;
    place(t, {x, state_count_});
    for (std::size_t j = 0; j < columns.size(); ++j) {
      verdict_.demand(f_.get_directional(self_, derivatives_.data(), state_count_, &states_[j], 1, &one, 1, columns[j],
                                         state_count_),
                      "fmi3GetDirectionalDerivative");
    }
  }
  bool completed_step() override {
    bool event = false, end = false;
    verdict_.demand(f_.completed_step(self_, true, &event, &end), "fmi3CompletedIntegratorStep");
    ended_ = ended_ || end;
    return event;
  }
  std::optional<double> leave_events() override {
    settle();
    verdict_.demand(f_.enter_continuous_time(self_), "fmi3EnterContinuousTimeMode");
    return next_event_;
  }
};

}  // namespace

std::unique_ptr<Instance> make_fmi3(const Description& description, const InstanceOptions& options, Log& log) {
  if (description.exchange) return std::make_unique<Fmi3Exchange>(description, options, log);
  return std::make_unique<Fmi3Simulation>(description, options, log);
}

}  // namespace isochron::fmi
