#pragma once
// The processor's counter, by which a program interpolates its own clock between two dispatches.

#include <cstdint>

namespace isochron::programs {

inline std::uint64_t time_stamp_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}

}  // namespace isochron::programs
