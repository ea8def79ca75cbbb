#include "flow/node.hpp"

#include <stdexcept>

#include "core/time_text.hpp"

namespace isochron::flow {

Node::Node(UserNode& user, std::uint32_t index, std::string name)
    : user_(user), index_(index), name_(std::move(name)) {}

Node::~Node() {
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    if (inputs_[i].decoded != nullptr) delete_payload(*inputs_[i].port->info.type, inputs_[i].decoded);
    inputs_[i].port->latest = nullptr;
  }
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    if (outputs_[i].value != nullptr) delete_payload(*outputs_[i].way.channel->type, outputs_[i].value);
    outputs_[i].port->hold = nullptr;
    outputs_[i].~Out();
  }
}

void Node::tie(Arena& arena, std::span<const InputTie> inputs, std::span<const std::vector<Channel*>> outputs,
               const Settings& settings) {
  settings_ = settings;
  input_count_ = static_cast<std::uint32_t>(inputs.size());
  output_count_ = static_cast<std::uint32_t>(outputs.size());
  const std::uint32_t width = KeyTree::width(input_count_ + output_count_);
  Key* keys = arena.make_array<Key>(width);
  inputs_ = arena.make_array<In>(input_count_);
  outputs_ = arena.make_array<Out>(output_count_);
  tree_.lay_out(width, keys, arena.make_array<std::uint32_t>(width));
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    In& in = inputs_[i];
    in.channel = inputs[i].channel;
    in.reader = inputs[i].reader;
    in.promised = inputs[i].first;
    in.event = inputs[i].event;
    in.port = &user_.inputs_[i];
    in.consume = in.port->consume;
    if (in.channel->encoded) in.decoded = new_payload(*in.port->info.type);
    tree_.set(i, pack({in.promised, Phase::consume, i}));
  }
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    Out& out = outputs_[i];
    Channel& channel = *outputs[i].front();
    out.way.channel = &channel;
    out.port = &user_.outputs_[i];
    out.emit = out.port->emit;
    out.event = channel.kind == FlowKind::event;
    if (channel.encoded) out.value = new_payload(*channel.type);
    if (out.event) {
      tie_event(out, outputs[i]);
    } else {
      out.phase = channel.kind == FlowKind::observation ? Phase::observe : Phase::emit;
      tree_.set(leaf_of(i), pack({out.port->info.first, out.phase, i}));
    }
  }
}

void Node::tie_event(Out& out, std::span<Channel* const> ways) {
  ++event_count_;
  out.phase = Phase::observe;
  const SimTime start = SimTime::from_ns(ways.front()->bound.load(std::memory_order_relaxed));
  out.way.promised = start;
  for (Channel* channel : ways.subspan(1)) out.more.push_back({channel, 0, 0, 0, start});
  out.hold = std::make_unique<Hold>(*ways.front()->type, name_ + "." + out.port->info.name, settings_.hold_limit,
                                    settings_.poison);
  out.port->hold = out.hold.get();
}

void Node::start(SimTime now) {
  user_.now_ = now;
  user_.start(now);
  if (user_.sent_events_) place_events();
}

void Node::set_stop(SimTime stop) {
  stop_ = stop;
  place_events();
}

bool Node::news() const {
  const auto has_room = [](const Way& way) {
    return way.written - way.channel->least_consumed() < way.channel->capacity;
  };
  const auto may_drain = [&](const Out& out, const Way& way) {
    return way.written < out.hold->outbox_end() && has_room(way);
  };
  for (std::uint32_t i = 0; starved_ && i < output_count_; ++i) {
    const Out& out = outputs_[i];
    if (!out.event) continue;
    if (may_drain(out, out.way)) return true;
    for (const Way& way : out.more) {
      if (may_drain(out, way)) return true;
    }
  }
  if (wait_.what == Wait::For::room) return has_room(outputs_[wait_.port].way);
  if (wait_.what != Wait::For::message) return false;
  const In& in = inputs_[wait_.port];
  return in.channel->written.load(std::memory_order_acquire) != in.seen ||
         (in.event && in.channel->bound.load(std::memory_order_acquire) > in.promised.ns());
}

