#include "flow/user_node.hpp"

#include "core/ensure.hpp"
#include "core/time_text.hpp"

namespace isochron::flow {

InPort& UserNode::add_input(std::string name, const PayloadType& type, InPort::Consume consume) {
  const auto index = static_cast<std::uint32_t>(inputs_.size());
  inputs_.push_back({{std::move(name), &type}, consume, {index}, nullptr, {}});
  return inputs_.back();
}

OutPort& UserNode::add_output(OutputInfo info, OutPort::Emit emit) {
  const auto index = static_cast<std::uint32_t>(outputs_.size());
  outputs_.push_back({std::move(info), emit, this, {}, nullptr, index});
  return outputs_.back();
}

void* UserNode::hold_event(OutPort& port, SimTime t) {
  ENSURE(port.hold != nullptr, "an event was sent while the system was not running");
  if (t < now_ + port.info.lookahead) {
    throw std::runtime_error("event flow " + port.info.name + ": an event at " + to_string(t) + ", sent at " +
                             to_string(now_) + "; with its lookahead of " + to_string(port.info.lookahead) +
                             " it must come at " + to_string(now_ + port.info.lookahead) + " or later");
  }
  sent_events_ = true;
  return port.hold->add(t);
}

}  // namespace isochron::flow
