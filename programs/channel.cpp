#include "programs/channel.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "programs/futex.hpp"
#include "protocol/clock_values.hpp"

namespace isochron::programs {

namespace {
void put(char (&field)[protocol::name_max], std::string_view text) {
  const std::size_t length = std::min(text.size(), sizeof field - 1);
  std::memcpy(field, text.data(), length);
  field[length] = 0;
}
}  // namespace

std::string name_of(protocol::Ask ask) {
  constexpr const char* names[] = {"nothing", "attach",  "wait",  "bind", "read",         "write",
                                   "send",    "receive", "clock", "log",  "nothing more", "a system call"};
  const auto index = static_cast<std::size_t>(ask);
  return index < std::size(names) ? names[index] : "something unknown";
}

std::uint32_t Channel::links_used() const {
  return std::min<std::uint32_t>(pages_.links_used.load(std::memory_order_acquire), protocol::links_max);
}

bool Channel::asks(std::uint32_t link) const {
  const std::uint32_t taken = link < taken_.size() ? taken_[link] : 0;
  return pages_.links[link].asked.load(std::memory_order_acquire) != taken;
}

std::optional<std::uint32_t> Channel::asking() const {
  const std::uint32_t used = links_used();
  std::optional<std::uint32_t> first;
  std::uint32_t earliest = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    if (!asks(i)) continue;
    const std::uint32_t ticket = pages_.links[i].ticket.load(std::memory_order_relaxed);
    if (first && static_cast<std::int32_t>(ticket - earliest) >= 0) continue;
    first = i;
    earliest = ticket;
  }
  return first;
}

protocol::Exchange Channel::take(std::uint32_t link) {
  protocol::Link& l = pages_.links[link];
  if (link >= taken_.size()) {
    taken_.resize(link + 1);
    asked_.resize(link + 1);
    suspended_.resize(link + 1);
    holds_.resize(link + 1);
  }
  suspended_[link] = false;
  holds_[link] = l.exchange.index == 1;
  if (l.exchange.ask == static_cast<std::uint32_t>(protocol::Ask::attach))
    waits_answered_ = 0;  // perhaps another program
  taken_[link] = l.asked.load(std::memory_order_acquire);
  protocol::Exchange exchange = l.exchange;
  asked_[link] = static_cast<protocol::Ask>(exchange.ask);
  exchange.name[protocol::name_max - 1] = 0;
  exchange.type[protocol::name_max - 1] = 0;
  exchange.size = std::min<std::uint32_t>(exchange.size, protocol::payload_max);
  return exchange;
}

std::span<const std::byte> Channel::payload(std::uint32_t link, std::uint32_t size) const {
  return {reinterpret_cast<const std::byte*>(pages_.links[link].payload), size};
}

std::span<std::byte> Channel::room(std::uint32_t link) const {
  return {reinterpret_cast<std::byte*>(pages_.links[link].payload), protocol::payload_max};
}

Request Channel::request(std::uint32_t link, const protocol::Exchange& taken) {
  const auto from = payload(link, taken.size);
  copied_.assign(from.begin(), from.end());
  Request request{.ask = static_cast<protocol::Ask>(taken.ask)};
  request.index = taken.index;
  request.time = taken.time;
  request.number = taken.number;
  request.name = taken.name;
  request.type = taken.type;
  request.payload = copied_;
  return request;
}

void Channel::answer(std::uint32_t link, SimTime at, const Reply& reply) {
  protocol::Exchange exchange;
  exchange.verdict = static_cast<std::uint32_t>(reply.verdict);
  exchange.time = at.ns();
  exchange.index = reply.index;
  exchange.number = reply.number;
  exchange.stamp = reply.stamp.ns();
  exchange.size = static_cast<std::uint32_t>(reply.payload().size());
  put(exchange.name, reply.name);
  put(exchange.type, reply.type);
  answer(link, exchange);
}

void Channel::answer(std::uint32_t link, protocol::Exchange exchange) {
  protocol::Link& l = pages_.links[link];
  // Whoever waits hands the baton on, or the one that is answered would never have it.
  for (std::uint32_t other = 0; other < holds_.size(); ++other) {
    if (other != link && holds_[other] != 0) pass(other);
  }
  // Threads that have the baton in turn go on in the order of their answers.
  if (asked_[link] == protocol::Ask::wait || suspended_[link]) exchange.number = ++waits_answered_;
  l.exchange = exchange;
  l.answered.store(taken_[link], std::memory_order_seq_cst);
  if (holds_[link] != 0) pass(link);  // after it: who finds that it may pass on knows whether it was answered at once
  // Either the program sees the answer before it sleeps, or we see that it sleeps; see SharedLink::ask.
  if (l.sleeping.load(std::memory_order_seq_cst) != 0) futex_wake(l.answered);
}

std::span<const std::byte> Channel::call_payload(std::uint32_t link, const protocol::Call& call) {
  const auto from = payload(link, std::min<std::uint32_t>(call.size, protocol::payload_max));
  copied_.assign(from.begin(), from.end());
  return copied_;
}

void Channel::answer_call(std::uint32_t link, SimTime at, const protocol::Call& call,
                          std::span<const std::byte> payload) {
  protocol::Link& l = pages_.links[link];
  l.call = call;
  const std::size_t size = std::min(payload.size(), protocol::payload_max);
  l.call.size = static_cast<std::uint32_t>(size);
  std::copy_n(payload.begin(), size, room(link).begin());
  protocol::Exchange exchange;
  exchange.time = at.ns();
  answer(link, exchange);
}

bool Channel::has_descriptor(int descriptor) const {
  return descriptor >= 0 && descriptor < protocol::descriptors_max &&
         pages_.descriptors[descriptor].load(std::memory_order_relaxed) == protocol::Descriptor::simulated;
}

