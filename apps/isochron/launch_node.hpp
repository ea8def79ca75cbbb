#pragma once
// One node's process of a launched run, here or on another host behind a remote shell.
//
// A remote shell is told to start `sh`, which reads a script: ssh joins the words of a command and lets a shell take
// them apart again, others pass them on as they are, and a script means the same to both. It carries the key too, which
// so stands in no list of processes. The node there stops, as with Ctrl-C, when its standard input ends: so it hears
// of our Ctrl-C and does not outlive us, or the connection.
//
// Threads: owner thread. Fails: report() says why in any case.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/link_flags.hpp"
#include "scenario/node_places.hpp"

namespace isochron::app {

struct LaunchFlags {
  std::string file, duration, journal;
  std::string shell = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";
  std::string remote = "isochron";
  std::string remote_folder = "/tmp";
  std::vector<std::string> sets;
  FaultFlags faults;
  bool json = false;
  bool keep = false;
};

class NodeProcess {
 public:
  /// Its files here are `base`.NAME.mcap and .json; `launch` is a word that tells its files there from other launches'.
  NodeProcess(const LaunchFlags& flags, const NodePlace& place, const std::string& base, const std::string& launch);

  [[nodiscard]] bool ended() { return process_.ended(); }
  [[nodiscard]] bool well() const { return process_.well(); }
  /// Ended without having begun: bad input, no such program, a host that does not let us in. The others would wait.
  [[nodiscard]] bool never_began() const;
  /// As with Ctrl-C.
  void stop();
  void kill();
  /// Passes on what it complains about, with its name in front.
  void pass_on();
  [[nodiscard]] int complaints() const { return process_.complaints(); }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// What it printed at its end; an object with `end` and `why` in any case.
  [[nodiscard]] nlohmann::ordered_json report() const;
  /// The journal's place here, once fetch() said that it is here.
  [[nodiscard]] std::string journal() const { return base_ + ".mcap"; }
  bool fetch() const;
  /// Where the journal still is if it could not be fetched: robot.local:/tmp/….
  [[nodiscard]] std::string left_at() const { return host_.empty() ? journal() : host_ + ":" + journal_there_; }
  void forget_files(bool journals) const;

 private:
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] std::optional<std::string> script() const;
  [[nodiscard]] std::vector<std::string> arguments() const;
  [[nodiscard]] std::string why() const;

  const LaunchFlags& flags_;
  std::string name_, host_, base_;
  std::string journal_there_;
  std::string line_;
  std::vector<std::string> last_lines_;
  ChildProcess process_;
};

}  // namespace isochron::app
