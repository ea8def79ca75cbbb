#include "core/ensure.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace isochron {
namespace {
thread_local const char* doing_participant = nullptr;
thread_local std::int64_t doing_ns = 0;
}  // namespace

DoingScope::DoingScope(const char* participant, std::int64_t sim_ns) noexcept
    : outer_participant_(doing_participant), outer_ns_(doing_ns) {
  doing_participant = participant;
  doing_ns = sim_ns;
}

DoingScope::~DoingScope() {
  doing_participant = outer_participant_;
  doing_ns = outer_ns_;
}

void DoingScope::at(std::int64_t sim_ns) noexcept { doing_ns = sim_ns; }

void ensure_failed(const char* condition, const char* why, const char* file, int line) noexcept {
  std::fprintf(stderr, "isochron: a bug in Isochron or in a part plugged into it: %s\n  %s:%d: ENSURE(%s) failed\n",
               why, file, line, condition);
  if (doing_participant != nullptr) {
    std::fprintf(stderr, "  participant %s at simulated time %" PRId64 " ns\n", doing_participant, doing_ns);
  }
  std::abort();
}

}  // namespace isochron
