#pragma once
// A node whose ports are made while the program runs, because it is written in another language: the common part of
// nodes behind the C interface (c_node.cpp) and of nodes that are programs (program_node.hpp).
//
// Requires: add_input() and add_output() in the constructor and not afterwards.
// Threads:  as UserNode.

#include "flow/user_node.hpp"

namespace isochron::flow {

class DynamicNode : public UserNode {
 protected:
  /// A message came.
  virtual void heard(std::uint32_t input, const void* payload, SimTime t) = 0;
  /// A message is due: sets all of it.
  virtual void fill(std::uint32_t output, void* payload, SimTime t) = 0;

  std::uint32_t add_input(std::string name, const PayloadType& type);
  std::uint32_t add_output(OutputInfo info);
  /// The same for who is called without a detour over heard() and fill(). Null: keep the latest only; an event.
  std::uint32_t add_input(std::string name, const PayloadType& type, InPort::Consume consume) {
    return UserNode::add_input(std::move(name), type, consume).id.index;
  }
  std::uint32_t add_output(OutputInfo info, OutPort::Emit emit) {
    return UserNode::add_output(std::move(info), emit).index;
  }

  [[nodiscard]] const PayloadType& input_type(std::uint32_t input) const { return *inputs_[input].info.type; }
  [[nodiscard]] const PayloadType& output_type(std::uint32_t output) const { return *outputs_[output].info.type; }
  [[nodiscard]] const OutputInfo& output_info(std::uint32_t output) const { return outputs_[output].info; }
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  struct Latest {
    const void* payload;  // null = nothing came
    SimTime time;
  };
  [[nodiscard]] Latest latest_of(std::uint32_t input) const {
    return {inputs_[input].latest, inputs_[input].latest_time};
  }
  /// As it lies in memory if its type is flat, else as CDR. Fails: throws if it is too early, or no such message.
  void send_event(std::uint32_t output, SimTime t, std::span<const std::byte> message);
  /// The same of CDR, however the type lies in memory. False: it is no such message, and nothing was sent.
  [[nodiscard]] bool send_cdr(std::uint32_t output, SimTime t, std::span<const std::byte> cdr);
  void set_next_at(std::int64_t output, SimTime t) { periodic(output).next = t; }
  void set_period_of(std::int64_t output, SimSpan period) { periodic(output).info.period = period; }

 private:
  OutPort& periodic(std::int64_t output);
};

}  // namespace isochron::flow
