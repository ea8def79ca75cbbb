#pragma once
// What model exchange is alike in both versions of the standard. `Version` is an instance of one: it has the functions
// f_, the component self_ and the verdict_ on what they return.

#include <span>
#include <vector>

#include "bridge/fmi/exchange.hpp"

namespace isochron::fmi {

/// How a version calls its functions, for the sentence when one fails.
struct ExchangeNames {
  const char *set_time, *set_states, *get_states, *get_derivatives, *get_indicators, *enter_events;
};

template <class Version, const ExchangeNames& names>
class ModelExchange : public Version, private ExchangeCalls {
 public:
  ModelExchange(const Description& description, const InstanceOptions& options, Log& log)
      : Version(description, options, log), exchange_(*this, options.solver) {
    for (const Description::StateOf& one : description.differentiable) {
      derivatives_.push_back(one.derivative);
      states_.push_back(one.state);
    }
  }

  void initialise(double start, std::optional<double> tolerance) override {
    Version::initialise(start, tolerance);
    count_states();
    exchange_.begin(start);  // it is in event mode now
  }
  void step(const Instance::Stretch& stretch, const std::function<void()>& set_inputs,
            Instance::Change change) override {
    if (change != Instance::Change::none) exchange_.set_inputs(set_inputs);
    exchange_.step(stretch);
  }

 protected:
  virtual void count_states() {}
  void place(double t, std::span<const double> x) override {
    demand(this->f_.set_time(this->self_, t), names.set_time);
    if (!x.empty()) demand(this->f_.set_states(this->self_, x.data(), x.size()), names.set_states);
  }
  void demand(Status status, const char* function) { this->verdict_.demand(status, function); }

  std::size_t state_count_ = 0, indicator_count_ = 0;
  std::vector<Reference> derivatives_, states_;  // of a Jacobian that the FMU gives

 private:
  [[nodiscard]] bool is_over() const override { return this->ended_; }
  [[nodiscard]] std::size_t state_count() const override { return state_count_; }
  [[nodiscard]] std::size_t indicator_count() const override { return indicator_count_; }
  void derivatives(double t, const double* x, double* dx) override {
    place(t, {x, state_count_});
    if (state_count_ > 0) demand(this->f_.get_derivatives(this->self_, dx, state_count_), names.get_derivatives);
  }
  void indicators(double t, const double* x, double* z) override {
    if (indicator_count_ == 0) return;
    place(t, {x, state_count_});
    demand(this->f_.get_indicators(this->self_, z, indicator_count_), names.get_indicators);
  }
  [[nodiscard]] bool has_jacobian() const override {
    return this->f_.get_directional != nullptr && state_count_ > 0 && states_.size() == state_count_;
  }
  void nominals(std::span<double> x) override {
    Equations::nominals(x);
    if (x.empty() || this->f_.get_nominals == nullptr) return;
    if (this->f_.get_nominals(this->self_, x.data(), x.size()) > status_warning) Equations::nominals(x);
  }
  void read_states(std::span<double> x) override {
    if (!x.empty()) demand(this->f_.get_states(this->self_, x.data(), x.size()), names.get_states);
  }
  void enter_events() override { demand(this->f_.enter_event_mode(this->self_), names.enter_events); }

  Exchange exchange_;
};

}  // namespace isochron::fmi
