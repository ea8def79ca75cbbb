#pragma once
// The coordinator's end of a program's shared pages: sees who asks, copies the request out of the program's reach, and
// answers. Whatever the program scribbles into its pages, the worst it gets is a wrong answer for itself.
//
// Threads: the coordinator's. Cost: no allocation but for the copy of a larger payload.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "programs/desk.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

/// "read", "write": as reports name what a program asks for.
std::string name_of(protocol::Ask ask);

class Channel {
 public:
  explicit Channel(protocol::Pages& pages) : pages_(pages) {}

  /// The link whose request was made first, of those that were not taken yet.
  [[nodiscard]] std::optional<std::uint32_t> asking() const;
  [[nodiscard]] bool asks(std::uint32_t link) const;
  /// The request as it stands there, not taken.
  [[nodiscard]] protocol::Exchange look(std::uint32_t link) const { return pages_.links[link].exchange; }
  /// A copy of the request; its texts end with 0 and its size is within the payload.
  protocol::Exchange take(std::uint32_t link);
  [[nodiscard]] std::span<const std::byte> payload(std::uint32_t link, std::uint32_t size) const;
  /// Room for an answer's payload.
  [[nodiscard]] std::span<std::byte> room(std::uint32_t link) const;

  /// The request that was taken, with its payload out of the program's reach; good until the next one.
  [[nodiscard]] Request request(std::uint32_t link, const protocol::Exchange& taken);
  void answer(std::uint32_t link, protocol::Exchange exchange);
  /// The payload of the reply lies in room(link) already.
  void answer(std::uint32_t link, SimTime at, const Reply& reply);
  /// What a request for a call asks for, and with which bytes; these are good until the next one.
  [[nodiscard]] protocol::Call call(std::uint32_t link) const { return pages_.links[link].call; }
  [[nodiscard]] std::span<const std::byte> call_payload(std::uint32_t link, const protocol::Call& call);
  void answer_call(std::uint32_t link, SimTime at, const protocol::Call& call, std::span<const std::byte> payload);
  /// The call waits: its thread has the baton again in the order of answers.
  void suspended(std::uint32_t link) { suspended_[link] = true; }
  /// The thread sends these to itself as soon as it is answered.
  void send_signals(std::uint32_t link, std::uint64_t signals) {
    pages_.links[link].signals.fetch_or(signals, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t signals_handled() const { return pages_.handled.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t signals_ignored() const { return pages_.ignored.load(std::memory_order_relaxed); }
  /// Whether a descriptor of the process is a simulated one.
  [[nodiscard]] bool has_descriptor(int descriptor) const;
  /// The request of this link lets other threads of its program run.
  void pass(std::uint32_t link);
  /// Tells every link that waits that the run is over.
  void answer_all_ended(SimTime at);

  /// Sets the clock face: from `base` on at `scale` (simulated ns for each count, times 2^32), not beyond `limit`. Up
  /// to `base` the program has executed this much, which its CPU clock shows.
  void set_clock(SimTime base, SimTime limit, std::uint64_t counter, std::uint64_t scale, SimSpan executed);
  void set_clock_mode(protocol::ClockMode mode);
  /// The next look at the clock is a request, or no longer.
  void set_first_look(bool asks) { pages_.clock.first_look.store(asks ? 1 : 0, std::memory_order_relaxed); }
  /// The clock values that the program left in its ring since the last call, packed; at most a ring of them.
  [[nodiscard]] std::span<const std::byte> empty_ring(std::uint32_t link, std::vector<std::byte>& room);
  /// Puts packed values into the ring, which holds them: they came out of one.
  void fill_ring(std::uint32_t link, std::span<const std::byte> values);
  [[nodiscard]] bool ring_is_empty(std::uint32_t link) const;
  /// The order of threads that the program left since the last call; `all`: with the run that goes on.
  [[nodiscard]] std::span<const std::byte> empty_order(std::vector<std::byte>& room, bool all);
  std::size_t fill_order(std::span<const std::byte> order);
  /// How many waits were answered so far.
  [[nodiscard]] std::int64_t waits_answered() const { return waits_answered_; }
  [[nodiscard]] std::uint32_t links_used() const;
  /// The thread that has this link.
  [[nodiscard]] std::uint32_t owner(std::uint32_t link) const {
    return pages_.links[link].owner.load(std::memory_order_relaxed);
  }
  /// How the program itself ranks a thread of it (protocol::Urgency), and how often it said something about that.
  [[nodiscard]] int urgency_of(pid_t thread) const;
  [[nodiscard]] std::uint32_t urgencies_changed() const {
    return pages_.urgencies_changed.load(std::memory_order_acquire);
  }
  /// Whether threads of the program found no link left.
  [[nodiscard]] bool links_missing() const { return pages_.links_missing.load(std::memory_order_relaxed) != 0; }
  /// Processes that came from the program, by their ids as they entered themselves, and how many more there were.
  [[nodiscard]] std::vector<std::uint32_t> family() const;
  [[nodiscard]] std::uint32_t family_unnamed() const { return pages_.family.more.load(std::memory_order_relaxed); }
  void set_patience(std::uint32_t looks) { pages_.patience.store(looks, std::memory_order_relaxed); }
  void set_over() { pages_.over.store(1, std::memory_order_release); }

 private:
  protocol::Pages& pages_;
  std::int64_t waits_answered_ = 0;
  std::vector<std::byte> copied_;     // the payload of a request
  std::vector<std::uint32_t> taken_;  // by link, of those that asked
  std::vector<protocol::Ask> asked_;  // by link: for what
  std::vector<char> suspended_;       // by link: its call waits
  std::vector<char> holds_;           // by link: it waits and may still have the baton
};

}  // namespace isochron::programs
