#pragma once
// Controllers in shared libraries, on the wall clock: each in a real-time thread of its own. At its release it reads
// the world's newest state, computes, and leaves its commands in a ring; the world's thread takes them before its next
// step.
//
// Threads: the owner's for all; the controllers run in theirs.
// Cost:    after set-up no allocation and no lock on our side.
// Fails:   a controller that throws is not called again; fault() says what it said.

#include <memory>
#include <string>
#include <vector>

#include "rt/ring.hpp"
#include "rt/thread.hpp"
#include "run/deadlines.hpp"
#include "run/stage.hpp"
#include "run/zero_hour.hpp"
#include "world/controller.hpp"

namespace isochron {

/// What a real-time thread of a run asks for, by what the scenario says of privileges.
rt::ThreadSettings realtime_thread(std::string name, rt::Priority priority, Rights rights);

class RealtimeControllers {
 public:
  /// Loads them. Throws InputError with all that is wrong.
  RealtimeControllers(const Scenario& scenario, const world::World& world);
  ~RealtimeControllers();

  [[nodiscard]] bool empty() const { return hosted_.empty(); }
  /// Makes their channels and threads, which begin when zero is set. What the threads do without.
  std::vector<rt::Weaker> start(RunRecord& record, const ZeroHour& zero, Rights rights);
  /// What controllers wrote since the last call, to the stage.
  void apply(Stage& stage);
  void stop();

  [[nodiscard]] std::string fault() const;
  [[nodiscard]] std::vector<ProgramReport> reports() const;
  void live(RunWatch::Deadlines& sum) const;

 private:
  struct Written {
    std::uint32_t actuator = 0;
    double value = 0;
  };
  struct Hosted {
    Hosted(std::string name, const ProgramSection& section, const world::World& world);
    void loop(std::stop_token stop, WallTime zero);
    bool call(const world::World& world);

    std::string name;
    const world::World& world;
    SimSpan every, offset, deadline;
    std::unique_ptr<world::Controller> controller;
    world::State state;
    world::Commands commands;
    rt::Ring<Written> ring;
    std::unique_ptr<Deadlines> deadlines;
    std::atomic<bool> faulted{false};
    std::string fault;  // before `faulted` is set
    rt::Thread thread;
  };
  std::vector<std::unique_ptr<Hosted>> hosted_;
};

}  // namespace isochron
