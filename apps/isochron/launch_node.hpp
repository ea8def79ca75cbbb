#pragma once
// One node's process of a launched run, here or on another host behind a remote shell.
//
// A remote shell is told to start `sh`, which reads a script: ssh joins the words of a command and lets a shell take
// them apart again, others pass them on as they are, and a script means the same to both. It carries the key too, which
// so stands in no list of processes. The node there stops, as with Ctrl-C, when its standard input ends: so it hears
// of our Ctrl-C and does not outlive us, or the connection.
//
// A node that prints does not disturb: its words come with its complaints, the report alone goes into its file.
//
// Threads: owner thread. Fails: report() says why in any case.

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/link_flags.hpp"
#include "scenario/node_places.hpp"
#include "scenario/run.hpp"

namespace isochron::app {

struct LaunchFlags {
  std::string file, duration, journal;
  bool trust = false;
  std::string shell = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";
  std::string remote = "isochron";
  std::string on = "ssh";  // the engine that starts nodes on hosts
  std::string hosts;       // of --on mpirun
  std::string remote_folder = "/tmp";
  std::vector<std::string> sets;
  FaultFlags faults;
  std::vector<std::string> stage;  // files to take along too
  bool in_place = false;           // the files are on the hosts already
  bool json = false;
  bool keep = false;
};

/// How to start a shell on a host that reads a script.
std::vector<std::string> remote_words(const LaunchFlags& flags, const std::string& host);
/// As a shell takes it for one word, whatever is in it.
std::string quoted(const std::string& word);

/// What all nodes of a launch have in common.
struct LaunchedRun {
  const Scenario& scenario;
  flow::Graph graph;                           // of the whole system
  std::map<std::string, std::string> places;   // where the nodes of this machine listen
  std::map<std::string, std::string> machine;  // recorded with each
  std::string system;                          // the graph as text, for other hosts
  std::string base;                            // files of a node here are base.NAME.mcap and .json
  std::string word;                            // tells its files on other hosts from other launches'
  std::map<std::string, std::string> staged;   // the scenario file, by host, where it was brought there
};

class NodeProcess {
 public:
  /// A node of this machine is a copy of this process: the scenario is read and the system is known already, so that
  /// hundreds start in seconds, and each makes its own node only.
  NodeProcess(const LaunchFlags& flags, const NodePlace& place, const LaunchedRun& run);

  [[nodiscard]] bool ended() { return process_->ended(); }
  [[nodiscard]] bool well() const { return process_->well(); }
  /// Ended without having begun: bad input, no such program, a host that does not let us in. The others would wait.
  [[nodiscard]] bool never_began() const;
  /// As with Ctrl-C.
  void stop();
  void kill();
  /// Passes on what it complains about, with its name in front.
  void pass_on();
  [[nodiscard]] int complaints() const { return silent_ ? -1 : process_->complaints(); }
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
  [[nodiscard]] std::unique_ptr<ChildProcess> start(const LaunchedRun& run) const;
  [[nodiscard]] int live(const LaunchedRun& run) const;
  [[nodiscard]] std::vector<std::string> words() const { return remote_words(flags_, host_); }
  [[nodiscard]] std::optional<std::string> script() const;
  [[nodiscard]] std::vector<std::string> arguments() const;
  [[nodiscard]] std::string why() const;

  const LaunchFlags& flags_;
  std::string name_, host_, base_;
  std::string file_there_, journal_there_, system_there_;
  std::string system_;  // as text
  std::string places_;  // as ISOCHRON_PLACES has them
  std::string line_;
  bool silent_ = false;  // its complaints have ended
  std::vector<std::string> last_lines_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace isochron::app
