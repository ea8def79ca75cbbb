#include "testing/history.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace isochron {

History::History() : trace_(std::getenv("ISOCHRON_TRACE") != nullptr) {}

void History::mix(std::uint64_t x) {
  x = (digest_ ^ x) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  digest_ = x ^ (x >> 32);
}

void History::note(WallTime at, std::string_view what, std::initializer_list<std::uint64_t> numbers,
                   std::span<const std::byte> bytes) {
  ++events_;
  mix(static_cast<std::uint64_t>(at.ns()));
  for (const char c : what) mix(static_cast<unsigned char>(c));
  for (const std::uint64_t n : numbers) mix(n);
  mix(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    mix(word);
  }
  if (!trace_) return;
  std::fprintf(stderr, "%12.6f s  %.*s", at.seconds(), static_cast<int>(what.size()), what.data());
  for (const std::uint64_t n : numbers) std::fprintf(stderr, " %llu", static_cast<unsigned long long>(n));
  std::fprintf(stderr, bytes.empty() ? "\n" : " (%zu bytes)\n", bytes.size());
}

}  // namespace isochron
