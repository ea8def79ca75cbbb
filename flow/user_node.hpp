#pragma once
// How a node is written: a class with typed inputs and outputs.
//
//     class Heater : public flow::UserNode {
//       flow::Input<double> room_ = input<double>("room");                      // latest value, read in step
//       flow::Output<double> power_ = output<&Heater::step>("power", every(10ms));
//       void step(double& power, SimTime now) { power = room_.latest() < 20 ? 1000 : 0; }
//     };
//
// Inputs      input<T>(name)                 keeps the latest message
//             input<&C::method>(name)        also calls  void method(const T&, SimTime, flow::InputId)  for each one;
//                                            the last parameters may be left out
// Outputs     output<&C::method>(name, every(p))      calls  void method(T&, SimTime)  to fill each message in place
//             output<&C::method>(name, observes(p))   the same, after everything of that time was consumed;
//                                                     observes(p).varying() if set_period() or next_at() are used
//             event<T>(name, lookahead)               sent from any method, at now + lookahead or later
//
// A message's memory is filled where its readers read it. It holds what was there some messages ago: set every field.
//
// Promises: methods of one node are called one at a time, in the order of DESIGN ("Order"), never concurrently.
// Requires: ports are made in the constructor or in member initialisers, and not afterwards.
// Threads:  the methods run on whatever thread or process the executor chose; a node shares nothing with others.
// Fails:    an exception from a method ends the run; it is reported with the node's name and what waited for it.

#include <concepts>
#include <deque>
#include <stdexcept>
#include <string>

#include "flow/graph.hpp"
#include "flow/hold.hpp"

namespace isochron::flow {

class UserNode;

/// Which input a message came in by: its place in the order of declaration.
struct InputId {
  std::uint32_t index = 0;
};

struct InPort {
  using Consume = void (*)(UserNode&, InPort&, const void* payload, SimTime);
  InputInfo info;
  Consume consume = nullptr;  // null = keep the latest only
  InputId id;
  const void* latest = nullptr;
  SimTime latest_time;
};

struct OutPort {
  using Emit = void (*)(UserNode&, OutPort&, void* payload, SimTime);
  OutputInfo info;
  Emit emit = nullptr;  // null for events
  UserNode* owner = nullptr;
  SimTime next;             // set before emit() to time + period; emit() may change it
  Hold* hold = nullptr;     // events only, while running
  std::uint32_t index = 0;  // its place in the order of declaration
};

/// When an output speaks. `first` is the time of its first message.
struct Schedule {
  FlowKind kind = FlowKind::predictive;
  SimSpan period;
  SimTime first;
  bool varies = false;
  /// The period changes as it runs. An observation in a ring of observations must say so.
  [[nodiscard]] Schedule varying() const { return {kind, period, first, true}; }
};
inline Schedule every(SimSpan period, SimTime first = SimTime::zero()) {
  return {FlowKind::predictive, period, first, false};
}
inline Schedule observes(SimSpan period, SimTime first = SimTime::zero()) {
  return {FlowKind::observation, period, first, false};
}

template <class T>
class Input {
 public:
  /// Nothing has come yet: latest() may not be asked.
  [[nodiscard]] bool empty() const { return port_->latest == nullptr; }
  [[nodiscard]] const T& latest() const { return *static_cast<const T*>(port_->latest); }
  [[nodiscard]] const T& latest_or(const T& other) const { return empty() ? other : latest(); }
  [[nodiscard]] SimTime time() const { return port_->latest_time; }
  [[nodiscard]] InputId id() const { return port_->id; }

 private:
  friend class UserNode;
  explicit Input(InPort* port) : port_(port) {}
  InPort* port_;
};

template <class T>
class Output {
 public:
  /// The period from now on.
  void set_period(SimSpan period) { port_->info.period = period; }
  /// When the next message comes, this once. Called while a message is filled. Must be later than that message.
  void next_at(SimTime t) { port_->next = t; }

