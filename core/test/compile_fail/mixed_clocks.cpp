// Must not compile. Without MIX it must, so that the failure is the mixing and nothing else.
#include "core/time.hpp"

int main() {
  using namespace isochron;
  const WallTime wall_now = WallTime::zero();
  const SimTime sim_a = SimTime::zero();
  const SimTime sim_b = sim_a + SimSpan::from_ns(1);
#if MIX == 1
  return (wall_now + (sim_b - sim_a)).ns() == 0;
#elif MIX == 2
  return sim_b < wall_now;
#elif MIX == 3
  const CpuSpan cpu = sim_b - sim_a;
  return cpu.ns() == 0;
#elif MIX == 4
  return (sim_a + sim_b).ns() == 0;
#else
  return (wall_now + WallSpan::from_ns((sim_b - sim_a).ns())).ns() == 0;
#endif
}
