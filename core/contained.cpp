#include "core/contained.hpp"

#include <array>
#include <atomic>
#include <cstdio>

#include "core/foreign_text.hpp"
#include "core/log.hpp"

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
    log_line(LogLevel::error, where, text + "; the run goes on. This is a bug in Isochron");
  } catch (...) {
    std::fputs("isochron: out of memory; the run goes on\n", stderr);
  }
}

}  // namespace isochron
