#pragma once
// The coordinator's end of a program's shared pages: sees who asks, copies the request out of the program's reach, and
// answers. Whatever the program scribbles into its pages, the worst it gets is a wrong answer for itself.
//
// Threads: the coordinator's. Cost: no allocation but for the copy of a payload.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/time.hpp"
#include "link/program_protocol.hpp"

namespace isochron::coordinator {

class Channel {
 public:
  explicit Channel(protocol::Pages& pages) : pages_(pages) {}

  /// The first link with a request that was not taken yet.
  [[nodiscard]] std::optional<std::uint32_t> asking() const;
  [[nodiscard]] bool asks(std::uint32_t link) const;
  /// A copy of the request; its texts end with 0 and its size is within the payload.
  protocol::Exchange take(std::uint32_t link);
  [[nodiscard]] std::span<const std::byte> payload(std::uint32_t link, std::uint32_t size) const;
  /// Room for an answer's payload.
  [[nodiscard]] std::span<std::byte> room(std::uint32_t link) const;

  void answer(std::uint32_t link, protocol::Exchange exchange);
  /// Tells every link that waits that the run is over.
  void answer_all_ended(SimTime at);
  void refuse(std::uint32_t link, protocol::Verdict verdict, SimTime at, std::string_view why);

  /// Sets the clock face: from `base` on at `scale` (simulated ns for each count, times 2^32), not beyond `limit`.
  void set_clock(SimTime base, SimTime limit, std::uint64_t counter, std::uint64_t scale);
  void set_clock_mode(protocol::ClockMode mode, std::int64_t epoch_ns);
  /// Moves clock values that the program left in its ring to `take`.
  template <class Take>
  void empty_ring(std::uint32_t link, Take&& take) {
    protocol::Link& l = pages_.links[link];
    std::uint32_t tail = l.ring_tail.load(std::memory_order_relaxed);
    const std::uint32_t head = l.ring_head.load(std::memory_order_acquire);
    for (std::uint32_t n = 0; tail != head && n < protocol::ring_size; ++tail, ++n) {
      take(SimTime::from_ns(l.ring[tail % protocol::ring_size]));
    }
    l.ring_tail.store(tail, std::memory_order_release);
  }
  /// Puts values into the ring while there is room and `next` has one.
  template <class Next>
  void fill_ring(std::uint32_t link, Next&& next) {
    protocol::Link& l = pages_.links[link];
    std::uint32_t head = l.ring_head.load(std::memory_order_relaxed);
    while (head - l.ring_tail.load(std::memory_order_acquire) < protocol::ring_size) {
      const std::optional<SimTime> value = next();
      if (!value) return;
      l.ring[head % protocol::ring_size] = value->ns();
      l.ring_head.store(++head, std::memory_order_release);
    }
  }
  [[nodiscard]] std::uint32_t links_used() const;
  /// The thread that has this link.
  [[nodiscard]] std::uint32_t owner(std::uint32_t link) const {
    return pages_.links[link].owner.load(std::memory_order_relaxed);
  }
  void set_patience(std::uint32_t looks) { pages_.patience.store(looks, std::memory_order_relaxed); }
  void set_over() { pages_.over.store(1, std::memory_order_release); }

 private:
  protocol::Pages& pages_;
  std::array<std::uint32_t, protocol::links_max> taken_{};
};

}  // namespace isochron::coordinator
