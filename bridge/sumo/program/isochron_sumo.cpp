// SUMO as a node, in a process of its own: started by a run, which tells it what to do over ISOCHRON_NODE_FD
// (docs/node_protocol.md). Without that it says which SUMO it was built with.

#include <libsumo/libsumo.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bridge/sumo/node.hpp"
#include "bridge/sumo/program/simulation.hpp"
#include "client/node/isochron_node_program.h"
#include "core/cdr.hpp"
#include "core/schema.hpp"

namespace isochron::sumo {
namespace {

template <class M>
std::string type_of() {
  return std::string(message_name<M>()) + "\n" + ros2msg_schema<M>();
}

class SumoNode {
 public:
  SumoNode(const isochron_host& host, isochron_node* node) : host_(host), node_(node) {}

  void create() {
    const char* text = host_.parameter(node_, "spec");
    spec_ = spec_of_json(text == nullptr ? "" : text);
    simulation_ = std::make_unique<Simulation>(spec_);
    for (const std::string& name : spec_.listens) {
      host_.input(node_, name.c_str(), type_of<AgentStates>().c_str(), &SumoNode::heard);
    }
    if (spec_.signals) host_.input(node_, signals_flow, type_of<SignalStates>().c_str(), &SumoNode::heard);
    add_output<AgentStates>(states_flow);
    add_output<SignalStates>(signals_flow);
    add_output<Traffic>(traffic_flow);
  }

  static void heard(void* self, std::int32_t input, const void* message, std::size_t size, std::int64_t) {
    SumoNode& node = *static_cast<SumoNode*>(self);
    const std::span bytes(static_cast<const std::byte*>(message), size);
    node.guarded([&] {
      if (static_cast<std::size_t>(input) < node.spec_.listens.size()) {
        node.take<AgentStates>(bytes);
      } else {
        node.take<SignalStates>(bytes);
      }
    });
  }
  static void destroy(void* self) { delete static_cast<SumoNode*>(self); }

 private:
  template <class M>
  void add_output(const char* name) {
    const std::string type = type_of<M>();
    isochron_output output{};
    output.name = name;
    output.type = type.c_str();
    output.kind = ISOCHRON_PREDICTIVE;
    output.period_ns = spec_.step_ns;
    output.fill = [](void* self, std::int32_t, void*, std::size_t, std::int64_t time_ns) {
      static_cast<SumoNode*>(self)->fill<M>(SimTime::from_ns(time_ns));
    };
    host_.output(node_, &output);
  }
  template <class M>
  void take(std::span<const std::byte> bytes) {
    const auto read = cdr_read<M>(bytes);
    if (!read) throw std::runtime_error("a message that cannot be read");
    simulation_->hear(*read);
  }
  /// Whichever output comes first at `now` takes the step.
  template <class M>
  void fill(SimTime now) {
    guarded([&] {
      if (now > at_) simulation_->step(now);
      at_ = now;
      M message;
      simulation_->fill(message, now);
      const std::size_t size = cdr_size(message);
      cdr_write(message, {static_cast<std::byte*>(host_.room(node_, size)), size});
    });
  }
  /// Nothing is thrown into C.
  template <class F>
  void guarded(F&& what) {
    try {
      what();
    } catch (const std::exception& error) {
      host_.fail(node_, (std::string("SUMO: ") + error.what()).c_str());
    }
  }

  const isochron_host& host_;
  isochron_node* node_;
  NodeSpec spec_;
  std::unique_ptr<Simulation> simulation_;
  SimTime at_;
};

void* create(const isochron_host* host, isochron_node* node) {
  auto made = std::make_unique<SumoNode>(*host, node);
  try {
    made->create();
    return made.release();
  } catch (const std::exception& error) {
    host->fail(node, error.what());
    return nullptr;
  }
}

}  // namespace
}  // namespace isochron::sumo

int main() {
  if (std::getenv("ISOCHRON_NODE_FD") == nullptr) {
    std::printf("%s, for nodes of `isochron run`\n", libsumo::Simulation::getVersion().second.c_str());
    return 0;
  }
  static const isochron_node_type type{
      "Sumo", "a SUMO simulation", &isochron::sumo::create, nullptr, nullptr, &isochron::sumo::SumoNode::destroy};
  static const isochron_node_list list{ISOCHRON_NODE_ABI, 1, &type};
  return isochron_node_main(&list);
}
