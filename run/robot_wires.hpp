#pragma once
// The wires of a run's robots: what a robot senses goes out as messages of the user's own form, and what comes in acts
// on it. They act where the world steps, in the simulated network, where programs that know nothing of Isochron talk.
//
//      world   ──step──┐ sends, every so often ┌──── what arrived by now: takes
//      robot's port    ▼                       ▲
//      a stack         └──► recv … computes … send
//
// Promises: a message is taken whole or not at all; what cannot be read is counted, and the first of it is told.
// Threads:  the coordinator's. Cost: allocates for each message.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "programs/correspondent.hpp"
#include "run/run.hpp"
#include "run/stage.hpp"
#include "run/variable_numbers.hpp"
#include "run/wire_format.hpp"

namespace isochron {

[[nodiscard]] bool has_wires(const Scenario& scenario);

/// One wire's sockets: who is at the other end, and how messages come and go.
class WireEnd;

class RobotWires final : public programs::Correspondent {
 public:
  /// `plant`: the world as the programs of the run see it; outlives this. Throws InputError.
  RobotWires(const Scenario& scenario, Stage& stage, Plant& plant);
  /// From now on through this one, which has the same variables.
  void look_through(Plant& plant) { plant_ = &plant; }
  /// Sends a frame by the radio of a robot; false: it has sent too much.
  using Say = std::function<bool(const std::string& robot, SimTime at, std::span<const std::byte> octets)>;
  void set_radio(Say say) { say_ = std::move(say); }
  /// The radio of a robot hears a frame at `arrives`, not earlier than the step at which this is called.
  void frame(const std::string& robot, SimTime arrives, std::span<const std::uint8_t> octets);
  ~RobotWires() override;

  /// "rover/base.wire"
  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  void enter(programs::System* system) override;
  void leave() override;
  void exchange(programs::Post& post, SimTime now, SimTime until) override;
  [[nodiscard]] std::optional<std::string> over() const override { return failure_; }

  void finish(RunReport& report) const;

 private:
  struct Sent {
    enum class Kind : std::uint8_t { variable, constant, time, time_ns, count } kind = Kind::constant;
    double constant = 0;
    std::optional<VariableNumbers> numbers;
  };
  struct TakenField {
    enum class Kind : std::uint8_t { variable, constant, passed } kind = Kind::passed;
    double constant = 0;
    std::optional<VariableNumbers> numbers;
    std::size_t target = 0;  // in Wire::targets
  };
  /// A variable that is written, whole: parts that no message names keep what they had.
  struct Target {
    std::uint32_t variable;
    std::vector<std::byte> value;
    bool fresh = false;
  };
  struct Wire {
    const WireSection* section;
    std::string robot, name;
    WireFormat out, in;
    std::vector<Sent> sends;
    std::vector<TakenField> takes;
    std::vector<Target> targets;
    SimTime due;
    WireReport figures;
    std::unique_ptr<WireEnd> end;
  };

  void add(const std::string& robot, const std::string& name, const WireSection& section, Stage& stage);
  void add_sends(Wire& wire, Stage& stage);
  void add_takes(Wire& wire, Stage& stage);
  void take(Wire& wire, std::uint32_t who, std::span<const std::byte> message, programs::Post& post, SimTime now);
  Result<Done, std::string> fill_targets(Wire& wire);
  void send(Wire& wire, SimTime now);
  void say(Wire& wire, std::span<const std::byte> octets, SimTime now);
  static void wrong(Wire& wire, const std::string& what, SimTime now);

  Plant* plant_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::string> names_;
  std::optional<std::string> failure_;
  std::vector<std::vector<double>> values_;
  std::vector<std::byte> bytes_;
  WireFormat::Taken taken_;
  Say say_;
};

}  // namespace isochron
