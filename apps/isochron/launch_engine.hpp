#pragma once
// Where nodes are placed and how they are started when an engine that exists does it: `launch --on slurm` inside an
// allocation, `launch --on mpirun`. The engine starts a shell on a host and carries its words; everything else is as
// with ssh. Nodes that the scenario puts nowhere are dealt out to the engine's hosts in turn, and their addresses are
// chosen here, so that nobody types one. A key is made for the launch where there is none and hosts can be reached by
// others.
//
// Fails: InputError when there is no allocation, or the engine does not answer.

#include <functional>
#include <string>
#include <vector>

#include "apps/isochron/launch_node.hpp"

namespace isochron::app {

/// Addresses for nodes on hosts, no two of them the same in one launch and most likely not in two.
class Addresses {
 public:
  explicit Addresses(const std::string& word) : next_(std::hash<std::string>{}(word) % 20'000) {}
  std::string on(const Host& host);

 private:
  std::size_t next_;
};

/// Changes the flags' shell and the places' hosts; the addresses go into `run.places`, the hosts into `run.hosts`.
void use_engine(LaunchFlags& flags, std::vector<NodePlace>& places, LaunchedRun& run, Addresses& addresses);

/// "a=10.0.0.1:7500;b=…", as nodes on other hosts find it in ISOCHRON_PLACES, and back.
std::string places_text(const std::map<std::string, std::string>& places);
std::map<std::string, std::string> read_places(const std::string& text);

}  // namespace isochron::app
