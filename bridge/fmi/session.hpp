#pragma once
// An FMU at work behind a node: which messages reach it when, and when it steps.
//
// Its communication points are `every` apart. An input acts from the first communication point at or after its stamp;
// between two points inputs are held. So the step from t to t + every is made with what was said up to t, and what the
// FMU then gives is the message of time t + every: outputs are predictive flows.
//
//     inputs    ──u(0)────────u(1)───x────u(2)──     x acts from point 2
//     steps       [0 ─────────► 1][1 ─────► 2]
//     outputs   y(0)          y(1)        y(2)
//
// The step is made when a message after t comes, or when the outputs of t + every are due, whatever is first: what is
// computed does not depend on it.
//
// Where a step costs time, the message of time t + every is there so much later (step_meter.hpp): outputs are kept
// until then. Where the cost is not known beforehand, the step to t + every is made when the message of t is filled,
// which is after t: all that acts on it has been heard by then, and when its outputs are there can be said.
//
// Requires: start(), then heard() and fill() in the order of time, then finish().
// Threads:  one at a time.
// Cost:     heard() and fill() do not allocate where messages have a fixed size.
// Fails:    std::runtime_error from the call in which the FMU failed.

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "bridge/fmi/fields.hpp"
#include "bridge/fmi/instance.hpp"
#include "bridge/fmi/spec.hpp"
#include "bridge/fmi/step_meter.hpp"

namespace isochron::fmi {

class Session {
 public:
  /// Loads the FMU's binary. Fails: InputError.
  explicit Session(NodeSpec spec);

  [[nodiscard]] const NodeSpec& spec() const { return spec_; }

  void start(std::int64_t time_ns);
  void heard(std::size_t input, std::span<const std::byte> message);
  /// To be called first for every message: steps up to its time.
  void pass_to(std::int64_t time_ns);
  /// A message of fixed size is written where it lies; of others, `room` gives room for so many bytes.
  using Room = std::function<std::byte*(std::size_t size)>;
  void fill(std::size_t output, std::span<std::byte> message, std::int64_t time_ns, const Room& room);
  /// After fill(), of costs that vary: when the message after it is there.
  [[nodiscard]] std::int64_t next_after(std::int64_t due_ns);
  /// The same: what the step of the message cost.
  [[nodiscard]] const StepCostMessage& cost_at(std::int64_t due_ns);
  [[nodiscard]] const StepMeter& meter() const { return meter_; }

  /// What was seen inside of steps since this was asked last, in order of time.
  struct Seen {
    std::size_t output = 0;
    std::int64_t time_ns = 0;
    std::vector<std::byte> message;
  };
  [[nodiscard]] std::vector<Seen> seen() { return std::exchange(seen_, {}); }
  void finish();
  /// What the FMU said since this was asked last.
  [[nodiscard]] std::vector<LogLine> said() { return log_.empty() ? std::vector<LogLine>{} : log_.take(); }

 private:
  /// Variables of one type, with their values.
  struct Group {
    Batch batch;
    std::vector<std::byte> values;
    std::vector<std::string> texts;
    std::vector<Bytes> views;  // of text and binary
    bool changed = false;
    std::vector<Reference> clocks;  // they may change only when one of these ticks
  };
  struct Wire {  // from a message to an input of the FMU
    MessageField field;
    std::size_t group = 0, at = 0, count = 1;  // at: its first value in the group
    Conversion conversion;
    bool discrete = false;
  };
  struct Slot {  // from an output of the FMU to a message
    std::size_t group = 0, at = 0, count = 1, offset = 0;
    Type type = Type::float64;
    bool is_time = false;
  };
  struct Port {
    std::vector<Group> groups;
    std::vector<Slot> slots;
    bool flat = true;
  };

  const Variable& variable(const std::string& name) const;
  static std::size_t add_to_group(std::vector<Group>& groups, const Variable& variable, std::size_t count,
                                  std::size_t& at);
  void wire_inputs();
  void lay_out_outputs();
  void set_parameters(bool structural);
  void read_start_values();
  void step();
  void set_inputs();
  void set_clocked(std::span<const Reference> ticking);
  void set(Group& group);
  void get(Group& group);
  void keep_outputs();
  Port& port_at(std::size_t output, std::int64_t due_ns);
  void fill_flat(const Port& port, std::span<std::byte> message, std::int64_t time_ns) const;
  void fill_cdr(const Port& port, const Room& room) const;
  [[nodiscard]] double seconds(std::int64_t time_ns) const;

  NodeSpec spec_;
  Description description_;
  Log log_;
  StepMeter meter_;
  std::unique_ptr<Instance> instance_;
  std::vector<std::vector<Wire>> wires_;  // by input
  std::vector<Group> inputs_;
  std::vector<Port> outputs_;
  struct Kept {
    std::int64_t time_ns = 0, due_ns = 0;
    StepCostMessage cost;
    std::vector<Port> outputs;
  };
  [[nodiscard]] Kept& kept_for(std::int64_t due_ns);
  std::deque<Kept> kept_;  // of steps that cost time, until their outputs are due
  void look_between(double time);
  std::vector<Seen> seen_;
  std::int64_t at_ns_ = 0;
  Instance::Change change_ = Instance::Change::none;
};

}  // namespace isochron::fmi
