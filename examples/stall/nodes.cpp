// A ring of nodes of which one falls asleep: what a stalled federation looks like.

#include <chrono>
#include <thread>

#include "flow/node_library.hpp"
#include "flow/system.hpp"

namespace stall {

using namespace isochron;
using namespace std::chrono_literals;

/// Passes on what it hears, plus one. At `sleeps_at` its code does not return for `sleeps_for` of wall time.
class Relay : public flow::UserNode {
 public:
  explicit Relay(const flow::Parameters& parameters)
      : sleeps_at_(SimTime::zero() + parameters.span("sleeps_at", 1'000'000s)),
        sleeps_for_(parameters.span("sleeps_for", 0s)) {}

 private:
  void speak(double& out, SimTime now) {
    if (now == sleeps_at_) std::this_thread::sleep_for(std::chrono::nanoseconds(sleeps_for_.ns()));
    out = (in_.empty() ? 0 : in_.latest()) + 1;
  }
  SimTime sleeps_at_;
  SimSpan sleeps_for_;
  flow::Input<double> in_ = input<double>("in");
  flow::Output<double> out_ = output<&Relay::speak>("out", flow::every(10ms));
};

}  // namespace stall

ISOCHRON_NODES(isochron::flow::node_type<stall::Relay>("Relay", "adds one; parameters sleeps_at, sleeps_for",
                                                       "in: in; out: out, predictive, every 10 ms"))
