#pragma once
// A task is a self-contained operation of a robot, in three phases (paper 003): initialise, loop until a condition,
// finalise. A task may run other tasks as steps of its own.
//
//     class Approach : public Task<double> {
//       void initialise() override { robot.write("speed", 1.0); }
//       bool done() override { return range() < 0.5; }
//       void step() override { robot.wait(10ms); }
//       double finalise() override { robot.write("speed", 0.0); return range(); }
//     };
//     const Outcome<double> outcome = run(robot, "approach", task, 20s);
//
// Promises: finalise() is called exactly once, whatever ended the loop: its condition, its time limit, or that of a
//           task around it. Time limits are simulated time, so that a slow target fails them and a busy host does not.
//           What it came to is in the run's journal, as a line of the program's log.
// Requires: step() lets time pass, by waiting, reading a sensor or computing.
// Threads:  owner thread of the robot's link; tasks within tasks on the same thread.
// Fails:    exceptions of the client library pass through; finalise() is not called then, since nobody listens any
// more.

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "client/client.hpp"

namespace isochron::tasks {

template <class Result>
class Task {
 public:
  virtual ~Task() = default;
  virtual void initialise() {}
  /// Asked before each step.
  virtual bool done() = 0;
  virtual void step() = 0;
  virtual Result finalise() = 0;

  /// Figures that belong to the outcome besides the result.
  std::map<std::string, double> metrics;
};

enum class End { done, timed_out };

template <class Result>
struct Outcome {
  Result result;
  End end = End::done;
  SimSpan took;
  std::uint64_t steps = 0;
  std::map<std::string, double> metrics;
  [[nodiscard]] bool ok() const { return end == End::done; }
};

namespace detail {

/// The earliest time limit of the tasks that this thread is in.
inline thread_local SimTime deadline = SimTime::never();

class DeadlineScope {
 public:
  explicit DeadlineScope(SimTime limit) : outer_(deadline) { deadline = std::min(deadline, limit); }
  ~DeadlineScope() { deadline = outer_; }
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

 private:
  SimTime outer_;
};

inline std::string line(const std::string& name, End end, SimSpan took, std::uint64_t steps,
                        const std::map<std::string, double>& metrics) {
  char text[160];
  std::snprintf(text, sizeof text, "task %s %s after %.6f s, %llu steps", name.c_str(),
                end == End::done ? "done" : "timed out", took.seconds(), static_cast<unsigned long long>(steps));
  std::string all = text;
  for (const auto& [key, value] : metrics) {
    std::snprintf(text, sizeof text, ", %s %.6g", key.c_str(), value);
    all += text;
  }
  return all;
}

}  // namespace detail

/// When the tasks that this thread is in must be over.
inline SimTime deadline() { return detail::deadline; }

/// `robot` is a Robot, or whatever else has now() and log().
template <class Machine, class Result>
Outcome<Result> run(Machine& robot, const std::string& name, Task<Result>& task, SimSpan limit = SimSpan::max()) {
  const SimTime start = robot.now();
  const SimTime until = limit == SimSpan::max() ? SimTime::never() : start + limit;
  const detail::DeadlineScope scope(until);
  End end = End::done;
  std::uint64_t steps = 0;
  task.initialise();
  while (!task.done()) {
    if (robot.now() >= deadline()) {
      end = End::timed_out;
      break;
    }
    task.step();
    ++steps;
  }
  Result result = task.finalise();
  const SimSpan took = robot.now() - start;
  robot.log(detail::line(name, end, took, steps, task.metrics));
  return {std::move(result), end, took, steps, task.metrics};
}

}  // namespace isochron::tasks
