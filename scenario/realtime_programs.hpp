#pragma once
// Programs that are executables, on the wall clock. They run when the kernel lets them; one thread, which also steps
// the world, answers what they ask at the time at which it finds the request. Nobody is held back: a program that is
// late is late, and that is counted.
//
// The library in the program and the pages that it shares with us are those of every other mode, so the program is the
// same. A program with `clock: virtual` needs no interposed clock here: the real one is right.
//
// Threads: owner. Cost: allocates for messages between programs and the first time a value has some size.
// Fails:   a program that ends or breaks a rule is reported in its outcome; why_ended() says when the run must end.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/channel.hpp"
#include "coordinator/keeper.hpp"
#include "coordinator/mailbox.hpp"
#include "coordinator/plant.hpp"
#include "coordinator/process.hpp"
#include "coordinator/recorder.hpp"
#include "coordinator/watcher.hpp"
#include "rt/thread_settings.hpp"
#include "scenario/deadlines.hpp"

namespace isochron {

/// One program as the scenario wants it.
struct RealtimeProgram {
  std::string robot;
  coordinator::ProgramSpec spec;
  SimSpan deadline;  // zero = its period
  std::unique_ptr<Deadlines> deadlines;
};

class RealtimePrograms {
 public:
  /// Starts them all. Throws InputError where one cannot be executed.
  RealtimePrograms(std::vector<RealtimeProgram> programs, coordinator::Plant& plant, SimSpan step,
                   coordinator::Recorder& recorder);
  ~RealtimePrograms();
  RealtimePrograms(const RealtimePrograms&) = delete;
  RealtimePrograms& operator=(const RealtimePrograms&) = delete;

  /// Waits until all have attached, or ended; those with a virtual clock need not. "" or who did not.
  std::string await_attach(WallSpan within, const std::atomic<bool>& stop);
  /// Gives those with a period real-time priorities by their declared ones; what could not be had.
  [[nodiscard]] std::vector<rt::Weaker> prioritise() const;

  /// The doorbell that rings when somebody asks or ends; look at it before serve(), sleep on it after.
  [[nodiscard]] std::atomic<std::uint32_t>& bell() { return bell_.rings; }
  /// Answers all that was asked.
  void serve(SimTime now);
  /// Lets go whoever waits for a time that has come.
  void release(SimTime now);
  /// When release() has something to do next.
  [[nodiscard]] SimTime next_release() const;
  /// Takes what programs wrote since the last call to the plant.
  void apply_writes();

  /// Tells all that the run is over, gives them a moment, ends who is left.
  void end(SimTime now);
  [[nodiscard]] const std::string& why_ended() const { return why_ended_; }
  [[nodiscard]] std::vector<ProgramReport> reports(std::vector<std::string>& notes) const;
  void live(RunWatch::Deadlines& sum) const;

 private:
  struct Wait {
    enum class For { nothing, time, message, reading } what = For::nothing;
    SimTime until;
    bool periodic = false;
    std::uint32_t from = coordinator::anybody;
    std::string type;
    std::size_t capacity = 0;
    std::uint32_t variable = 0;  // that is being read by a sensor that takes its time
  };
  struct Releases {
    SimSpan period;
    SimTime release;
    bool started = false;
  };
  struct Member {
    RealtimeProgram program;
    std::string name;
    std::unique_ptr<coordinator::Process> process;
    std::unique_ptr<coordinator::Channel> channel;
    coordinator::Mailbox mailbox;
    std::array<Wait, protocol::links_max> waits;
    std::array<Releases, protocol::links_max> releases;
    std::vector<std::string> faults;
    std::uint64_t letters = 0;
    CpuTime cpu_base;
    CpuSpan cpu;
    bool gone = false;
    std::string ended;
  };
  struct Write {
    std::uint32_t variable = 0;
    SimTime at;
    std::vector<std::byte> value;
  };
  using Exchange = protocol::Exchange;

  void answer(std::uint32_t who, std::uint32_t link, SimTime now);
  void attach(Member& m, std::uint32_t link, const Exchange& asked, SimTime now);
  void wait(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void bind(Member& m, std::uint32_t link, const Exchange& asked, SimTime now);
  void read(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void write(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void send(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void receive(std::uint32_t who, std::uint32_t link, const Exchange& asked, SimTime now);
  void answer_reading(std::uint32_t who, std::uint32_t link, std::uint32_t variable, SimTime now);
  [[nodiscard]] SimTime in_step(SimTime now) const;
  bool hand_over(std::uint32_t who, std::uint32_t link, SimTime now);
  void let_go(std::uint32_t who, std::uint32_t link, SimTime now);
  void refuse(Member& m, std::uint32_t link, protocol::Verdict verdict, SimTime now, const std::string& why);
  void look_for_ends(SimTime now);
  void show_clock(Member& m, SimTime now);
  void tell(std::uint32_t who, coordinator::Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp = {});
  [[nodiscard]] std::uint32_t find_program(const Member& from, std::string_view name) const;
  [[nodiscard]] std::uint32_t find_variable(const Member& m, std::string_view name) const;

  coordinator::Plant& plant_;
  SimSpan step_;
  coordinator::Recorder& recorder_;
  std::string token_;
  coordinator::SharedMemory bell_memory_;
  protocol::Bell& bell_;
  std::unique_ptr<coordinator::Keeper> keeper_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<coordinator::Watcher> watcher_;
  coordinator::Happening happening_;  // reused: telling does not allocate
  std::vector<Write> writes_;
  std::size_t writes_used_ = 0;
  std::uint64_t counter_scale_ = 0;
  std::string why_ended_;
};

}  // namespace isochron
