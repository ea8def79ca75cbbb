#ifndef ISOCHRON_SERIAL_H
#define ISOCHRON_SERIAL_H
/* A serial line as a transport of client/bare/isochron_bare.h: lost, doubled and changed bytes are sent again
 * (protocol/serial_line.h). Below it are the two functions of the UART; they may take and give single bytes.
 *
 *     isochron_serial_open(&serial, &uart, 921600, session);       again before each attach; another session each time
 *     isochron_serial_transport(&serial, &transport);
 *     isochron_bare_attach(&robot, &transport, &who);
 *
 * Requires: while the program computes nothing is read from the UART. What comes meanwhile is sent again; an
 *           interrupt that keeps it in a buffer saves that.
 * Fails:    a host that says nothing for ten seconds is gone. */
#include "client/bare/isochron_bare.h"
#include "protocol/serial_line.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes kept in each direction; a power of two. */
#ifndef ISOCHRON_SERIAL_ROOM
#define ISOCHRON_SERIAL_ROOM 512
#endif

/* Its fields are the transport's own. */
typedef struct isochron_serial {
  isochron_bare_transport uart;
  isochron_line line;
  uint16_t wire_used, wire_sent;
  uint8_t wire[ISOCHRON_LINE_WIRE_MAX];
  uint8_t out[ISOCHRON_SERIAL_ROOM], in[ISOCHRON_SERIAL_ROOM];
} isochron_serial;

void isochron_serial_open(isochron_serial* serial, const isochron_bare_transport* uart, uint32_t baud,
                          uint16_t session);
void isochron_serial_transport(isochron_serial* serial, isochron_bare_transport* transport);
/* After isochron_bare_leave(), or the end: gives what was said last some time to arrive. */
void isochron_serial_close(isochron_serial* serial);

#ifdef __cplusplus
}
#endif
#endif
