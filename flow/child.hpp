#pragma once
// Nodes as child processes: forking them, watching them, collecting what became of them. Inside flow/ only.
//
// A child runs one node, or several where there are more nodes than processes (its group; neighbours in the order of
// declaration). Children share the assembly's arena with the parent; a node's own state lives in its child alone. What
// nodes send goes through a ring to the parent's observer (sent_ring.hpp). A child that dies, by whatever signal, is
// noticed by the parent, which ends the others and says who waited for the dead one. One that does not end when it is
// told to is killed. Children die with their parent.

#include <sys/types.h>

#include <functional>

#include "flow/executor.hpp"
#include "flow/sent_ring.hpp"
#include "flow/signal_hub.hpp"

namespace isochron::flow {

class Children {
 public:
  /// At most so many processes.
  Children(Assembly& assembly, const Options& options, std::uint32_t processes);

  /// The nodes of one process; the first one leads.
  using Group = std::vector<std::uint32_t>;
  /// What a child does with its nodes; exceptions are reported as the failure of the node that runs.
  using Life = std::function<void(const Group& group)>;
  /// Forks the children, calls `forked` here, waits for all of them.
  RunReport run(const Life& life, const std::function<void()>& forked = {});

  [[nodiscard]] std::span<NodeStatus> statuses() const { return {statuses_, assembly_.nodes().size()}; }
  [[nodiscard]] RunControl& control() const { return *control_; }
  [[nodiscard]] std::size_t count() const { return groups_.size(); }
  /// Of each node.
  [[nodiscard]] std::span<const std::uint32_t> leaders() const { return leaders_; }

 private:
  struct Text {
    char what[512];
  };
  void make_rings();
  void fork_one(std::size_t child, const Life& life);
  [[noreturn]] void live(std::size_t child, const Life& life, pid_t parent);
  void collect();
  std::size_t bury_the_dead();
  void kill_who_does_not_end();
  void buried(std::size_t child, int status);
  bool take_sent();
  void add_failure(std::uint32_t node, std::string what);
  /// The node that a child runs, or ran last.
  [[nodiscard]] std::uint32_t running(std::size_t child) const;

  Assembly& assembly_;
  const Options& options_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> leaders_;
  NodeStatus* statuses_;
  RunControl* control_;
  Text* texts_;                            // by child
  std::vector<SentRing*> rings_;           // by child, if there is a observer
  std::vector<SentReader> readers_;        // of the rings
  std::vector<const PayloadType*> types_;  // by flow
  std::vector<pid_t> pids_;                // 0 = has ended
  std::optional<WallTime> ended_at_;       // when the children were told to end
  bool killed_ = false;
  std::mutex mutex_;
  RunReport report_;
};

}  // namespace isochron::flow
