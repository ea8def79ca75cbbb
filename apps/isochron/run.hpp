#pragma once
// What `run` and `serve` share: their flags, and a run from a file to its summary and exit code.

#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/command.hpp"
#include "apps/isochron/link_flags.hpp"
#include "run/run.hpp"

namespace isochron::app {

struct RunFlags {
  std::string file;
  std::vector<std::string> sets;
  std::string duration, seed, pace, cpu_speed, journal;
  std::string node;    // of `run` only
  std::string system;  // of `run` only: a file that describes the whole system of nodes
  FaultFlags faults;
  bool json = false;
  bool quiet = false;
  bool output = false;
  bool trust = false;
  bool until_stdin_ends = false;              // of `run` only
  std::optional<std::uint16_t> metrics = {};  // of `run` only: the port
};
void add_run_flags(CLI::App& verb, RunFlags& flags);

/// The scenario that the flags name, if it is trusted.
Scenario scenario_of(const RunFlags& flags, const std::vector<Override>& more = {});
/// `more` is set after what the flags say.
int run_file(const RunFlags& flags, const std::vector<Override>& more, RunOptions options);

}  // namespace isochron::app