SimTime Node::first_certain() const {
  SimTime first = SimTime::never();
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    const In& in = inputs_[i];
    if (in.channel->written.load(std::memory_order_acquire) == in.read) continue;
    first = std::min(first, in.channel->slots[in.slot].time);
  }
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    const Out& out = outputs_[i];
    if (const Key key = tree_.key(leaf_of(i)); key != key_never) first = std::min(first, key_time(key));
    if (!out.event) continue;
    const auto held_up = [&](const Way& way) {
      if (way.written < out.hold->outbox_end()) first = std::min(first, out.hold->outbox_time(way.written));
    };
    held_up(out.way);
    for (const Way& way : out.more) held_up(way);
  }
  return first;
}

void Node::promise_at_least(SimTime at) {
  const auto raise = [at](Way& way) {
    if (at <= way.promised) return;
    way.promised = at;
    way.channel->bound.store(at.ns(), std::memory_order_release);
  };
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    if (!outputs_[i].event) continue;
    raise(outputs_[i].way);
    for (Way& way : outputs_[i].more) raise(way);
  }
}

bool Node::hear_floor(SimTime floor) {
  const SimTime before = at();
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    In& in = inputs_[i];
    if (!in.event || floor <= in.promised || in.channel->written.load(std::memory_order_acquire) != in.read) continue;
    in.promised = floor;
    tree_.set(i, pack({floor, Phase::consume, i}));
  }
  return at() > before;
}

void Node::take(In& in, const Slot& slot) {
  const void* payload = in.decoded == nullptr ? slot.payload : decode(in, slot);
  in.port->latest = payload;
  in.port->latest_time = slot.time;
  if (in.consume != nullptr) in.consume(user_, *in.port, payload, slot.time);
}

void Node::record(Out& out, SimTime time, SimTime next, const void* value) {
  Channel& channel = *out.way.channel;
  if (settings_.digest) {
    channel.digest = mix(channel.digest, static_cast<std::uint64_t>(time.ns()), static_cast<std::uint64_t>(next.ns()));
    channel.digest = channel.type->digest(channel.digest, value);
  }
  if (settings_.observer != nullptr) settings_.observer->sent({channel.flow, time, next, channel.type, value});
}

void Node::encode(const Out& out, const Way& way, Slot& slot, const void* value) {
  const std::size_t size = way.channel->type->encoded_size(value);
  if (size > way.channel->payload_room) {
    throw std::runtime_error("flow " + name_ + "." + out.port->info.name + ": a message of " + std::to_string(size) +
                             " bytes; at most " + std::to_string(way.channel->payload_room) +
                             " fit between processes (see Options::largest_message)");
  }
  slot.size = static_cast<std::uint32_t>(size);
  way.channel->type->encode(value, {static_cast<std::byte*>(slot.payload), size});
}

const void* Node::decode(In& in, const Slot& slot) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(slot.payload), slot.size);
  if (!in.port->info.type->decode(in.decoded, bytes)) {
    throw std::runtime_error("input " + name_ + "." + in.port->info.name + ": the bytes are not a " +
                             in.channel->type->name);
  }
  return in.decoded;
}

void Node::place_events() {
  user_.sent_events_ = false;
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    if (outputs_[i].event) place_event(i);
  }
}

/// The key of the next event whose turn has not come; none if it lies beyond the end.
void Node::place_event(std::uint32_t port) {
  const Out& out = outputs_[port];
  const SimTime first = out.hold->first();
  const bool in_time = first < stop_;
  tree_.set(leaf_of(port), in_time ? pack({first - out.port->info.lookahead, Phase::observe, port}) : key_never);
}

void Node::throw_with_time(const std::exception& error) const {
  throw std::runtime_error(std::string(error.what()) + " (at " + to_string(user_.now_) + ")");
}

void Node::check_next(const Out& out, SimTime at) const {
  const std::string said = "flow " + name_ + "." + out.port->info.name + ": the message at " + to_string(at) +
                           " says that the next one comes at " + to_string(out.port->next);
  if (out.port->next <= at) throw std::runtime_error(said + "; it must come later");
  throw std::runtime_error(said + "; its period is " + to_string(out.keeps) +
                           " and the check for deadlocks counts on it: declare the period as varying");
}

