#pragma once
// Counts what is asked of the heap in this process, by C and by C++ alike. Include in one source file of a test.

#include <dlfcn.h>

#include <atomic>
#include <cstddef>

namespace isochron::world {
inline std::atomic<long> allocations{0};
}

// glibc's own allocator under its internal names: the libraries under test call malloc, and find these.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  isochron::world::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  isochron::world::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(n, size);
}
void* realloc(void* old, std::size_t size) {
  isochron::world::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  isochron::world::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
}
