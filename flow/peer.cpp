#include "flow/peer.hpp"

#include <algorithm>
#include <cstring>

#include "core/time_text.hpp"

namespace isochron::flow {

std::uint64_t hash_of(const Graph& graph) {
  std::uint64_t hash = mix(3, static_cast<std::uint64_t>(graph.start.ns()));
  const auto text = [&](const std::string& name) { hash = mix_bytes(hash, name.data(), name.size()); };
  for (const NodeInfo& node : graph.nodes) {
    text(node.name);
    for (const InputInfo& input : node.inputs) text(input.name);
    for (const OutputInfo& output : node.outputs) {
      text(output.name);
      hash = mix(hash, static_cast<std::uint64_t>(output.period.ns()), static_cast<std::uint64_t>(output.first.ns()));
      hash = mix(hash, static_cast<std::uint64_t>(output.lookahead.ns()), static_cast<std::uint64_t>(output.kind));
      hash = mix(hash, output.type == nullptr ? 0 : output.type->id, output.capacity);
      hash = mix(hash, output.varies ? 1 : 0);
    }
  }
  for (const auto& [output, input] : graph.connections) {
    hash = mix(hash, (std::uint64_t{output.node} << 32) | output.port, (std::uint64_t{input.node} << 32) | input.port);
  }
  return hash;
}

namespace {

/// Of all messages of a line, one after the other.
std::uint64_t chained(std::uint64_t hash, const wire::MessageFrame& message) {
  hash = mix(hash, static_cast<std::uint64_t>(message.time.ns()), static_cast<std::uint64_t>(message.next.ns()));
  return mix_bytes(hash, message.payload.data(), message.payload.size());
}

}  // namespace

Peer::Peer(Assembly& assembly, std::uint32_t self, std::uint32_t other, Transport& transport, SentLog* log)
    : assembly_(assembly),
      transport_(transport),
      log_(log),
      self_(self),
      other_(other),
      other_name_(assembly.graph().nodes[other].name),
      scenario_(hash_of(assembly.graph())) {
  for (std::uint32_t line = 0; line < assembly.links().size(); ++line) {
    const Assembly::Link& link = assembly.links()[line];
    const auto [output, input] = link.connection;
    const bool ours = (output.node == self && input.node == other) || (output.node == other && input.node == self);
    if (ours) flows_ += (flows_.empty() ? "flow " : " and ") + assembly.graph().output_name(output);
    if (output.node == self && input.node == other) {
      sending_.push_back({line, link.sink, 0, 0, assembly.graph().start});
    } else if (output.node == other && input.node == self) {
      const OutputInfo& info = assembly.graph().nodes[output.node].outputs[output.port];
      const SimTime first = info.kind == FlowKind::event ? assembly.graph().start : info.first;
      const SimSpan keeps = assembly.keeps_period(link.flow) ? info.period : SimSpan::zero();
      receiving_.push_back({.line = line,
                            .channel = link.arrival,
                            .flow = assembly.graph().output_name(output),
                            .promised = first,
                            .keeps = keeps});
    }
  }
}

/// What `from` says at the beginning: all lines that it sends on to the other.
wire::Hello Peer::hello(std::uint32_t from) const {
  wire::Hello hello;
  hello.scenario = scenario_;
  hello.node = assembly_.graph().nodes[from].name;
  const std::uint32_t to = from == self_ ? other_ : self_;
  for (std::uint32_t line = 0; line < assembly_.links().size(); ++line) {
    const auto [output, input] = assembly_.links()[line].connection;
    if (output.node != from || input.node != to) continue;
    const PayloadType* type = assembly_.graph().nodes[output.node].outputs[output.port].type;
    hello.lines.push_back({line, assembly_.graph().output_name(output), assembly_.graph().input_name(input), type->id});
  }
  return hello;
}

void Peer::greet() {
  started_ = true;
  out_.clear();
  wire::append(out_, hello(self_));
  put_resume();
  transport_.send(out_);
}

void Peer::restart(std::uint32_t stream) {
  if (!started_) return;  // nothing was sent
  awaited_ = stream;
  out_.clear();
  wire::append(out_, hello(self_));
  put_resume();
  for (Receiving& line : receiving_) {
    line.credited = 0;
    pump(line);
  }
  transport_.send(out_);
}

void Peer::restarted(std::uint32_t stream) {
  reader_ = wire::FrameReader();
  greeted_ = false;
  resumes_ = stream;
  if (!started_) return;
  out_.clear();
  put_resume();
  transport_.send(out_);
}

void Peer::begins_again() {
  reader_ = wire::FrameReader();
  greeted_ = false;
  awaited_ = resumes_ = 0;
  asks_.clear();
  answers_.clear();
  for (Sending& line : sending_) {
    line.sent = line.credit = 0;
    line.promised = assembly_.graph().start;
    line.log.reset();
  }
  for (Receiving& line : receiving_) {
    line.arrived = line.hash_again = line.credited = 0;
    line.again = true;
  }
  if (started_) greet();
}

/// With each greeting too, in case the first one was lost with our own stream.
void Peer::put_resume() {
  if (resumes_ == 0) return;
  wire::Resume resume{resumes_, {}};
  for (const Receiving& line : receiving_) resume.lines.push_back({line.line, line.arrived, line.promised});
  wire::append(out_, resume);
}

void Peer::say_stop(const std::string& reason) {
  out_.clear();
  wire::append(out_, wire::Stop{reason});
  transport_.send(out_);
}

void Peer::pump() {
  if (!fenced_.empty()) return;
  out_.clear();
  if (awaited_ == 0) {
    for (Sending& line : sending_) pump(line);
  }
  for (Receiving& line : receiving_) pump(line);
  if (!out_.empty()) transport_.send(out_);
}

void Peer::pump(Sending& line) {
  Channel& channel = *line.end.channel;
  const SimTime bound = SimTime::from_ns(channel.bound.load(std::memory_order_acquire));
  const std::uint64_t written = channel.written.load(std::memory_order_acquire);
  const std::uint64_t consumed = (*line.end).consumed.load(std::memory_order_acquire);
  for (; line.sent < written && line.sent < line.credit + channel.capacity; ++line.sent) {
    if (line.sent < consumed) {
      put_again(line);
      continue;
    }
    const Slot& slot = channel.slots[line.sent % channel.slot_count()];
    const std::size_t size = channel.encoded ? slot.size : channel.type->encoded_size(slot.payload);
    const auto payload = wire::append_message(out_, line.line, slot.time, slot.next, size);
    if (channel.encoded) {
      std::memcpy(payload.data(), slot.payload, size);
    } else {
      channel.type->encode(slot.payload, payload);
    }
    line.promised = std::max(line.promised, slot.next);
  }
  if (channel.kind != FlowKind::event || bound <= line.promised || line.sent < written) return;
  line.promised = bound;
  wire::append(out_, wire::Bound{line.line, bound});
}

/// To one that began again: the message that it is to get next is not in the channel any more.
void Peer::put_again(Sending& line) {
  if (!line.log || line.log->number() > line.sent) line.log.emplace(*log_, line.end.channel->flow);
  while (line.log->number() < line.sent) (void)line.log->take();
  const SentLog::Entry entry = line.log->take();
  const auto payload = wire::append_message(out_, line.line, entry.time, entry.next, entry.payload.size());
  if (!entry.payload.empty()) std::memcpy(payload.data(), entry.payload.data(), entry.payload.size());
  line.promised = std::max(line.promised, entry.next);
}

void Peer::pump(Receiving& line) {
  const std::uint64_t consumed =
      std::min(line.channel->readers[0].consumed.load(std::memory_order_acquire), line.arrived);
  const std::uint64_t owed = consumed - line.credited;
  // Credit travels with data, or when it is half of what there is: until then the source has room left, and buffers of
  // any size suffice.
  const bool alone = out_.empty();
  if (owed == 0 || (alone && owed < line.channel->capacity / 2)) return;
  wire::append(out_, wire::Credit{line.line, consumed});
  line.credited = consumed;
}

Result<Done, std::string> Peer::arrived(std::span<const std::byte> bytes) {
  if (!fenced_.empty()) return fail(fenced_);
  reader_.feed(bytes);
  wire::Frame frame;
  while (true) {
    const auto whole = reader_.next(frame);
    if (!whole) {
      fenced_ = refuse(nullptr, whole.error()).error;
      return fail(fenced_);
    }
    if (!*whole) return done();
    const auto taken = std::visit([this](const auto& body) { return take(body); }, frame);
    if (!taken) {
      fenced_ = taken.error();
      return fail(fenced_);
    }
  }
}

Failure<std::string> Peer::refuse(const Receiving* line, const std::string& why) const {
  return fail((line == nullptr ? flows_ : "flow " + line->flow) + ", node " + other_name_ + ": " + why);
}

std::string Peer::lost() const {
  const bool half = reader_.pending() > 0;
  return refuse(nullptr, std::string("the connection was lost") + (half ? " in the middle of a frame" : "")).error;
}

Result<Done, std::string> Peer::take(const wire::Hello& said) {
  if (greeted_) return refuse(nullptr, "it connected twice");
  const wire::Hello expected = hello(other_);
  if (said.node != expected.node) return refuse(nullptr, "node " + said.node.substr(0, 60) + " answered in its place");
  if (said.scenario != expected.scenario) return refuse(nullptr, "it runs another scenario");
  if (said.lines != expected.lines) return refuse(nullptr, "its flows are not the agreed ones");
  greeted_ = true;
  return done();
}

Peer::Receiving* Peer::receiving(std::uint32_t number) {
  for (Receiving& line : receiving_) {
    if (line.line == number) return &line;
  }
  return nullptr;
}

Result<Done, std::string> Peer::check_stamp(const Receiving& line, const wire::MessageFrame& message) const {
  if (line.channel->kind == FlowKind::event) {
    if (message.time < line.earliest()) {
      return refuse(&line, "an event at " + to_string(message.time) + ", but none before " +
                               to_string(line.earliest()) + " was promised");
    }
    if (message.next < message.time) return refuse(&line, "a promise earlier than its event");
    return done();
  }
  if (message.time != line.promised) {
    return refuse(&line,
                  "a message at " + to_string(message.time) + ", but one at " + to_string(line.promised) + " was due");
  }
  if (message.next <= message.time) {
    return refuse(&line, "the message at " + to_string(message.time) + " has a period that is not longer than 0");
  }
  if (line.keeps != SimSpan::zero() && message.next != message.time + line.keeps) {
    return refuse(&line, "the message at " + to_string(message.time) + " says that the next one comes at " +
                             to_string(message.next) + ", but its period is " + to_string(line.keeps));
  }
  return done();
}

Result<Done, std::string> Peer::take(const wire::MessageFrame& message) {
  Receiving* line = receiving(message.line);
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  if (line == nullptr)
    return refuse(nullptr, "a message on line " + std::to_string(message.line) + ", which it has not");
  if (line->arrived < line->written) return take_again(*line, message);
  const auto good = check_stamp(*line, message);
  if (!good) return good;
  Channel& channel = *line->channel;
  const std::uint64_t consumed = channel.readers[0].consumed.load(std::memory_order_acquire);
  if (line->written - consumed >= channel.capacity) return refuse(line, "more messages than it has credit for");
  Slot& slot = channel.slots[line->written % channel.slot_count()];
  slot.time = message.time;
  slot.next = message.next;
  if (channel.encoded) {
    if (message.payload.size() > channel.payload_room) return refuse(line, "a payload that is too large");
    std::memcpy(slot.payload, message.payload.data(), message.payload.size());
    slot.size = static_cast<std::uint32_t>(message.payload.size());
  } else if (!channel.type->decode(slot.payload, message.payload)) {
    return refuse(line, "a payload that is no " + channel.type->name);
  }
  line->promised = message.next;
  if (log_ != nullptr) line->hash = chained(line->hash, message);
  ++line->arrived;
  channel.written.store(++line->written, std::memory_order_release);
  return done();
}

/// It is here already: the other began again, and has not yet come as far as it was.
Result<Done, std::string> Peer::take_again(Receiving& line, const wire::MessageFrame& message) {
  line.hash_again = chained(line.hash_again, message);
  if (++line.arrived < line.written || line.hash_again == line.hash) return done();
  return refuse(&line, "it was started again, and its first " + std::to_string(line.written) + " messages, up to " +
                           to_string(message.time) + ", are not those that it had sent before: it does not repeat");
}

Result<Done, std::string> Peer::take(const wire::Bound& bound) {
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  Receiving* line = receiving(bound.line);
  if (line == nullptr) return refuse(nullptr, "a promise on line " + std::to_string(bound.line) + ", which it has not");
  if (line->channel->kind != FlowKind::event) return refuse(line, "a promise on a flow that is not of events");
  if (bound.time < line->promised) {
    if (line->again) return done();  // it does not know yet what it knew
    return refuse(line, "a promise going back from " + to_string(line->promised) + " to " + to_string(bound.time));
  }
  line->promised = bound.time;
  line->channel->bound.store(line->earliest().ns(), std::memory_order_release);
  return done();
}

Result<Done, std::string> Peer::take(const wire::Credit& credit) {
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  for (Sending& line : sending_) {
    if (line.line != credit.line) continue;
    Reader& reader = *line.end;
    if (credit.consumed > line.sent) return refuse(nullptr, "credit for messages that were never sent");
    if (credit.consumed < line.credit) return refuse(nullptr, "credit going back");
    line.credit = credit.consumed;
    if (line.credit > reader.consumed.load(std::memory_order_acquire)) {
      reader.consumed.store(line.credit, std::memory_order_release);
    }
    return done();
  }
  return refuse(nullptr, "credit for line " + std::to_string(credit.line) + ", which does not exist");
}

Result<Done, std::string> Peer::take(const wire::Stop& stop) {
  stopped_ = stop.reason.empty() ? "it stopped" : stop.reason;
  return done();
}

Result<Done, std::string> Peer::take(const wire::Ask& ask) {
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  asks_.push_back(ask);
  return done();
}

Result<Done, std::string> Peer::take(const wire::Answer& answer) {
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  answers_.push_back(answer);
  return done();
}

Result<Done, std::string> Peer::take(const wire::Resume& resume) {
  if (!greeted_) return refuse(nullptr, "it sent before it said hello");
  if (awaited_ == 0 || resume.stream != awaited_) return done();  // of an older stream
  if (resume.lines.size() != sending_.size()) return refuse(nullptr, "it resumes other flows than the agreed ones");
  for (std::size_t i = 0; i < sending_.size(); ++i) {
    Sending& line = sending_[i];
    const auto& [number, received, promised] = resume.lines[i];
    const bool sound = number == line.line && received <= line.sent && received >= line.credit;
    if (!sound) return refuse(nullptr, "it resumes where it cannot be");
    line.sent = received;
    line.promised = promised;
  }
  awaited_ = 0;
  pump();
  return done();
}

void Peer::hear_floor(SimTime floor) {
  for (Receiving& line : receiving_) {
    if (line.channel->kind != FlowKind::event || floor <= line.earliest()) continue;
    line.floor = floor;
    line.channel->bound.store(floor.ns(), std::memory_order_release);
  }
}

bool Peer::may_send_before(SimTime stop) const {
  return std::any_of(receiving_.begin(), receiving_.end(),
                     [stop](const Receiving& line) { return line.earliest() < stop; });
}

bool Peer::may_send_before(SimTime stop, std::uint32_t line) const {
  return std::any_of(receiving_.begin(), receiving_.end(),
                     [stop, line](const Receiving& one) { return one.line == line && one.earliest() < stop; });
}

}  // namespace isochron::flow
