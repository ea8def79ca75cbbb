#include "apps/isochron/run_watched.hpp"

#include <thread>

#include "apps/isochron/command.hpp"
#include "apps/isochron/interrupts.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "run/wall_clock.hpp"

namespace isochron::app {
namespace {

std::atomic<RunWatch*> watched{nullptr};
void stop_watched() {
  if (RunWatch* watch = watched.load()) watch->stop();
}

/// "  missed 3 deadlines, late 52us (p99), 1.2ms (max)"; "" where nobody is on the wall clock.
std::string deadlines_text(const RunWatch& watch) {
  const auto deadlines = watch.deadlines();
  if (!deadlines) return "";
  return "  missed " + std::to_string(deadlines->missed) + " deadlines, late " +
         format_ns_short(deadlines->late_p99.ns()) + " (p99), " + format_ns_short(deadlines->late_max.ns()) + " (max)";
}

/// Shows how far the run is, until it goes out of scope.
class ProgressDisplay {
 public:
  ProgressDisplay(const RunWatch& watch, SimSpan duration)
      : thread_([this, &watch, duration] { show(watch, duration); }) {}
  ~ProgressDisplay() {
    done_.store(true);
    thread_.join();
  }

 private:
  void show(const RunWatch& watch, SimSpan duration) {
    StatusLine line;
    const auto start = std::chrono::steady_clock::now();
    while (!done_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double sim = watch.time().seconds();
      char text[240];
      std::snprintf(text, sizeof text, "%5.1f %%  %.2f of %.2f s simulated  %.2fx real time  drift %s%s",
                    100 * sim / duration.seconds(), sim, duration.seconds(), sim / wall,
                    format_ns_short(watch.drift().ns()).c_str(), deadlines_text(watch).c_str());
      line.show(text);
    }
  }
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace

std::map<std::string, std::string> machine_notes() {
  std::map<std::string, std::string> notes;
  const nlohmann::ordered_json machine = describe_machine();
  for (auto entry = machine.begin(); entry != machine.end(); ++entry) {
    notes[entry.key()] = entry->is_string() ? entry->get<std::string>() : entry->dump();
  }
  return notes;
}

RunReport run_watched(const Scenario& scenario, RunOptions options, bool show_progress) {
  RunWatch watch;
  return run_watched(scenario, std::move(options), show_progress, watch);
}

RunReport run_watched(const Scenario& scenario, RunOptions options, bool show_progress, RunWatch& watch) {
  WallClock clock;
  PosixDisk disk;
  watched = &watch;
  on_interrupt(stop_watched);
  if (options.machine.empty()) options.machine = machine_notes();
  RunReport report;
  {
    std::optional<ProgressDisplay> display;
    if (show_progress) display.emplace(watch, scenario.duration);
    report = run_scenario(scenario, options, clock, disk, watch);
  }
  watched = nullptr;
  return report;
}

int exit_code(const RunReport& report) {
  switch (report.end) {
    case RunReport::End::finished:
      return expect::all_held(report.expectations) ? exit_fine : exit_no;
    case RunReport::End::violated:
      return exit_no;
    case RunReport::End::interrupted:
      return exit_interrupted;
    case RunReport::End::failed:
      return exit_failed;
  }
  return exit_failed;
}

}  // namespace isochron::app
