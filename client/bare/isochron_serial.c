#include "client/bare/isochron_serial.h"

#define SILENCE_US 10000000U
#define LINGER_US 500000U

static uint32_t now_us(isochron_serial* serial) {
  return (uint32_t)((uint64_t)serial->uart.clock(serial->uart.context) / 1000U);
}

/* Whatever can be done now. Negative: the line is gone. */
static int turn(isochron_serial* serial) {
  uint8_t bytes[16];
  uint32_t now = now_us(serial);
  int n = serial->uart.receive(serial->uart.context, bytes, sizeof bytes);
  if (n < 0) return n;
  if (n > 0) isochron_line_take(&serial->line, bytes, (size_t)n, now);
  if (serial->wire_sent == serial->wire_used) {
    serial->wire_sent = 0;
    serial->wire_used = (uint16_t)isochron_line_next(&serial->line, serial->wire, now);
  }
  if (serial->wire_sent < serial->wire_used) {
    n = serial->uart.send(serial->uart.context, serial->wire + serial->wire_sent,
                          (size_t)(serial->wire_used - serial->wire_sent));
    if (n < 0) return n;
    serial->wire_sent = (uint16_t)(serial->wire_sent + n);
  }
  if (serial->line.state == ISOCHRON_LINE_CLOSED) return -1;
  return isochron_line_silence(&serial->line, now) > SILENCE_US ? -1 : 0;
}

static int serial_send(void* context, const uint8_t* bytes, size_t size) {
  isochron_serial* serial = (isochron_serial*)context;
  const size_t taken = isochron_line_write(&serial->line, bytes, size);
  const int status = turn(serial);
  return status < 0 ? status : (int)taken;
}

static int serial_receive(void* context, uint8_t* bytes, size_t size) {
  isochron_serial* serial = (isochron_serial*)context;
  size_t n = isochron_line_read(&serial->line, bytes, size);
  int status;
  if (n > 0) return (int)n;
  status = turn(serial);
  if (status < 0 && serial->line.in_used == 0) return status;
  return (int)isochron_line_read(&serial->line, bytes, size);
}

static int64_t serial_clock(void* context) {
  isochron_serial* serial = (isochron_serial*)context;
  return serial->uart.clock(serial->uart.context);
}

void isochron_serial_open(isochron_serial* serial, const isochron_bare_transport* uart, uint32_t baud,
                          uint16_t session) {
  serial->uart = *uart;
  serial->wire_used = serial->wire_sent = 0;
  isochron_line_init(&serial->line, serial->out, ISOCHRON_SERIAL_ROOM, serial->in, ISOCHRON_SERIAL_ROOM, baud,
                     now_us(serial));
  isochron_line_open(&serial->line, session, now_us(serial));
}

void isochron_serial_transport(isochron_serial* serial, isochron_bare_transport* transport) {
  transport->context = serial;
  transport->send = serial_send;
  transport->receive = serial_receive;
  transport->clock = serial_clock;
}

void isochron_serial_close(isochron_serial* serial) {
  const uint32_t begun = now_us(serial);
  while ((isochron_line_pending(&serial->line) > 0 || serial->wire_sent < serial->wire_used) &&
         now_us(serial) - begun < LINGER_US && turn(serial) >= 0) {
  }
}
