#pragma once
// What the lock-free structures are built from, as a policy: the product uses std::atomic, the interleaving checker
// (rt/test/interleavings.hpp) a model of it, and both run the same code.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace isochron::rt {

struct StdAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
};

/// Two writers nearer than this to each other slow each other down: two lines, since processors fetch lines in pairs.
inline constexpr std::size_t no_sharing = 128;

/// Tells the processor that this is a spinning loop.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace isochron::rt
