#pragma once
// SUNDIALS' CVODE as one of the solvers (solver.hpp). Fails: InputError in a build without it.

#include <memory>

#include "bridge/fmi/solver.hpp"

namespace isochron::fmi {

std::unique_ptr<Solver> make_cvode(Equations& equations, double tolerance);

}  // namespace isochron::fmi
