#include "run/ros_node.hpp"
#include "core/log.hpp"

#include <algorithm>

namespace isochron {
namespace {

constexpr std::uint32_t room_for_events = 16;

const flow::OutputInfo* output_called(const flow::Graph& graph, const std::string& name) {
  for (const flow::NodeInfo& node : graph.nodes) {
    for (const flow::OutputInfo& output : node.outputs) {
      if (node.name + "." + output.name == name) return &output;
    }
  }
  return nullptr;
}

std::vector<RosFlow> flows_of(const flow::Graph& graph) {
  std::vector<RosFlow> flows;
  for (const flow::NodeInfo& node : graph.nodes) {
    for (const flow::OutputInfo& output : node.outputs) {
      const bool message = !output.type->schema.empty() && output.type->name.find("/msg/") != std::string::npos;
      flows.push_back({node.name + "." + output.name, output.type->name, message});
    }
  }
  return flows;
}

std::unique_ptr<WorldMirror> mirror_of(const Scenario& scenario) {
  return scenario.world ? std::make_unique<WorldMirror>(scenario) : nullptr;
}

RosEyes eyes_of(WorldMirror* mirror) {
  return mirror != nullptr ? RosEyes{&mirror->stage(), &mirror->plant()} : RosEyes{};
}

}  // namespace

RosNode::RosNode(const Scenario& scenario, const RosPart& part, const flow::Graph& graph, const PlanOutside* outside)
    : outside_(outside),
      mirror_(mirror_of(scenario)),
      bridge_(scenario, part, flows_of(graph), eyes_of(mirror_.get())) {
  if (mirror_) {
    input<&RosNode::saw>("world");
    writables_ = writables_of(mirror_->plant());
  }
  for (const RosBridge::Heard& flow : bridge_.flows()) {
    (void)add_input(flow.entry, *output_called(graph, flow.flow)->type);
  }
  if (part.writes()) writes_ = event<WorldWrites>("writes", SimSpan::zero(), room_for_events);
  const auto add_event = [this](const std::string& name, SimSpan delay, const flow::PayloadType& type) {
    return add_output({name, flow::FlowKind::event, {}, {}, delay, room_for_events, &type}, nullptr);
  };
  first_ = static_cast<std::uint32_t>(output_count());
  for (const auto& heard : bridge_.subscriptions()) add_event(heard.name, heard.delay, *heard.type);
  log_ = add_event("log", SimSpan::zero(), bridge_.log_type());
  output<&RosNode::tick>("tick", flow::observes(bridge_.every()));
}

void RosNode::start(SimTime) {
  ENSURE(outside_ != nullptr, "a plan without an outside is only for checking");
  bridge_.open(outside_->watch, outside_->clock);
}

void RosNode::finish(SimTime) { bridge_.close(); }

void RosNode::heard(std::uint32_t input, const void* payload, SimTime) {
  const flow::PayloadType& type = input_type(input);
  bridge_.heard(input - (mirror_ ? 1 : 0), type.encoded_size(payload),
                [&](std::span<std::byte> room) { type.encode(payload, room); });
}

void RosNode::tick(Tick& tick, SimTime now) {
  ++tick.number;
  outside_->watch.control().hold(now, outside_->clock, outside_->watch.stop_flag());
  bridge_.tick(now, *this);
}

void RosNode::took(std::size_t subscription, SimTime at, std::span<const std::byte> cdr) {
  const auto output = static_cast<std::uint32_t>(first_ + subscription);
  if (send_cdr(output, at, cdr)) return;
  warn(bridge_.name(), "what came for " + std::string(output_info(output).name) + " is no " +
                           std::string(output_type(output).name) + "; dropped");
}

void RosNode::write(std::uint32_t variable, SimTime at, std::span<const double> values) {
  writes_->fill(at, [&](WorldWrites& out) {
    out.variables.assign(1, static_cast<std::uint32_t>(std::ranges::find(writables_, variable) - writables_.begin()));
    out.values.assign(values.begin(), values.end());
  });
}

void RosNode::said(SimTime at, std::span<const std::byte> log) { send_event(log_, at, log); }

}  // namespace isochron
