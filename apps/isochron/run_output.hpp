#pragma once
// What `run` and `join` share: their flags, and how a run is shown while it goes and when it has ended.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "scenario/run.hpp"

namespace isochron::app {

struct RunFlags {
  std::string file;
  std::vector<std::string> sets;
  std::string duration, seed, pace, cpu_speed, journal;
  bool json = false;
  bool quiet = false;
};
void add_run_flags(CLI::App& verb, RunFlags& flags);
/// Throws InputError.
std::vector<Override> overrides(const RunFlags& flags);

using Runner = std::function<RunReport(const RunOptions&, Clock&, Disk&, RunWatch&)>;
/// Runs it, stops it at Ctrl-C, prints what came of it; the exit code.
int show_run(const RunFlags& flags, const Scenario& scenario, const Runner& runner);

}  // namespace isochron::app
