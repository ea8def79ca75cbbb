#pragma once
// Programs that are executables, on the wall clock. They run when the kernel lets them; one thread, which also steps
// the world, answers what they ask at the time at which it finds the request. Nobody is held back: a program that is
// late is late, and that is counted. What can hang on a program's board (scenario/realtime_board.hpp) is read and
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
#include <string>
#include <vector>

#include "coordinator/channel.hpp"
#include "coordinator/keeper.hpp"
#include "coordinator/per_link.hpp"
#include "coordinator/plant.hpp"
#include "coordinator/process.hpp"
#include "coordinator/recorder.hpp"
#include "coordinator/watcher.hpp"
#include "link/mailbox.hpp"
#include "rt/thread_settings.hpp"
#include "scenario/deadlines.hpp"
#include "scenario/realtime_board.hpp"

namespace isochron {

/// One program as the scenario wants it.
struct RealtimeProgram {
  std::string robot;
  coordinator::ProgramSpec spec;
  std::unique_ptr<Deadlines> deadlines;
};

class RealtimePrograms {
 public:
  /// Starts them all. Throws InputError where one cannot be executed.
  /// `delay`: what a program is made to compute more before the request it stands at; for faults.
  using Delay = std::function<SimSpan(const std::string& program)>;
  RealtimePrograms(std::vector<RealtimeProgram> programs, coordinator::Plant& plant, SimSpan step,
                   coordinator::Recorder& recorder, Delay delay = {});
  ~RealtimePrograms();
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
  /// Takes what programs wrote since the last call to the plant.
  void apply_writes();
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
    enum class For { nothing, time, message, reading, delay } what = For::nothing;
    SimTime until;
    bool periodic = false;
    std::uint32_t from = protocol::anybody;
    std::string type;
    std::size_t capacity = 0;
    std::uint32_t variable = 0;       // that is being read by a sensor that takes its time; or `several`
    protocol::Exchange delayed = {};  // what it asked for
  };
  struct Member {
    RealtimeProgram program;
    std::string name;
    std::unique_ptr<coordinator::Process> process;
    std::unique_ptr<coordinator::Channel> channel;
    std::unique_ptr<RealtimeBoard> board;
    std::vector<std::byte> clock_values;  // read and not wanted
    protocol::Mailbox mailbox;
    coordinator::PerLink<Wait> waits{links_prepared};
    coordinator::PerLink<Releases> releases{links_prepared};
    std::vector<std::string> faults;
    SimTime let_go;  // last
    std::uint64_t letters = 0;
    CpuTime cpu_base;
    CpuSpan cpu;
    bool gone = false;
    bool limit_struck = false;
    std::string ended;
  };
  struct Write {
    std::uint32_t variable = 0;
    SimTime at;
    std::vector<std::byte> value;
  };
  using Exchange = protocol::Exchange;

  void answer(std::uint32_t who, std::uint32_t link, SimTime now);
  void act(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void attach(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void wait(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void bind(Member& m, std::uint32_t link, const Exchange& asked, SimTime now);
  void read(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void write(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void send(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void receive(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void answer_reading(std::uint32_t who, std::uint32_t link, std::uint32_t variable, SimTime now);
  void read_plant(Member& m, std::uint32_t link, std::uint32_t variable, SimTime now, Exchange& exchange);
  void take_notes(SimTime now);
  void keep_write(std::uint32_t who, std::uint32_t variable, SimTime at, std::span<const std::byte> value);
  [[nodiscard]] SimTime in_step(SimTime now) const;
  bool hand_over(std::uint32_t who, std::uint32_t link, SimTime now);
  void let_go(std::uint32_t who, std::uint32_t link, SimTime now);
  void fault(Member& m, SimTime now, const std::string& what);
  void refuse(Member& m, std::uint32_t link, SimTime now, const protocol::Refusal& refusal);
  void look_for_ends(SimTime now);
  void check_memory(SimTime now);
  void show_clock(Member& m, SimTime now);
  void tell(std::uint32_t who, coordinator::Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp = {});
  [[nodiscard]] std::uint32_t find_program(const Member& from, std::string_view name) const;

  coordinator::Plant& plant_;
  SimSpan step_;
  coordinator::Recorder& recorder_;
  Delay delay_;
  std::string token_;
  coordinator::SharedMemory bell_memory_;
  protocol::Bell& bell_;
  std::unique_ptr<coordinator::Keeper> keeper_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<coordinator::Watcher> watcher_;
  coordinator::Happening happening_;  // reused: telling does not allocate
  std::vector<Write> writes_;
  std::size_t writes_used_ = 0;
  Notebook notebook_;
  std::vector<std::byte> asked_;  // a copy of what is to be written
  SimTime noted_;                 // notes were taken up to then
  std::uint64_t counter_scale_ = 0;
  bool served_first_ = false;  // the thread that serves programs has the right to interrupt them
  WallTime memory_checked_;
  std::string why_ended_;
};

}  // namespace isochron
