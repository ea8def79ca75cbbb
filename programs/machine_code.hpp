#pragma once
// Instructions of a program that reach past libc: system calls, the time stamp counter, the random instruction. They are
// found by their bytes and by those that a compiler puts around them; so what is found is likely, not certain, and what
// a program makes at run time is not seen.
//
// Promises: never reads outside of the bytes. Threads: any.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace isochron::programs {

struct MachineCode {
  std::size_t calls = 0;    // syscall
  std::size_t counter = 0;  // rdtsc, rdtscp
  std::size_t chance = 0;   // rdrand, rdseed
  MachineCode& operator+=(const MachineCode& more) {
    calls += more.calls;
    counter += more.counter;
    chance += more.chance;
    return *this;
  }
};
MachineCode look_at_code(std::span<const std::byte> code);
/// Of so many bytes of a file.
MachineCode look_at_code(const std::function<bool(std::uint64_t offset, std::span<std::byte> into)>& source,
                         std::uint64_t offset, std::uint64_t size);

}  // namespace isochron::programs
