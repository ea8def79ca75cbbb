// nbody [thread|pool|threads|processes|tcp|free] [SECONDS]
// Runs the four planets and prints the digest of everything they said: one number for every way but `free`.

#include <cstdio>
#include <cstdlib>

#include "examples/nbody/planet.hpp"
#include "flow/run.hpp"

int main(int count, char** arguments) {
  using namespace isochron;
  const auto how = flow::parse_how(count > 1 ? arguments[1] : "thread");
  if (!how) {
    std::fprintf(stderr, "%s\n", how.error().c_str());
    return 2;
  }
  const std::int64_t seconds = count > 2 ? std::atoll(arguments[2]) : 100'000;
  flow::System system = nbody::four_planets();
  flow::Options options;
  options.how = *how;
  options.until = SimTime::zero() + SimSpan(std::chrono::seconds(seconds));
  const flow::FlowOutcome outcome = flow::run(system, options);
  for (const auto& failure : outcome.failures) std::fprintf(stderr, "%s\n", to_string(failure).c_str());
  std::printf("%s: %llu messages in %lld s of simulated time, digest %016llx\n", to_string(*how),
              static_cast<unsigned long long>(outcome.messages), static_cast<long long>(seconds),
              static_cast<unsigned long long>(outcome.digest));
  return outcome.complete ? 0 : 1;
}
