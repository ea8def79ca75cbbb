#pragma once
// The steps of a Node (node.hpp), in a file of their own because they are templates: with `Hub::concurrent` false they
// compile to plain loads and stores.
//
// Between threads, nobody sleeps through news: whoever waits raises its flag and then looks again; whoever brings news
// publishes it and then looks at the flag. Both pairs are sequentially consistent, so at least one of them sees the
// other.

#include "flow/node.hpp"

namespace isochron::flow {

template <class Hub>
inline constexpr std::memory_order publish_order =
    Hub::concurrent ? std::memory_order_seq_cst : std::memory_order_release;
template <class Hub>
inline constexpr std::memory_order look_order = Hub::concurrent ? std::memory_order_seq_cst : std::memory_order_acquire;
template <class Hub>
inline constexpr std::memory_order flag_order = Hub::concurrent ? std::memory_order_seq_cst : std::memory_order_relaxed;

template <class Hub>
Moved Node::run(Hub& hub, std::uint32_t budget) {
  if (starved_) drain(hub);
  try {
    for (std::uint32_t i = 0; i < budget; ++i) {
      const Moved moved = step(hub);
      if (moved != Moved::on) return moved;
    }
  } catch (const std::exception& error) {
    throw_with_time(error);
  }
  return Moved::on;
}

template <class Hub>
Moved Node::step(Hub& hub) {
  const std::uint32_t leaf = tree_.least();
  const SimTime at = key_time(tree_.key(leaf));
  if (at >= stop_) {
    if (event_count_ != 0) promise(hub, at);
    wait_ = {Wait::For::done, 0, at};
    return Moved::done;
  }
  if (leaf < input_count_) return consume(hub, leaf, at);
  const std::uint32_t port = leaf - input_count_;
  return outputs_[port].event ? take_turn(hub, port) : emit(hub, port, at);
}

/// Looks at the channel again; whether that changed what is known of it.
template <class Hub>
bool Node::refresh(In& in, std::uint32_t port) {
  // The promise first: whoever sees a promise must see the messages that came before it.
  const SimTime bound = in.event ? SimTime::from_ns(in.channel->bound.load(look_order<Hub>)) : in.promised;
  const std::uint64_t written = in.channel->written.load(look_order<Hub>);
  if (written != in.seen) {
    in.seen = written;
    if (in.event) tree_.set(port, pack({in.channel->slots[in.slot].time, Phase::consume, port}));
    return true;
  }
  if (bound <= in.promised) return false;
  ++creeps_;
  in.promised = bound;
  tree_.set(port, pack({bound, Phase::consume, port}));
  return true;
}

template <class Hub>
Moved Node::await_message(Hub& hub, std::uint32_t port, SimTime at) {
  In& in = inputs_[port];
  if (event_count_ != 0) promise(hub, at);
  wait_ = {Wait::For::message, port, at};
  if (Hub::concurrent && !hub.sleepy()) return Moved::waiting;
  in.reader->waits.store(1, flag_order<Hub>);
  if (Hub::concurrent && refresh<Hub>(in, port)) {
    in.reader->waits.store(0, std::memory_order_relaxed);
    return Moved::on;
  }
  return Moved::waiting;
}

template <class Hub>
Moved Node::consume(Hub& hub, std::uint32_t port, SimTime at) {
  In& in = inputs_[port];
  if (in.read == in.seen) {
    if (!refresh<Hub>(in, port)) return await_message(hub, port, at);
    if (in.event || in.read == in.seen) return Moved::on;  // the key may have changed: decide again
  }
  if (Hub::concurrent && event_count_ != 0) promise(hub, at);
  Channel& channel = *in.channel;
  const Slot& slot = channel.slots[in.slot];
  user_.now_ = at;
  take(in, slot);
  ++steps_;
  creeps_ = 0;
  in.promised = std::max(in.promised, slot.next);
  in.slot = in.slot == channel.capacity ? 0 : in.slot + 1;
  ++in.read;
  const bool event_there = in.event && in.read != in.seen;
  const SimTime next = event_there ? channel.slots[in.slot].time : in.promised;
  tree_.set(port, pack({next, Phase::consume, port}));
  in.reader->consumed.store(in.read, publish_order<Hub>);
  if (channel.source_waits.load(flag_order<Hub>) != 0) {
    channel.source_waits.store(0, std::memory_order_relaxed);
    hub.wake(channel.source);
  }
  if (user_.sent_events_) place_events();
  return Moved::on;
}

/// Whether there is room for one more; if not, the readers are asked to say when there is.
template <class Hub>
bool Node::room(Hub& hub, Way& way) {
  Channel& channel = *way.channel;
  if (way.written - way.freed < channel.capacity) return true;
  way.freed = channel.least_consumed();
  if (way.written - way.freed < channel.capacity) return true;
  if (Hub::concurrent && !hub.sleepy()) return false;
  channel.source_waits.store(1, flag_order<Hub>);
  if (!Hub::concurrent) return false;
  way.freed = channel.least_consumed();
  return way.written - way.freed < channel.capacity;
}

template <class Hub>
Moved Node::emit(Hub& hub, std::uint32_t port, SimTime at) {
  Out& out = outputs_[port];
  const bool there_is_room = room(hub, out.way);
  if (event_count_ != 0 && (Hub::concurrent || !there_is_room)) promise(hub, at);
  if (!there_is_room) {
    wait_ = {Wait::For::room, port, at};
    return Moved::waiting;
  }
  Slot& slot = out.way.channel->slots[out.way.slot];
  OutPort& user_port = *out.port;
  void* value = out.value == nullptr ? slot.payload : out.value;
  if (settings_.poison != 0) user_port.info.type->poison(value, settings_.poison);
  user_port.next = at + user_port.info.period;
  user_.now_ = at;
  out.emit(user_, user_port, value, at);
  ++steps_;
  creeps_ = 0;
  const SimTime next = user_port.next;
  if (next <= at || (out.keeps != SimSpan::zero() && next != at + out.keeps)) check_next(out, at);
  slot.time = at;
  slot.next = next;
  if (out.value != nullptr) encode(out, out.way, slot, value);
  record(out, at, next, value);
  publish(hub, out.way);
  tree_.set(leaf_of(port), pack({next, out.phase, port}));
  if (user_.sent_events_) place_events();
  return Moved::on;
}

template <class Hub>
void Node::publish(Hub& hub, Way& way) {
  Channel& channel = *way.channel;
  way.slot = way.slot == channel.capacity ? 0 : way.slot + 1;
  channel.written.store(++way.written, publish_order<Hub>);
  wake_readers(hub, channel);
}

template <class Hub>
void Node::wake_readers(Hub& hub, Channel& channel) {
  for (std::uint32_t i = 0; i < channel.reader_count; ++i) {
    Reader& reader = channel.readers[i];
    if (reader.waits.load(flag_order<Hub>) == 0) continue;
    reader.waits.store(0, std::memory_order_relaxed);
    hub.wake(reader.node);
  }
}

/// An event's turn: it counts as sent now, and leaves when there is room.
template <class Hub>
Moved Node::take_turn(Hub& hub, std::uint32_t port) {
  Out& out = outputs_[port];
  const SimTime time = out.hold->first();
  record(out, time, time, out.hold->first_payload());
  ++steps_;
  out.hold->turn();
  place_event(port);
  drain(hub, out);
  return Moved::on;
}

template <class Hub>
void Node::drain(Hub& hub) {
  starved_ = false;
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    if (outputs_[i].event) drain(hub, outputs_[i]);
  }
}

