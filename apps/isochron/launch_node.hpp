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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/launch_line.hpp"
#include "apps/isochron/link_flags.hpp"
#include "run/node_places.hpp"
#include "run/run.hpp"

namespace isochron::app {

struct LaunchFlags {
  std::string file, duration, journal;
  bool trust = false;
  std::string shell = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";
  std::string remote = "isochron";
  std::string on = "ssh";  // the engine that starts nodes on hosts
  std::string hosts;       // of --on mpirun, and where lost nodes are started again
  std::string remote_folder = "/tmp";
  std::vector<std::string> sets;
  FaultFlags faults;
  std::vector<std::string> stage;  // files to take along too
  bool in_place = false;           // the files are on the hosts already
  std::string restarts;            // as the scenario's network.restarts
  bool json = false;
  bool keep = false;
};

/// How to start a shell on a host that reads a script.
std::vector<std::string> remote_words(const LaunchFlags& flags, const std::string& host);
/// As a shell takes it for one word, whatever is in it.
std::string quoted(const std::string& word);

struct Host {
  std::string name;     // as the engine calls it
  std::string address;  // as others reach it
};

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
  std::vector<Host> hosts = {};                // where nodes may be started, if the engine or --hosts says so
};

class NodeProcess {
 public:
  /// A node of this machine is a copy of this process: the scenario is read and the system is known already, so that
  /// hundreds start in seconds, and each makes its own node only. With terms it keeps what it sends for nodes that are
  /// started again, and may be one itself.
  NodeProcess(const LaunchFlags& flags, const NodePlace& place, const LaunchedRun& run,
              std::optional<LaunchTerms> terms);

  [[nodiscard]] bool ended() { return process_->ended(); }
  [[nodiscard]] bool well() const { return process_->well(); }
  /// Ended without having begun: bad input, no such program, a host that does not let us in. The others would wait.
  [[nodiscard]] bool never_began() const;
  /// Killed, or cut off: it has not ended by itself, and another one in its place may do better. Requires: ended(), and
  /// all that it said passed on.
  [[nodiscard]] bool lost() const;
  /// It has done its work, and stays for the others.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Of whom it heard nothing any more, since the last call.
  [[nodiscard]] std::vector<std::string> take_missing() { return std::exchange(missing_, {}); }
  void tell(const std::string& line) const { process_->tell(line); }
  /// As with Ctrl-C.
  void stop();
  void kill();
  /// Passes on what it complains about, with its name in front.
  void pass_on();
  [[nodiscard]] int complaints() const { return silent_ ? -1 : process_->complaints(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& host() const { return host_; }
  /// "its process was killed: Killed", and what it said last. Requires: ended().
  [[nodiscard]] std::string why() const;

  /// What it printed at its end; an object with `end` and `why` in any case.
  [[nodiscard]] nlohmann::ordered_json report() const;
  /// The journal's place here, once fetch() said that it is here.
  [[nodiscard]] std::string journal() const { return base_ + ".mcap"; }
  bool fetch() const;
  /// Where the journal still is if it could not be fetched: robot.local:/tmp/….
  [[nodiscard]] std::string left_at() const { return host_.empty() ? journal() : host_ + ":" + journal_there_; }
  void forget_files(bool journals) const;
  /// What it has left behind on its host goes, as well as that can be.
  void clean_up() const;

 private:
  [[nodiscard]] std::unique_ptr<ChildProcess> start(const LaunchedRun& run) const;
  [[nodiscard]] int live(const LaunchedRun& run) const;
  [[nodiscard]] std::vector<std::string> words() const { return remote_words(flags_, host_); }
  [[nodiscard]] std::optional<std::string> script() const;
  [[nodiscard]] std::vector<std::string> arguments() const;

  const LaunchFlags& flags_;
  std::string name_, host_;
  std::optional<LaunchTerms> terms_;
  std::string base_;
  std::string file_there_, journal_there_, system_there_;
  std::string system_;  // as text
  std::string places_;  // as ISOCHRON_PLACES has them
  std::string line_;
  bool silent_ = false;  // its complaints have ended
  bool began_ = false, finished_ = false;
  std::vector<std::string> missing_;
  std::vector<std::string> last_lines_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace isochron::app
