#pragma once
// Brings the files of a scenario to the hosts that its nodes are launched on. A file is known by the hash of what is in
// it. A host keeps what it was once brought (~/.cache/isochron/staged), so that only what it does not have is sent; for
// each launch it gets a folder of its own, in which files have the places relative to each other that they have here.
//
//     here ──which of these do you have?──► host ──missing──► here ──their bytes──► host: checks, keeps, copies
//
// Threads: owner thread. Fails: a host that cannot be reached or does not take the files is said and left out; its
// nodes then look for the scenario where it is here, and say what they miss.

#include <map>
#include <string>
#include <vector>

#include "apps/isochron/launch_node.hpp"
#include "scenario/scenario_files.hpp"

namespace isochron::app {

class Staging {
 public:
  /// Brings them, to all hosts at once. `word` tells this launch from others.
  Staging(const LaunchFlags& flags, const Scenario& scenario, const std::vector<NodePlace>& places,
          const std::string& word);
  /// Where the scenario file is on that host; "" = it was not brought there.
  [[nodiscard]] std::string scenario_on(const std::string& host) const;
  /// Bytes that were sent, of all hosts.
  [[nodiscard]] std::size_t sent() const { return sent_; }
  /// The launch's folders there go; what was kept stays.
  void clear() const;

 private:
  struct File {
    std::string path, place, hash;
    std::string content;
    bool secret = false;
  };
  struct Host {
    std::vector<const File*> files;
    bool staged = false;
  };
  const File& read(const NeededFile& needed);
  void gather(const Scenario& scenario, const std::vector<NodePlace>& places);
  void bring();
  [[nodiscard]] std::string question(const Host& host) const;
  [[nodiscard]] std::string delivery(const Host& host, const std::string& missing);

  const LaunchFlags& flags_;
  std::string folder_;                 // there
  std::string scenario_;               // its place
  std::map<std::string, File> files_;  // by place
  std::map<std::string, Host> hosts_;
  std::size_t sent_ = 0;
};

}  // namespace isochron::app