/// Moves events from the outbox to the sinks that have room.
template <class Hub>
void Node::drain(Hub& hub, Out& out) {
  if (out.hold->outbox_empty()) return;
  drain(hub, out, out.way);
  std::uint64_t all_have = out.way.written;
  for (Way& way : out.more) {
    drain(hub, out, way);
    all_have = std::min(all_have, way.written);
  }
  out.hold->gone(all_have);
  if (!out.hold->outbox_empty()) starved_ = true;
}

template <class Hub>
void Node::drain(Hub& hub, Out& out, Way& way) {
  while (way.written < out.hold->outbox_end() && room(hub, way)) {
    Slot& slot = way.channel->slots[way.slot];
    void*& payload = out.hold->outbox_payload(way.written);
    slot.time = slot.next = out.hold->outbox_time(way.written);
    if (out.value != nullptr) {
      encode(out, way, slot, payload);
    } else if (way.channel->exchanges && out.more.empty()) {
      std::swap(slot.payload, payload);
    } else {
      way.channel->type->assign(slot.payload, payload);
    }
    publish(hub, way);
  }
}

/// Raises the promises of all event flows, given that nothing earlier than `at` will happen here.
template <class Hub>
void Node::promise(Hub& hub, SimTime at) {
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    Out& out = outputs_[i];
    if (!out.event) continue;
    const SimTime bound = std::min(at + out.port->info.lookahead, out.hold->first());
    promise(hub, out, out.way, bound);
    for (Way& way : out.more) promise(hub, out, way, bound);
  }
}

template <class Hub>
void Node::promise(Hub& hub, Out& out, Way& way, SimTime bound) {
  if (way.written < out.hold->outbox_end()) bound = std::min(bound, out.hold->outbox_time(way.written));
  if (bound <= way.promised) return;
  way.promised = bound;
  way.channel->bound.store(bound.ns(), publish_order<Hub>);
  wake_readers(hub, *way.channel);
}

}  // namespace isochron::flow
