#pragma once
// Flags of commands that talk over a network: the key that all share, and simulated faults.

#include <CLI/CLI.hpp>
#include <string>

#include "link/auth.hpp"
#include "link/faults.hpp"
#include "scenario/scenario.hpp"

namespace isochron::app {

struct KeyFlags {
  std::string file;
};
void add_key_flags(CLI::App& verb, KeyFlags& flags);
/// From --key, or $ISOCHRON_KEY. Throws InputError.
link::Key key_of(const KeyFlags& flags);

struct FaultFlags {
  std::string loss, delay, duplicate;
  bool reorder = false;
  std::string seed;
};
void add_fault_flags(CLI::App& verb, FaultFlags& flags);
/// What they change in a scenario.
std::vector<Override> overrides(const FaultFlags& flags);
/// For a command without a scenario. Throws InputError.
link::Faults faults_of(const FaultFlags& flags);

}  // namespace isochron::app
