#pragma once
// What happened in a simulated world, in order, as one number. Two runs with the same digest went through the same
// events at the same times with the same bytes; that is how "one seed, one history" is tested rather than claimed.
//
// With ISOCHRON_TRACE=1 in the environment every event is also printed, for the one run that one wants to read.
//
// Threads: owner thread. Cost: a few ns an event; allocates only when tracing.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/time.hpp"

namespace isochron {

class History {
 public:
  History();
  void note(WallTime at, std::string_view what, std::initializer_list<std::uint64_t> numbers = {},
            std::span<const std::byte> bytes = {});

  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void mix(std::uint64_t x);
  std::uint64_t digest_ = 0;
  std::uint64_t events_ = 0;
  bool trace_;
};

}  // namespace isochron
