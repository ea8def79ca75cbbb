#include "flow/dynamic_node.hpp"

#include <cstring>

#include "flow/definition.hpp"

namespace isochron::flow {

std::uint32_t DynamicNode::add_input(std::string name, const PayloadType& type) {
  const InPort::Consume consume = [](UserNode& self, InPort& port, const void* payload, SimTime t) {
    static_cast<DynamicNode&>(self).heard(port.id.index, payload, t);
  };
  return UserNode::add_input(std::move(name), type, consume).id.index;
}

std::uint32_t DynamicNode::add_output(OutputInfo info) {
  const OutPort::Emit emit = [](UserNode& self, OutPort& port, void* payload, SimTime t) {
    static_cast<DynamicNode&>(self).fill(port.index, payload, t);
  };
  const OutPort::Emit emit_with_gaps = [](UserNode& self, OutPort& port, void* payload, SimTime t) {
    static_cast<DynamicNode&>(self).fill(port.index, payload, t);
    clear_gaps(*port.info.type, payload);
  };
  const bool event = info.kind == FlowKind::event;
  const bool gaps = !event && info.type->definition != nullptr && has_gaps(*info.type);
  return UserNode::add_output(std::move(info), event ? nullptr : gaps ? emit_with_gaps : emit).index;
}

void DynamicNode::send_event(std::uint32_t output, SimTime t, std::span<const std::byte> message) {
  OutPort& port = outputs_[output];
  const PayloadType& type = *port.info.type;
  if (type.flat && message.size() != type.size) {
    throw std::runtime_error("event flow " + port.info.name + ": a message of " + std::to_string(message.size()) +
                             " bytes; a " + type.name + " has " + std::to_string(type.size));
  }
  void* payload = hold_event(port, t);
  if (type.flat) {
    std::memcpy(payload, message.data(), message.size());
    clear_gaps(type, payload);
  } else {
    static_cast<PlainBytes*>(payload)->cdr.assign(message.begin(), message.end());
  }
}

bool DynamicNode::send_cdr(std::uint32_t output, SimTime t, std::span<const std::byte> cdr) {
  const PayloadType& type = *outputs_[output].info.type;
  if (!type.flat) return send_event(output, t, cdr), true;
  std::vector<std::byte> value(type.size);
  if (!type.decode(value.data(), cdr)) return false;
  send_event(output, t, value);
  return true;
}

OutPort& DynamicNode::periodic(std::int64_t output) {
  const bool there = output >= 0 && static_cast<std::size_t>(output) < outputs_.size() &&
                     outputs_[static_cast<std::size_t>(output)].info.kind != FlowKind::event;
  if (!there) throw std::runtime_error("output " + std::to_string(output) + " has no period");
  return outputs_[static_cast<std::size_t>(output)];
}

}  // namespace isochron::flow
