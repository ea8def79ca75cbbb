// The planets as a library that scenario files can name.

#include "examples/nbody/planet.hpp"

ISOCHRON_NODES(isochron::flow::node_type<nbody::Planet>(
    "Planet", "a body on a unit torus; parameters mass, x, y, vx, vy, period, pulled_by",
    "in: pull0 … (one for each that pulls it); out: position, predictive, every period"))
