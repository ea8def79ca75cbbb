#pragma once
// Programs that are stacks: their calls go to the simulated system, and what they start becomes a program of its own on
// the same virtual CPU.
//
// Threads: the coordinator's.

#include <memory>
#include <string>
#include <vector>

#include "programs/execution.hpp"
#include "programs/system/system.hpp"
#include "programs/teller.hpp"

namespace isochron::programs {

class Stacks final : private System::House {
 public:
  Stacks(Ensemble& all, Tapes& tapes, Execution& execution, Teller& teller)
      : all_(all), tapes_(tapes), execution_(execution), teller_(teller) {}

  void open(const std::vector<RobotSpec>& robots);
  /// Null: no program is a stack.
  [[nodiscard]] System* system() const { return system_.get(); }
  /// A call happens at `at`.
  void call(std::uint32_t program, const Pending& pending, SimTime at);
  /// A call that waited goes on, perhaps only to wait again.
  [[nodiscard]] bool waits(std::uint32_t program, std::uint32_t link) const {
    return system_ && system_->waits(program, link);
  }
  void wake(std::uint32_t program, std::uint32_t link, SimTime at, bool others_run);
  /// It may be another program from here on.
  void attached(std::uint32_t program, SimTime at);
  void ended(std::uint32_t program, SimTime at);
  /// To be called before the link is answered.
  static void hand_signals(Member& m, std::uint32_t link);

 private:
  void answer(std::uint32_t program, std::uint32_t link, SimTime at);
  static void let_others_run(Member& m, const Pending& pending);
  [[nodiscard]] ProgramSpec spec_of_child(const Member& parent, const Member& root, const std::string& name,
                                          SimTime at);

  void look_again(std::uint32_t program, std::uint32_t link, SimTime at) override;
  std::int64_t prepare_child(std::uint32_t program, std::uint32_t number, SimTime at) override;
  std::optional<std::uint32_t> adopt_child(std::uint32_t program, std::int64_t process, SimTime at) override;
  Taken takes(std::uint32_t program, int signal) override;
  void send_signal(std::uint32_t program, int signal, std::uint32_t link) override;
  void kill_process(std::uint32_t program, int signal) override;
  void print(std::uint32_t program, std::span<const std::byte> text, SimTime at) override;
  void refuse(std::uint32_t program, SimTime at, const std::string& what) override {
    all_.desk.fault(program, at, what);
  }

  Ensemble& all_;
  Tapes& tapes_;
  Execution& execution_;
  Teller& teller_;
  std::unique_ptr<System> system_;
};

}  // namespace isochron::programs
