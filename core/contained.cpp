#include "core/contained.hpp"

#include <array>
#include <atomic>
#include <cstdio>

#include "core/foreign_text.hpp"

namespace isochron {
namespace {

std::atomic<std::uint64_t> count{0};
std::array<std::atomic<const char*>, 32> told{};  // places are literals

bool is_new(const char* where) {
  for (auto& place : told) {
    const char* nobody = nullptr;
    if (place.compare_exchange_strong(nobody, where)) return true;
    if (nobody == where) return false;
  }
  return false;
}

}  // namespace

std::uint64_t contained_count() noexcept { return count.load(); }

void tell_contained(const char* where, const char* what) noexcept {
  count.fetch_add(1);
  if (!is_new(where)) return;
  try {
    const std::string text = foreign_text(what, 400);
    std::fprintf(stderr, "isochron: %s: %s; the run goes on. This is a bug in Isochron\n", where, text.c_str());
  } catch (...) {
    std::fputs("isochron: out of memory; the run goes on\n", stderr);
  }
}

}  // namespace isochron
