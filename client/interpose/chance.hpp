#pragma once
// Randomness by the run's seed (chance.cpp), for the functions that meet it elsewhere.

#include <cstddef>

namespace isochron::interpose {

/// Requires: attached.
void draw(void* into, std::size_t size);
/// Whether the descriptor is /dev/urandom or /dev/random.
bool gives_chance(int descriptor);
/// The descriptor is closed.
void forget_chance(int descriptor);

}  // namespace isochron::interpose
