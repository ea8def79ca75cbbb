#pragma once
// A called program in a run: when it is released, what an activation costs, and when what it wrote is written.
//
//      release      call                        written
//      |············|▐████████████████████████▌|·······► next release
//      waits for its CPU: others go first        └ the world is read at the call, written at its end
//
// Requires: operate() and wake() as the timeline's events say. Threads: the coordinator's.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "programs/compute.hpp"
#include "programs/desk.hpp"
#include "programs/outcome.hpp"
#include "programs/recorder.hpp"
#include "programs/spec.hpp"
#include "programs/timeline.hpp"

namespace isochron::programs {

class Callee final : private CalledProgram::Letters {
 public:
  /// What a callee does to the run.
  class House {
   public:
    virtual ~House() = default;
    /// Brings the plant to what it is at `at`.
    virtual void show_world(SimTime at) = 0;
    /// What passed since then on the wall clock was its computing.
    virtual void computed() = 0;
    virtual void charged(std::uint32_t program, const Charge& charge) = 0;
    /// What faults do to it; null = nothing.
    virtual Trouble* trouble() = 0;
    /// It failed, and the scenario says that this ends the run.
    virtual void failed(std::uint32_t program, SimTime at) = 0;
  };

  Callee(const ProgramSpec& spec, const std::string& robot, House& house);
  /// Its places in the timeline.
  void sits(Timeline& timeline, Desk& desk, std::uint32_t program, std::uint32_t cpu);
  void start(SimTime at);
  void operate(SimTime at);
  void wake(SimTime at);

  [[nodiscard]] const std::string& name() const { return figures_.name; }
  [[nodiscard]] const std::string& robot() const { return robot_; }
  [[nodiscard]] const ProgramSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t cpu() const { return cpu_; }
  [[nodiscard]] bool free() const { return cost_.zero(); }
  [[nodiscard]] CpuSpan executed() const { return cpu_total_.since_zero(); }
  [[nodiscard]] ProgramOutcome& figures() { return figures_; }

 private:
  enum class Stage : std::uint8_t { waits, calls, writes };
  struct Sent {
    std::string to, type;
    std::vector<std::byte> bytes;
  };
  bool receive(std::string_view from, std::string_view type, std::vector<std::byte>& into) override;
  void send(std::string_view to, std::string_view type, std::span<const std::byte> bytes) override;
  bool meets_trouble(SimTime at);
  void wait(SimTime at);
  void call(SimTime at);
  void write(SimTime at);
  SimSpan cost_of_call(CpuSpan executed);
  void leave(SimTime at, const std::string& why);

  ProgramSpec spec_;
  std::string robot_;
  House& house_;
  Timeline* timeline_ = nullptr;
  Desk* desk_ = nullptr;
  std::uint32_t program_ = 0;
  std::uint32_t cpu_ = 0;
  ComputeCost cost_;
  Reply reply_;
  Stage stage_ = Stage::waits;
  bool stopped_ = false;                          // by a fault
  std::vector<CalledProgram::Command> commands_;  // to be written when the activation is over
  std::vector<Sent> sent_;                        // and sent
  SimTime called_at_;
  CpuTime cpu_total_;
  ProgramOutcome figures_;
};

}  // namespace isochron::programs
