#include "coordinator/channel.hpp"

#include <algorithm>
#include <cstring>

#include "coordinator/futex.hpp"

namespace isochron::coordinator {

std::uint32_t Channel::links_used() const {
  return std::min<std::uint32_t>(pages_.links_used.load(std::memory_order_acquire), protocol::links_max);
}

bool Channel::asks(std::uint32_t link) const {
  return pages_.links[link].asked.load(std::memory_order_acquire) != taken_[link];
}

std::optional<std::uint32_t> Channel::asking() const {
  const std::uint32_t used = links_used();
  for (std::uint32_t i = 0; i < used; ++i) {
    if (asks(i)) return i;
  }
  return std::nullopt;
}

protocol::Exchange Channel::take(std::uint32_t link) {
  protocol::Link& l = pages_.links[link];
  taken_[link] = l.asked.load(std::memory_order_acquire);
  protocol::Exchange exchange = l.exchange;
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

void Channel::answer(std::uint32_t link, protocol::Exchange exchange) {
  protocol::Link& l = pages_.links[link];
  l.exchange = exchange;
  l.answered.store(taken_[link], std::memory_order_seq_cst);
  // Either the program sees the answer before it sleeps, or we see that it sleeps; see SharedLink::ask.
  if (l.sleeping.load(std::memory_order_seq_cst) != 0) futex_wake(l.answered);
}

void Channel::answer_all_ended(SimTime at) {
  protocol::Exchange exchange;
  exchange.verdict = static_cast<std::uint32_t>(protocol::Verdict::ended);
  exchange.time = at.ns();
  for (std::uint32_t i = 0; i < links_used(); ++i) {
    if (taken_[i] != pages_.links[i].answered.load(std::memory_order_relaxed)) answer(i, exchange);
  }
}

void Channel::refuse(std::uint32_t link, protocol::Verdict verdict, SimTime at, std::string_view why) {
  protocol::Exchange exchange;
  exchange.verdict = static_cast<std::uint32_t>(verdict);
  exchange.time = at.ns();
  exchange.size = static_cast<std::uint32_t>(std::min<std::size_t>(why.size(), protocol::payload_max));
  std::memcpy(pages_.links[link].payload, why.data(), exchange.size);
  answer(link, exchange);
}

void Channel::set_clock(SimTime base, SimTime limit, std::uint64_t counter, std::uint64_t scale) {
  protocol::ClockFace& face = pages_.clock;
  const std::uint32_t turn = face.turn.load(std::memory_order_relaxed);
  face.turn.store(turn + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  face.base.store(base.ns(), std::memory_order_relaxed);
  face.limit.store(limit.ns(), std::memory_order_relaxed);
  face.counter.store(counter, std::memory_order_relaxed);
  face.scale.store(scale, std::memory_order_relaxed);
  face.turn.store(turn + 2, std::memory_order_release);
}

void Channel::set_clock_mode(protocol::ClockMode mode, std::int64_t epoch_ns) {
  pages_.clock.mode.store(static_cast<std::uint32_t>(mode), std::memory_order_relaxed);
  pages_.clock.epoch = epoch_ns;
}

}  // namespace isochron::coordinator
