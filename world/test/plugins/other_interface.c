/* An engine and a controller made for an interface that never was. */
#include <stdint.h>
uint32_t isochron_engine_interface(void) { return 99; }
uint32_t isochron_controller_interface(void) { return 99; }
