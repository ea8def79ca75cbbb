#pragma once
// Nodes as child processes: forking them, watching them, collecting what became of them. Inside flow/ only.
//
// Children share the assembly's arena with the parent; a node's own state lives in its child alone. A child that dies,
// by whatever signal, is noticed by the parent, which ends the others and says who waited for the dead one. Children
// die with their parent.

#include <sys/types.h>

#include <functional>

#include "flow/executor.hpp"
#include "flow/signal_hub.hpp"

namespace isochron::flow {

class Children {
 public:
  Children(Assembly& assembly, const Options& options);

  /// What a child does with its node; exceptions are reported as the node's failure.
  using Life = std::function<void(std::uint32_t node)>;
  /// Forks a child for each node, calls `forked` here, waits for all of them.
  RunReport run(const Life& life, const std::function<void()>& forked = {});

  [[nodiscard]] std::span<NodeStatus> statuses() const { return {statuses_, assembly_.nodes().size()}; }
  [[nodiscard]] RunControl& control() const { return *control_; }

 private:
  struct Text {
    char what[512];
  };
  void fork_one(std::uint32_t node, const Life& life);
  [[noreturn]] void live(std::uint32_t node, const Life& life, pid_t parent);
  void collect();
  void buried(std::uint32_t node, int status);
  bool drain_taps();
  void drain_tap(Channel& channel, Reader& tap);
  void add_failure(std::uint32_t node, std::string what);

  Assembly& assembly_;
  const Options& options_;
  NodeStatus* statuses_;
  RunControl* control_;
  Text* texts_;
  std::vector<pid_t> pids_;  // 0 = has ended
  std::mutex mutex_;
  RunReport report_;
};

}  // namespace isochron::flow