 private:
  friend class UserNode;
  explicit Output(OutPort* port) : port_(port) {}
  OutPort* port_;
};

template <class T>
class Event {
 public:
  /// Sends value at time t. Fails: throws if t is earlier than now + lookahead.
  void send(SimTime t, const T& value) {
    fill(t, [&](T& slot) { slot = value; });
  }
  /// The same, filled in place: `fill(T&)` is called at once.
  template <std::invocable<T&> F>
  void fill(SimTime t, F&& fill);
  [[nodiscard]] SimSpan lookahead() const { return port_->info.lookahead; }

 private:
  friend class UserNode;
  explicit Event(OutPort* port) : port_(port) {}
  OutPort* port_;
};

namespace detail {
template <class M>
struct Handler;
template <class C, class T, class... Rest>
struct Handler<void (C::*)(T, Rest...)> {
  using Class = C;
  using Value = std::remove_cvref_t<T>;
};
template <class C, class T, class... Rest>
struct Handler<void (C::*)(T, Rest...) noexcept> : Handler<void (C::*)(T, Rest...)> {};

template <auto method, class C, class T>
void call(C& self, T& value, SimTime t, InputId id) {
  if constexpr (requires { (self.*method)(value); }) {
    (self.*method)(value);
  } else if constexpr (requires { (self.*method)(value, t); }) {
    (self.*method)(value, t);
  } else {
    (self.*method)(value, t, id);
  }
}
}  // namespace detail

class UserNode {
 public:
  virtual ~UserNode() = default;
  UserNode(const UserNode&) = delete;
  UserNode& operator=(const UserNode&) = delete;

  /// Called once before the first message; events may be sent.
  virtual void start(SimTime /*now*/) {}
  /// Called once after the last message, where the node ran (its own process, perhaps).
  virtual void finish(SimTime /*now*/) {}

  [[nodiscard]] SimTime now() const { return now_; }

 protected:
  UserNode() = default;

  template <Payload T>
  Input<T> input(std::string name) {
    return Input<T>(&add_input(std::move(name), payload_type<T>(), nullptr));
  }
  template <auto method>
  auto input(std::string name) {
    using H = detail::Handler<decltype(method)>;
    using T = typename H::Value;
    const InPort::Consume consume = [](UserNode& self, InPort& port, const void* payload, SimTime t) {
      detail::call<method>(static_cast<typename H::Class&>(self), *static_cast<const T*>(payload), t, port.id);
    };
    return Input<T>(&add_input(std::move(name), payload_type<T>(), consume));
  }
  template <auto method>
  auto output(std::string name, Schedule schedule, std::uint32_t capacity = 4) {
    using H = detail::Handler<decltype(method)>;
    using T = typename H::Value;
    const OutPort::Emit emit = [](UserNode& self, OutPort&, void* payload, SimTime t) {
      T& value = *static_cast<T*>(payload);
      detail::call<method>(static_cast<typename H::Class&>(self), value, t, InputId{});
      clear_padding(value);
    };
    OutputInfo info{std::move(name), schedule.kind, schedule.period,    schedule.first,
                    SimSpan::zero(), capacity,      &payload_type<T>(), schedule.varies};
    return Output<T>(&add_output(std::move(info), emit));
  }
  template <Payload T>
  Event<T> event(std::string name, SimSpan lookahead, std::uint32_t capacity = 4) {
    OutputInfo info{std::move(name), FlowKind::event, {}, {}, lookahead, capacity, &payload_type<T>()};
    return Event<T>(&add_output(std::move(info), nullptr));
  }

 private:
  friend class Node;
  friend class System;
  friend class FreeRun;
  friend class DynamicNode;
  template <class T>
  friend class Event;

  InPort& add_input(std::string name, const PayloadType& type, InPort::Consume consume);
  OutPort& add_output(OutputInfo info, OutPort::Emit emit);
  /// Where the payload of an event at t goes.
  void* hold_event(OutPort& port, SimTime t);

  SimTime now_;
  bool sent_events_ = false;  // since the node looked last
  std::deque<InPort> inputs_;
  std::deque<OutPort> outputs_;
};

template <class T>
template <std::invocable<T&> F>
void Event<T>::fill(SimTime t, F&& fill) {
  T& slot = *static_cast<T*>(port_->owner->hold_event(*port_, t));
  fill(slot);
  clear_padding(slot);
}

}  // namespace isochron::flow
