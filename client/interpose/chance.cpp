// Randomness that programs take from the kernel, by the run's seed: a program that draws its hash seeds, ports and
// guesses from there does the same in every run, and a replay follows it. Each draw is an operation in the order of
// threads, so that each thread draws what it drew.
//
// Not followed: the processor's own instruction for it, and what libc draws for itself.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>

#include "client/interpose/chance.hpp"
#include "client/interpose/clock.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(getrandom)
ISOCHRON_ORIGINAL(getentropy)
ISOCHRON_ORIGINAL(open)
ISOCHRON_ORIGINAL(open64)
ISOCHRON_ORIGINAL(openat)
ISOCHRON_ORIGINAL(openat64)
ISOCHRON_ORIGINAL(fopen)
ISOCHRON_ORIGINAL(fopen64)

std::atomic<std::uint64_t> drawn{0};

/// A pure function of seed and count, so that no state has to be kept in step.
std::uint64_t bits(std::uint64_t seed, std::uint64_t count) {
  std::uint64_t x = seed + (count + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr int devices_max = 16;
std::atomic<int> devices[devices_max];  // descriptors of /dev/urandom, plus one; 0 = free

bool is_device(const char* path) {
  return path != nullptr && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

int opened(const char* path, int descriptor) {
  if (descriptor < 0 || !attached() || !is_device(path)) return descriptor;
  for (auto& device : devices) {
    int free = 0;
    if (device.compare_exchange_strong(free, descriptor + 1)) break;
  }
  return descriptor;
}

mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

ssize_t read_chance(void*, char* into, size_t size) {
  draw(into, size);
  return static_cast<ssize_t>(size);
}

FILE* stream_of_chance(const char* mode) {
  cookie_io_functions_t functions{};
  functions.read = read_chance;
  return fopencookie(nullptr, mode, functions);
}

}  // namespace

namespace isochron::interpose {

void draw(void* into, std::size_t size) {
  const Turn turn;
  const std::uint64_t seed = shared_pages()->seed;
  auto* bytes = static_cast<unsigned char*>(into);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = bits(seed, drawn.fetch_add(1, std::memory_order_relaxed));
    memcpy(bytes + at, &word, size - at < 8 ? size - at : 8);
  }
}

bool gives_chance(int descriptor) {
  if (descriptor < 0) return false;  // which a free place would look like
  for (const auto& device : devices) {
    if (device.load(std::memory_order_relaxed) == descriptor + 1) return true;
  }
  return false;
}

void forget_chance(int descriptor) {
  for (auto& device : devices) {
    int open = descriptor + 1;
    device.compare_exchange_strong(open, 0);
  }
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

ssize_t getrandom(void* into, size_t size, unsigned flags) {
  if (!attached()) return libc_getrandom(into, size, flags);
  draw(into, size);
  return static_cast<ssize_t>(size);
}

int getentropy(void* into, size_t size) {
  if (!attached()) return libc_getentropy(into, size);
  if (size > 256) {
    errno = EIO;
    return -1;
  }
  draw(into, size);
  return 0;
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, libc_open(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, libc_open64(path, flags, mode));
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, libc_openat(folder, path, flags, mode));
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, libc_openat64(folder, path, flags, mode));
}
FILE* fopen(const char* __restrict path, const char* __restrict mode) {
  return attached() && is_device(path) ? stream_of_chance(mode) : libc_fopen(path, mode);
}
FILE* fopen64(const char* __restrict path, const char* __restrict mode) {
  return attached() && is_device(path) ? stream_of_chance(mode) : libc_fopen64(path, mode);
}

std::uint32_t arc4random(void) {
  std::uint32_t value = 0;
  getrandom(&value, sizeof value, 0);
  return value;
}
void arc4random_buf(void* into, size_t size) { getrandom(into, size, 0); }
std::uint32_t arc4random_uniform(std::uint32_t bound) {
  if (bound < 2) return 0;
  const std::uint32_t unfair = (0u - bound) % bound;
  std::uint32_t value = arc4random();
  while (value < unfair) value = arc4random();
  return value % bound;
}

}  // extern "C"
#pragma GCC visibility pop