namespace {
void save_slot(const Channel& channel, const Slot& slot, std::vector<std::int64_t>& to) {
  to.push_back(slot.time.ns());
  to.push_back(slot.next.ns());
  const std::size_t at = to.size();
  to.resize(at + (channel.type->size + 7) / 8, 0);
  std::memcpy(to.data() + at, slot.payload, channel.type->size);
}

void restore_slot(const Channel& channel, Slot& slot, const std::int64_t*& from) {
  slot.time = SimTime::from_ns(*from++);
  slot.next = SimTime::from_ns(*from++);
  std::memcpy(slot.payload, from, channel.type->size);
  from += (channel.type->size + 7) / 8;
}
}  // namespace

void Node::save(const Way& way, std::vector<std::int64_t>& to) {
  const Channel& channel = *way.channel;
  // What some reader has not consumed is part of the state, and the message before it: somebody's latest.
  const std::uint64_t unread = std::min(channel.least_consumed(), way.written);
  const std::uint64_t from = unread == 0 ? 0 : unread - 1;
  to.insert(to.end(), {static_cast<std::int64_t>(way.written), static_cast<std::int64_t>(way.freed), way.promised.ns(),
                       static_cast<std::int64_t>(from)});
  for (std::uint64_t n = from; n < way.written; ++n) save_slot(channel, channel.slots[n % channel.slot_count()], to);
}

void Node::restore(Way& way, const std::int64_t*& from) {
  Channel& channel = *way.channel;
  way.written = static_cast<std::uint64_t>(*from++);
  way.freed = static_cast<std::uint64_t>(*from++);
  way.promised = SimTime::from_ns(*from++);
  way.slot = static_cast<std::uint32_t>(way.written % channel.slot_count());
  channel.written.store(way.written, std::memory_order_relaxed);
  channel.bound.store(way.promised.ns(), std::memory_order_relaxed);
  for (auto n = static_cast<std::uint64_t>(*from++); n < way.written; ++n) {
    restore_slot(channel, channel.slots[n % channel.slot_count()], from);
  }
}

void Node::save(std::vector<std::int64_t>& to) const {
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    const In& in = inputs_[i];
    to.insert(to.end(), {static_cast<std::int64_t>(in.read), static_cast<std::int64_t>(in.seen), in.promised.ns(),
                         in.port->latest_time.ns(), key_time(tree_.key(i)).ns()});
  }
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    const Out& out = outputs_[i];
    to.push_back(key_time(tree_.key(leaf_of(i))).ns());
    if (out.event) out.hold->save(to);
    save(out.way, to);
    for (const Way& way : out.more) save(way, to);
  }
}

void Node::restore(const std::int64_t*& from) {
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    In& in = inputs_[i];
    in.read = static_cast<std::uint64_t>(*from++);
    in.seen = static_cast<std::uint64_t>(*from++);
    in.promised = SimTime::from_ns(*from++);
    in.port->latest_time = SimTime::from_ns(*from++);
    const auto slots = in.channel->slot_count();
    in.port->latest = in.read == 0 ? nullptr : in.channel->slots[(in.read - 1) % slots].payload;
    in.slot = static_cast<std::uint32_t>(in.read % slots);
    in.reader->consumed.store(in.read, std::memory_order_relaxed);
    tree_.set(i, pack({SimTime::from_ns(*from++), Phase::consume, i}));
  }
  for (std::uint32_t i = 0; i < output_count_; ++i) {
    Out& out = outputs_[i];
    const SimTime key = SimTime::from_ns(*from++);
    tree_.set(leaf_of(i), key == SimTime::never() ? key_never : pack({key, out.phase, i}));
    if (out.event) out.hold->restore(from);
    restore(out.way, from);
    for (Way& way : out.more) restore(way, from);
  }
  starved_ = event_count_ != 0;  // looks for room again, which costs little
}

}  // namespace isochron::flow
