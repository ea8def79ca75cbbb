#include "flow/arena.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace isochron::flow {
namespace {
constexpr std::size_t page = 4096;
constexpr std::size_t least_chunk = 256 * 1024;

constexpr std::size_t round_up(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }
}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) munmap(chunk.memory, chunk.size);
}

void* Arena::take(std::size_t size, std::size_t align) {
  next_ = round_up(next_, align);
  if (chunks_.empty() || next_ + size > chunks_.back().size) {
    const std::size_t room = round_up(std::max(size, least_chunk), page);
    const int sharing = shared() ? MAP_SHARED : MAP_PRIVATE;
    void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    chunks_.push_back({static_cast<std::byte*>(memory), room});
    next_ = 0;
  }
  void* piece = chunks_.back().memory + next_;
  next_ += size;
  used_ += size;
  return piece;
}

}  // namespace isochron::flow