void Channel::pass(std::uint32_t link) {
  holds_[link] = false;
  protocol::Link& l = pages_.links[link];
  l.passed.store(taken_[link], std::memory_order_seq_cst);
  if (l.sleeping.load(std::memory_order_seq_cst) != 0) futex_wake(l.passed);
}

void Channel::answer_all_ended(SimTime at) {
  protocol::Exchange exchange;
  exchange.verdict = static_cast<std::uint32_t>(protocol::Verdict::ended);
  exchange.time = at.ns();
  for (std::uint32_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i] != pages_.links[i].answered.load(std::memory_order_relaxed)) answer(i, exchange);
  }
}

std::vector<std::uint32_t> Channel::family() const {
  std::vector<std::uint32_t> found;
  for (const auto& member : pages_.family.members) {
    if (const std::uint32_t pid = member.load(std::memory_order_relaxed); pid != 0) found.push_back(pid);
  }
  return found;
}

std::span<const std::byte> Channel::empty_order(std::vector<std::byte>& room, bool all) {
  protocol::OrderLog& log = pages_.order;
  std::uint32_t tail = log.tail.load(std::memory_order_relaxed);
  const std::uint32_t head = log.head.load(std::memory_order_acquire);
  const std::size_t size = std::min<std::size_t>(head - tail, protocol::order_size);  // whatever stands there
  room.resize(std::max(room.size(), size + 2 * protocol::clock_value_most));
  for (std::size_t i = 0; i < size; ++i, ++tail)
    room[i] = static_cast<std::byte>(log.bytes[tail % protocol::order_size]);
  log.tail.store(head, std::memory_order_release);
  std::size_t end = size;
  if (const std::uint32_t count = log.open_count.load(std::memory_order_relaxed); all && count > 0) {
    auto* bytes = reinterpret_cast<unsigned char*>(room.data());
    end += protocol::pack_clock_value(log.open_thread.load(std::memory_order_relaxed), bytes + end);
    end += protocol::pack_clock_value(count, bytes + end);
    log.open_count.store(0, std::memory_order_relaxed);
  }
  return std::span(room).first(end);
}

std::size_t Channel::fill_order(std::span<const std::byte> order) {
  protocol::OrderLog& log = pages_.order;
  std::uint32_t head = log.head.load(std::memory_order_relaxed);
  const std::size_t used = head - log.tail.load(std::memory_order_acquire);
  const std::size_t size = std::min(order.size(), protocol::order_size - std::min(used, protocol::order_size));
  for (std::size_t i = 0; i < size; ++i, ++head)
    log.bytes[head % protocol::order_size] = static_cast<unsigned char>(order[i]);
  log.head.store(head, std::memory_order_release);
  return size;
}

int Channel::urgency_of(pid_t thread) const {
  for (const protocol::Urgency& urgency : pages_.urgencies) {
    const std::uint32_t owner = urgency.thread.load(std::memory_order_acquire);
    if (owner == static_cast<std::uint32_t>(thread)) return urgency.rank.load(std::memory_order_relaxed);
    if (owner == 0) return 0;  // they are taken in order
  }
  return 0;
}

std::span<const std::byte> Channel::empty_ring(std::uint32_t link, std::vector<std::byte>& room) {
  protocol::Link& l = pages_.links[link];
  std::uint32_t tail = l.ring_tail.load(std::memory_order_relaxed);
  const std::uint32_t head = l.ring_head.load(std::memory_order_acquire);
  const std::size_t size = std::min<std::size_t>(head - tail, protocol::ring_size);  // whatever stands there
  room.resize(std::max(room.size(), size));
  for (std::size_t i = 0; i < size; ++i, ++tail) room[i] = static_cast<std::byte>(l.ring[tail % protocol::ring_size]);
  l.ring_tail.store(head, std::memory_order_release);
  return std::span(room).first(size);
}

bool Channel::ring_is_empty(std::uint32_t link) const {
  const protocol::Link& l = pages_.links[link];
  return l.ring_head.load(std::memory_order_relaxed) == l.ring_tail.load(std::memory_order_acquire);
}

void Channel::fill_ring(std::uint32_t link, std::span<const std::byte> values) {
  protocol::Link& l = pages_.links[link];
  std::uint32_t head = l.ring_head.load(std::memory_order_relaxed);
  for (const std::byte value : values.first(std::min(values.size(), protocol::ring_size))) {
    l.ring[head++ % protocol::ring_size] = static_cast<unsigned char>(value);
  }
  l.ring_head.store(head, std::memory_order_release);
}

void Channel::set_clock(SimTime base, SimTime limit, std::uint64_t counter, std::uint64_t scale, SimSpan executed) {
  protocol::ClockFace& face = pages_.clock;
  const std::uint32_t turn = face.turn.load(std::memory_order_relaxed);
  face.turn.store(turn + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  face.base.store(base.ns(), std::memory_order_relaxed);
  face.limit.store(limit.ns(), std::memory_order_relaxed);
  face.counter.store(counter, std::memory_order_relaxed);
  face.scale.store(scale, std::memory_order_relaxed);
  if (face.counter_use != protocol::CounterUse::host) face.wall.store(wall_now().ns(), std::memory_order_relaxed);
  face.waited.store((base.since_zero() - executed).ns(), std::memory_order_relaxed);
  face.turn.store(turn + 2, std::memory_order_release);
}

void Channel::set_clock_mode(protocol::ClockMode mode) {
  pages_.clock.mode.store(static_cast<std::uint32_t>(mode), std::memory_order_relaxed);
}

}  // namespace isochron::programs
