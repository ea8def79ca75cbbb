#pragma once
// A system: named nodes and the connections between their ports. It is built once, checked, and then run by one of the
// executors (run.hpp).
//
//     flow::System system;
//     system.add<Planet>("yellow", …);
//     system.connect("yellow.position", "red.pull");
//     auto outcome = flow::run(system, {.until = SimTime::zero() + 100s});
//
// Requires: nodes are added and connected before the first run.
// Fails:    add and connect throw InputError for names that do not exist or exist twice.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flow/graph.hpp"
#include "flow/user_node.hpp"

namespace isochron::flow {

class System {
 public:
  System();
  ~System();
  System(System&&) noexcept;
  System& operator=(System&&) noexcept;

  UserNode& add(std::string name, std::unique_ptr<UserNode> node);
  template <std::derived_from<UserNode> N, class... Args>
  N& add(std::string name, Args&&... args) {
    auto node = std::make_unique<N>(std::forward<Args>(args)...);
    N& added = *node;
    add(std::move(name), std::move(node));
    return added;
  }
  /// "node.output", "node.input".
  void connect(std::string_view output, std::string_view input);
  void connect(PortRef output, PortRef input);
  /// "node.output". Throws InputError if there is none.
  [[nodiscard]] PortRef find_output(std::string_view output) const { return find(output, true); }
  /// Nothing is stamped earlier; zero unless set.
  void set_start(SimTime start) { graph_.start = start; }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] UserNode& node(std::uint32_t index) const { return *nodes_[index]; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }

  /// The flows in the order of their declaration.
  [[nodiscard]] std::vector<PortRef> flows() const;
  [[nodiscard]] std::uint32_t flow_count() const { return flow_count_; }

  /// Changes what the output's class declared: a scenario may set period, first time, capacity or lookahead.
  void set_output(PortRef port, const OutputInfo& info);

 private:
  PortRef find(std::string_view text, bool output) const;

  Graph graph_;
  std::vector<std::unique_ptr<UserNode>> nodes_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::uint32_t flow_count_ = 0;
};

}  // namespace isochron::flow
