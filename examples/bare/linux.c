/* The same pilot on Linux, over a serial line: a board with a small Linux, or a pty.
 *
 *     linux_pilot /dev/ttyS1        with PILOT_KEY compiled in, if the host has a key
 *     linux_pilot /dev/ttyS1 0.1    with a clock that runs at a tenth of the true rate, to see what the host says of
 * it */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "client/bare/isochron_serial.h"
#include "examples/bare/pilot.h"

static int tty;
static double clock_rate = 1;

static int tty_send(void* context, const uint8_t* bytes, size_t size) {
  const ssize_t n = write(tty, bytes, size);
  (void)context;
  return n >= 0 ? (int)n : errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* Waits a little for something to come, so that a waiting pilot does not take a whole core. */
static int tty_receive(void* context, uint8_t* bytes, size_t size) {
  struct pollfd at = {tty, POLLIN, 0};
  ssize_t n;
  (void)context;
  if (poll(&at, 1, 1) == 0) return 0;
  n = read(tty, bytes, size);
  return n > 0 ? (int)n : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static int64_t tty_clock(void* context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)((double)now.tv_sec * 1e9 * clock_rate) + (int64_t)((double)now.tv_nsec * clock_rate);
}

static int make_nonce(uint8_t nonce[32]) {
  const int file = open("/dev/urandom", O_RDONLY);
  const int got = file >= 0 && read(file, nonce, 32) == 32;
  if (file >= 0) close(file);
  return got;
}

int main(int count, char** words) {
  static isochron_serial serial;
  static isochron_bare robot;
  const isochron_bare_transport uart = {0, tty_send, tty_receive, tty_clock};
  isochron_bare_transport line;
  isochron_bare_who who = {"prey/pilot", 0, 0, 0};
  struct termios raw;
  uint8_t key[32], nonce[32];
  int status;
  if (count == 3) clock_rate = atof(words[2]);
  tty = count == 2 || count == 3 ? open(words[1], O_RDWR | O_NOCTTY | O_NONBLOCK) : -1;
  if (tty < 0 || tcgetattr(tty, &raw) != 0) {
    fprintf(stderr, "usage: %s DEVICE [CLOCK_RATE]; the device is a serial line that can be opened\n", words[0]);
    return 2;
  }
  cfmakeraw(&raw);
  cfsetspeed(&raw, B921600);
  tcsetattr(tty, TCSANOW, &raw);
  if (!make_nonce(nonce)) return fprintf(stderr, "this system gives no random numbers\n"), 1;
  who.nonce = nonce;
  who.key_size = pilot_key(key);
  if (who.key_size > 0) who.key = key;
  isochron_serial_open(&serial, &uart, 921600, (uint16_t)tty_clock(0));
  isochron_serial_transport(&serial, &line);
  status = fly(&robot, &line, &who);
  if (status != ISOCHRON_BARE_ENDED) fprintf(stderr, "%s\n", robot.why);
  isochron_bare_leave(&robot);
  isochron_serial_close(&serial);
  fprintf(stderr, "damaged packets: %u, sent again: %u\n", (unsigned)serial.line.damaged, (unsigned)serial.line.resent);
  return status == ISOCHRON_BARE_ENDED ? 0 : 1;
}
