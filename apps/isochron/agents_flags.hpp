#pragma once
// Flags that `serve agents` and `join` share: the key, and simulated faults.

#include <CLI/CLI.hpp>
#include <string>

#include "link/auth.hpp"
#include "link/faults.hpp"

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
  std::uint64_t seed = 1;
};
void add_fault_flags(CLI::App& verb, FaultFlags& flags);
/// Those given, on top of `faults`. Throws InputError.
link::Faults faults_of(const FaultFlags& flags, link::Faults faults);

}  // namespace isochron::app
