#pragma once
// Watches over the nodes of a launch until all have ended. What they say is passed on. When one has failed the others
// notice by themselves and say whom they waited for; who does not is told to stop, and killed if that does not help.
//
// A node that is lost (killed, or its host is gone) is started again where the scenario's `network.restarts` allows it:
// on the next of the launch's hosts if there are several, else where it was. It begins from nothing, and the others let
// it catch up (run/rendezvous.hpp). Nobody leaves before all have finished.
//
// Threads: owner thread.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apps/isochron/accusations.hpp"
#include "apps/isochron/launch_engine.hpp"
#include "apps/isochron/launch_node.hpp"
#include "apps/isochron/staging.hpp"

namespace isochron::app {

/// Ports of this machine that nobody else gets while this lives: a socket is bound to each and does not listen, so that
/// a node of ours can. Several launches at once do not meet.
class Ports {
 public:
  Ports() = default;
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;
  /// 127.0.0.1:40123.
  std::string take();

 private:
  std::vector<int> sockets_;
};

class LaunchWatch {
 public:
  using Nodes = std::vector<std::unique_ptr<NodeProcess>>;
  struct Restart {
    std::string node, why, host;
    double after_s = 0;  // since the launch
  };

  /// The places change with the nodes that are started elsewhere.
  LaunchWatch(const LaunchFlags& flags, LaunchedRun& run, std::vector<NodePlace> places, Addresses& addresses,
              Ports& ports);
  /// Starts all nodes and returns when all have ended.
  void run();

  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Restart>& restarts() const { return restarts_; }
  /// Files that lost nodes have left on their hosts go, and those that were brought for new ones.
  void clear() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Life {
    std::uint32_t number = 0;
    Time since;
  };
  [[nodiscard]] bool watch_once();
  void start(std::size_t node);
  void look_for_lost();
  void look_for_missing();
  void start_again(std::size_t node);
  void give_up(std::size_t node, const std::string& why);
  [[nodiscard]] std::string too_often() const;
  void settle(NodePlace& place);
  void tell_the_end();
  void end_what_failed();
  void stop();
  void tell_all(const std::string& line) const;

  const LaunchFlags& flags_;
  LaunchedRun& run_;
  std::vector<NodePlace> places_;
  Addresses& addresses_;
  Ports& ports_;
  std::chrono::nanoseconds patience_;
  Nodes nodes_;
  std::vector<Life> lives_;  // by node
  Nodes lost_;
  Accusations accusations_;
  std::vector<std::unique_ptr<Staging>> stagings_;
  std::vector<Restart> restarts_;
  bool over_ = false;  // all know that nobody is started again any more
  int interrupts_ = 0;
  Time began_, stop_at_ = Time::max(), kill_at_ = Time::max();
};

}  // namespace isochron::app
