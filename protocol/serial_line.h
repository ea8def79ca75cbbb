#ifndef ISOCHRON_SERIAL_LINE_H
#define ISOCHRON_SERIAL_LINE_H
/* A stream of bytes, whole and in order, both ways over a serial line that loses, doubles and changes some. It is both
 * ends of the line: the board opens it, the host takes whoever opens. It does no input or output and reads no clock;
 * whoever has a line hands in what came and sends what is due.
 *
 *     packet    0 | COBS( kind, session:2, seq:2, ack:2, data:0..128, crc32:4 ) | 0 0
 *
 *     board  -- open(session, room) ->  host       again until it is answered; a new session begins a new stream
 *            <- opened(session, room) --
 *            <- data(seq, ack) -------->           seq: where in the stream it stands; ack: the next byte awaited
 *
 * Who gets a packet that is damaged or after a gap says so, and its peer goes back to what was not acknowledged; if
 * nothing comes at all, after a while. Packets get shorter while they are lost and longer again when they are not,
 * so that a line that drops every hundredth byte still gets them through.
 *
 * Promises: what is read is what the other end wrote, in order. What finds no room is dropped and sent again.
 * Requires: room_in and room_out are powers of two of at most 16384; times are microseconds of any clock that only
 *           grows, and may wrap. The two ends are of one build of Isochron.
 * Threads:  owner thread. Cost: no heap; a call costs a packet's length.
 * Fails:    never; a line on which nothing gets through stays silent (isochron_line_silence).
 *
 * C99 without a library, and C++. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOCHRON_LINE_DATA_MAX 128
#define ISOCHRON_LINE_PACKET_MAX (7 + ISOCHRON_LINE_DATA_MAX + 4)
#define ISOCHRON_LINE_WIRE_MAX (ISOCHRON_LINE_PACKET_MAX + 4)

typedef enum isochron_line_state {
  ISOCHRON_LINE_CLOSED,
  ISOCHRON_LINE_OPENING,
  ISOCHRON_LINE_OPEN
} isochron_line_state;

/* Its fields are the line's own, but for the counts. */
typedef struct isochron_line {
  uint8_t* out; /* bytes from `acked` on that were written and not acknowledged */
  uint8_t* in;  /* bytes before `expected` that were not read */
  uint16_t room_out, room_in;
  uint32_t timeout, patience; /* until what was not acknowledged is sent again: at first, and now */
  uint32_t way, timed_at;     /* how long an acknowledgement takes; 0 = not known yet */
  uint16_t timed;             /* the byte whose acknowledgement is timed */
  uint16_t session, peer_room;
  uint16_t acked, out_used, out_sent;
  uint16_t expected, in_used;
  uint32_t resend_at, ack_at, sent_at, heard_at, refused_at;
  uint8_t timing, state, opened, say_opened, ack_due, say_lost, piece, well;
  uint8_t frame[ISOCHRON_LINE_PACKET_MAX + 2];
  uint16_t frame_used;
  uint32_t damaged, resent; /* counts: packets that came damaged, times that we went back */
} isochron_line;

/* How long to wait for an acknowledgement on a line of so many bits a second. */
uint32_t isochron_line_timeout_us(uint32_t baud);

void isochron_line_init(isochron_line* line, uint8_t* out, uint16_t room_out, uint8_t* in, uint16_t room_in,
                        uint32_t baud, uint32_t now_us);
/* The board's side: a new stream; `session` is another one than the last time. */
void isochron_line_open(isochron_line* line, uint16_t session, uint32_t now_us);
/* What came. */
void isochron_line_take(isochron_line* line, const uint8_t* bytes, size_t size, uint32_t now_us);
/* The next packet that is due, into ISOCHRON_LINE_WIRE_MAX bytes; its size, 0 = nothing is due. */
size_t isochron_line_next(isochron_line* line, uint8_t* wire, uint32_t now_us);
/* In how many microseconds something may be due. */
uint32_t isochron_line_wake(const isochron_line* line, uint32_t now_us);
/* As many as there is room for: how many. */
size_t isochron_line_write(isochron_line* line, const uint8_t* bytes, size_t size);
/* As many as there are: how many. */
size_t isochron_line_read(isochron_line* line, uint8_t* bytes, size_t size);
/* The packet that says that this end closes; nothing more is sent. Its size; 0 = the line is not open. */
size_t isochron_line_close(isochron_line* line, uint8_t* wire);
/* The host's side, once for each: somebody has opened a new stream, and the one before is over. */
int isochron_line_was_opened(isochron_line* line);
/* Written bytes that were not acknowledged. */
size_t isochron_line_pending(const isochron_line* line);
/* Microseconds since anything whole came. */
uint32_t isochron_line_silence(const isochron_line* line, uint32_t now_us);

#ifdef __cplusplus
}
#endif
#endif
