#pragma once
// Programs that are executables, on the wall clock. They run when the kernel lets them; one thread, which also steps
// the world, answers what they ask at the time at which it finds the request. Nobody is held back: a program that is
// late is late, and that is counted. What can hang on a program's board (programs/realtime_board.hpp) is read and
// written there, and nobody is woken for it.
//
// The library in the program and the pages that it shares with us are those of every other mode, so the program is the
// same. A program with `clock: virtual` needs no interposed clock here: the real one is right.
//
// Threads: owner. Cost: allocates for messages between programs and the first time a value has some size.
// Fails:   a program that ends or breaks a rule is reported in its outcome; why_ended() says when the run must end.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/forwarding_plant.hpp"
#include "programs/channel.hpp"
#include "programs/correspondent.hpp"
#include "programs/desk.hpp"
#include "programs/keeper.hpp"
#include "programs/per_link.hpp"
#include "programs/plant.hpp"
#include "programs/process.hpp"
#include "programs/realtime_board.hpp"
#include "programs/recorder.hpp"
#include "programs/watcher.hpp"
#include "rt/thread_settings.hpp"
#include "run/deadlines.hpp"

namespace isochron {

/// One program as the scenario wants it.
struct RealtimeProgram {
  std::string robot;
  programs::ProgramSpec spec;
  std::unique_ptr<Deadlines> deadlines;
};

class RealtimePrograms : private programs::Desk::House {
 public:
  /// Starts them all. Throws InputError where one cannot be executed.
  /// `trouble`: what faults do to programs.
  RealtimePrograms(std::vector<RealtimeProgram> programs, programs::Plant& plant, SimSpan step,
                   programs::Recorder& recorder, programs::Trouble* trouble = nullptr,
                   const std::vector<programs::Correspondent*>& correspondents = {});
  ~RealtimePrograms() override;
  RealtimePrograms(const RealtimePrograms&) = delete;
  RealtimePrograms& operator=(const RealtimePrograms&) = delete;

  /// Waits until all have attached, or ended; those with a virtual clock need not. "" or who did not.
  std::string await_attach(WallSpan within, const std::atomic<bool>& stop);
  /// Gives those with a period real-time priorities by their declared ones; what could not be had.
  [[nodiscard]] std::vector<rt::Weaker> prioritise();

  /// While memory is locked: links that nobody has taken are out of reach, so that they take no memory.
  void protect_spare_links(bool protect);

  /// The doorbell that rings when somebody asks or ends; look at it before serve(), sleep on it after.
  [[nodiscard]] std::atomic<std::uint32_t>& bell() { return bell_.rings; }
  /// Takes what was done at the boards, and answers all that was asked.
  void serve(SimTime now);
  /// Lets go whoever waits for a time that has come.
  void release(SimTime now);
  /// When release() has something to do next.
  [[nodiscard]] SimTime next_release() const;
  /// Takes what was written up to `now` to the plant.
  void apply_writes(SimTime now);
  /// The world has stepped to `at`: correspondents act on what happens until the next step.
  void exchange(SimTime at);
  /// Brings boards and clocks up to date: after each step.
  void show(SimTime now);

  /// Tells all that the run is over, gives them a moment, ends who is left.
  void end(SimTime now);
  [[nodiscard]] const std::string& why_ended() const { return why_ended_; }
  [[nodiscard]] std::vector<ProgramReport> reports(std::vector<std::string>& notes) const;
  void live(RunWatch::Deadlines& sum) const;

 private:
  static constexpr std::size_t links_prepared = 32;  // more are made when they are used
  struct Wait {
    bool waits = false;
    SimTime until;
    std::optional<protocol::Exchange> delayed;  // what it asked for, and is made to ask for later
  };
  struct Member {
    RealtimeProgram program;
    std::string name;
    std::unique_ptr<programs::Process> process;
    std::unique_ptr<programs::Channel> channel;
    std::unique_ptr<RealtimeBoard> board;
    std::vector<std::byte> clock_values;  // read and not wanted
    programs::PerLink<Wait> waits{links_prepared};
    SimTime let_go;  // last
    CpuTime cpu_base;
    CpuSpan cpu;
    bool gone = false;
    bool limit_struck = false;
    std::string ended;
  };
  /// The plant is asked within its present step, also when that is late.
  class InStep final : public ForwardingPlant {
   public:
    InStep(Plant& plant, SimSpan step) : ForwardingPlant(plant), step_(step) {}
    [[nodiscard]] SimTime now(SimTime at) const { return std::clamp(at, time(), time() + step_ - SimSpan::from_ns(1)); }
    SimTime asked(std::uint32_t variable, SimTime at) override { return ForwardingPlant::asked(variable, now(at)); }
    void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
      ForwardingPlant::read(variable, now(at), value);
    }
    Sample sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) override {
      return ForwardingPlant::sample(variable, now(at), room);
    }
    void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
      ForwardingPlant::write(variable, now(at), value);
    }

   private:
    SimSpan step_;
  };
  using Exchange = protocol::Exchange;

  void answer(std::uint32_t who, std::uint32_t link, SimTime now);
  bool held_up(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void act(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void attach(std::uint32_t who, SimTime now, const Exchange& asked);
  void reply(std::uint32_t who, std::uint32_t link, SimTime now);
  void take_notes(SimTime now);
  void let_go(std::uint32_t who, std::uint32_t link, SimTime now);
  void look_for_ends(SimTime now);
  void check_memory(SimTime now);
  void show_clock(Member& m, SimTime now);
  void tell(std::uint32_t who, programs::Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp) override;
  void message(std::uint32_t who, std::uint32_t link, SimTime at) override;
  void begins(std::uint32_t who, SimTime release, SimTime at) override;
  void is_done(std::uint32_t who, SimTime at, SimSpan period, const Releases::Next& next) override;

  InStep plant_;
  SimSpan step_;
  programs::Desk desk_;
  programs::Reply reply_;
  programs::Recorder& recorder_;
  programs::Trouble* trouble_;
  std::string token_;
  programs::SharedMemory bell_memory_;
  protocol::Bell& bell_;
  std::unique_ptr<programs::Keeper> keeper_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::pair<programs::Correspondent*, programs::Post>> correspondents_;
  std::unique_ptr<programs::Watcher> watcher_;
  programs::Happening happening_;  // reused: telling does not allocate
  Notebook notebook_;
  SimTime noted_;  // notes were taken up to then
  std::uint64_t counter_scale_ = 0;
  bool served_first_ = false;  // the thread that serves programs has the right to interrupt them
  WallTime memory_checked_;
  std::string why_ended_;
};

}  // namespace isochron
