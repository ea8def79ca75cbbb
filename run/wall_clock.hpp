#pragma once
// The real clock, for whoever runs scenarios.

#include "flow/wall_clock.hpp"
