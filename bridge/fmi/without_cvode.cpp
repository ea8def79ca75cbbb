// What stands in for cvode.cpp in a build without SUNDIALS: wiring.cpp refuses such an FMU at its place before.

#include "bridge/fmi/cvode.hpp"
#include "core/build_parts.hpp"

namespace isochron::fmi {

std::unique_ptr<Solver> make_cvode(Equations&, double) {
  need_part("CVODE", {}, "give `solver: rk4`");
  return nullptr;
}

}  // namespace isochron::fmi
