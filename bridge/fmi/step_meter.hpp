#pragma once
// What the steps of an FMU cost, one after the other: as declared, drawn by seed, as measured on the CPU clock of the
// thread that makes the step, or as an earlier run's journal says.
//
// A step's outputs are there when it has been computed: a step to t that costs c is done at max(t, done before) + c. So
// an FMU that needs longer for its steps than simulated time gives it falls behind, and catches up when it can.
//
// Promises: done() grows with each step. Declared, drawn and recorded costs are the same every time.
// Requires: around() once for each step, on one thread.
// Fails:    making it throws InputError where the journal cannot be read or has no costs of this node; around() throws
//           std::runtime_error when the journal has fewer steps.

#include <cstdint>
#include <functional>
#include <vector>

#include "bridge/fmi/spec.hpp"
#include "core/random.hpp"

namespace isochron::fmi {

inline constexpr const char* cost_flow = "cost";
inline constexpr const char* cost_type = "isochron_msgs/msg/StepCost\nint64 cost_ns\nint64 late_ns\n";
/// As it lies in memory.
struct StepCostMessage {
  std::int64_t cost_ns = 0;
  std::int64_t late_ns = 0;  // how much later than its time the step began, because the one before was not done
};

class StepMeter {
 public:
  explicit StepMeter(const NodeSpec& spec);

  /// Not known beforehand, and so told by the flow `cost`.
  [[nodiscard]] bool varies() const { return cost_.kind != StepCost::Kind::fixed; }
  /// Whether outputs are later than their time at all.
  [[nodiscard]] bool any() const { return varies() || cost_.ns > 0; }
  /// When the message of time zero is there: initialisation is free.
  [[nodiscard]] std::int64_t first() const { return varies() ? 1 : cost_.ns; }

  /// The first message, at its time.
  void begin(std::int64_t time_ns) { done_ = time_ns + first(); }
  /// Calls `step`, which ends at time_ns.
  void around(std::int64_t time_ns, const std::function<void()>& step);
  [[nodiscard]] std::int64_t done() const { return done_; }
  [[nodiscard]] const StepCostMessage& last() const { return last_; }

 private:
  void read_tape(const std::string& node);
  [[nodiscard]] std::int64_t drawn();

  StepCost cost_;
  RandomStream random_;
  std::vector<std::int64_t> tape_;
  std::size_t steps_ = 0;
  std::int64_t done_ = 0;
  StepCostMessage last_;
};

}  // namespace isochron::fmi
