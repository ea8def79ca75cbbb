#ifndef PILOT_H
#define PILOT_H
#include "client/bare/isochron_bare.h"

/* Brings its ship to the origin and holds it there, as examples/hil/pilot.cpp does, until the run is over. */
int fly(isochron_bare* robot, const isochron_bare_transport* transport, const isochron_bare_who* who);

/* PILOT_KEY, hexadecimal digits from the compiler's command line, as bytes; 0 = none was given. */
size_t pilot_key(uint8_t key[32]);
#endif
