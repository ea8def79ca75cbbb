#include "protocol/serial_line.h"

enum { KIND_OPEN = 1, KIND_OPENED = 2, KIND_DATA = 3, KIND_CLOSE = 4, KIND_MASK = 0x0f, LOST = 0x80 };
enum { HEAD = 7, CHECK = 4, SHORTEST = 16, WELL_ENOUGH = 8 };
enum { NO_ACK, ACK_SOON, ACK_NOW };

#define ACK_AFTER_US 4000U
#define ALIVE_EVERY_US 1000000U
#define PIECES_ON_THE_WAY 8U

static int past(uint32_t now, uint32_t time) { return (int32_t)(now - time) >= 0; }

static uint16_t get16(const uint8_t* from) { return (uint16_t)(from[0] | (from[1] << 8)); }

static void put16(uint8_t* to, uint16_t value) {
  to[0] = (uint8_t)value;
  to[1] = (uint8_t)(value >> 8);
}

/* Of Ethernet, by half bytes: small and quick enough. */
static uint32_t crc32_of(const uint8_t* bytes, size_t size) {
  static const uint32_t table[16] = {0x00000000U, 0x1db71064U, 0x3b6e20c8U, 0x26d930acU, 0x76dc4190U, 0x6b6b51f4U,
                                     0x4db26158U, 0x5005713cU, 0xedb88320U, 0xf00f9344U, 0xd6d6a3e8U, 0xcb61b38cU,
                                     0x9b64c2b0U, 0x86d3d2d4U, 0xa00ae278U, 0xbdbdf21cU};
  uint32_t crc = 0xffffffffU;
  size_t i;
  for (i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ table[crc & 15U];
    crc = (crc >> 4) ^ table[crc & 15U];
  }
  return ~crc;
}

/* No zero in what comes out, one byte more; packets are shorter than a block of it. */
static size_t stuff(const uint8_t* from, size_t size, uint8_t* to) {
  size_t code = 0, used = 1, i;
  for (i = 0; i < size; ++i) {
    if (from[i] != 0) {
      to[used++] = from[i];
    } else {
      to[code] = (uint8_t)(used - code);
      code = used++;
    }
  }
  to[code] = (uint8_t)(used - code);
  return used;
}

/* In place; 0 = this is not what stuff() makes. */
static size_t unstuff(uint8_t* bytes, size_t size) {
  size_t at = 0, used = 0;
  while (at < size) {
    size_t end = at + bytes[at];
    if (bytes[at] == 0 || end > size) return 0;
    for (++at; at < end; ++at) bytes[used++] = bytes[at];
    if (at < size) bytes[used++] = 0;
  }
  return used;
}

uint32_t isochron_line_timeout_us(uint32_t baud) {
  /* Six hundred bytes of ten bits, and what adapters keep bytes back for. */
  return 50000U + (uint32_t)(6000000000ULL / (baud == 0 ? 1U : baud));
}

static void begin(isochron_line* line, uint16_t session, uint32_t now_us) {
  line->session = session;
  line->acked = line->out_used = line->out_sent = 0;
  line->expected = line->in_used = 0;
  line->patience = line->timeout;
  line->way = 0;
  line->timing = 0;
  line->piece = ISOCHRON_LINE_DATA_MAX;
  line->well = line->ack_due = line->say_lost = line->say_opened = line->opened = 0;
  line->resend_at = line->sent_at = line->heard_at = now_us;
  line->refused_at = now_us - line->timeout;
}

void isochron_line_init(isochron_line* line, uint8_t* out, uint16_t room_out, uint8_t* in, uint16_t room_in,
                        uint32_t baud, uint32_t now_us) {
  line->out = out;
  line->in = in;
  line->room_out = room_out;
  line->room_in = room_in;
  line->timeout = isochron_line_timeout_us(baud);
  line->peer_room = 0;
  line->state = ISOCHRON_LINE_CLOSED;
  line->frame_used = 0;
  line->damaged = line->resent = 0;
  begin(line, 0, now_us);
}

void isochron_line_open(isochron_line* line, uint16_t session, uint32_t now_us) {
  begin(line, session, now_us);
  line->state = ISOCHRON_LINE_OPENING;
}

/* How long to wait for an acknowledgement as a rule. */
static uint32_t usual_patience(const isochron_line* line) {
  const uint32_t usual = 2 * line->way + 2 * ACK_AFTER_US;
  return line->way == 0 || usual > line->timeout ? line->timeout : usual;
}

static void go_back(isochron_line* line) {
  line->out_sent = 0;
  line->timing = 0;
  line->well = 0;
  if (line->piece > SHORTEST) line->piece /= 2;
  ++line->resent;
}

static void take_ack(isochron_line* line, uint16_t ack, uint32_t now_us) {
  uint16_t more = (uint16_t)(ack - line->acked);
  if (more == 0 || more > line->out_used) return;
  line->acked = ack;
  line->out_used = (uint16_t)(line->out_used - more);
  line->out_sent = line->out_sent > more ? (uint16_t)(line->out_sent - more) : 0;
  if (line->timing && (uint16_t)(ack - line->timed) < 0x8000U) {
    const uint32_t way = now_us - line->timed_at;
    line->way = line->way == 0 ? way : (7 * line->way + way) / 8;
    line->timing = 0;
  }
  line->patience = usual_patience(line);
  line->resend_at = now_us + line->patience;
  if (++line->well >= WELL_ENOUGH && line->piece < ISOCHRON_LINE_DATA_MAX) {
    line->piece *= 2;
    line->well = 0;
  }
}

/* Something did not come: says so, but not again and again while it is on its way. */
static void miss(isochron_line* line, uint32_t now_us) {
  const uint32_t next = line->refused_at + line->timeout / 32;
  if (line->state != ISOCHRON_LINE_OPEN) return;
  line->say_lost = 1;
  line->ack_due = past(now_us, next) ? ACK_NOW : ACK_SOON;
  line->ack_at = next;
}

static void take_data(isochron_line* line, uint16_t seq, const uint8_t* data, uint16_t size, uint32_t now_us) {
  uint16_t known = (uint16_t)(line->expected - seq), i;
  if (size == 0) return;
  if (known >= 0x8000U) { /* it stands after what is awaited */
    miss(line, now_us);
    return;
  }
  if (known >= size || (uint16_t)(size - known) > (uint16_t)(line->room_in - line->in_used)) {
    line->ack_due = ACK_NOW;
    return;
  }
  for (i = known; i < size; ++i) line->in[(uint16_t)(line->expected + i - known) & (line->room_in - 1U)] = data[i];
  line->expected = (uint16_t)(line->expected + size - known);
  line->in_used = (uint16_t)(line->in_used + size - known);
  line->refused_at = now_us - line->timeout;
  if (line->ack_due == NO_ACK) {
    line->ack_due = ACK_SOON;
    line->ack_at = now_us + ACK_AFTER_US;
  } else {
    line->ack_due = ACK_NOW;
  }
}

static void take_open(isochron_line* line, uint16_t session, uint16_t room, uint32_t now_us) {
  if (line->state == ISOCHRON_LINE_OPENING) return; /* two boards on one line */
  if (line->state != ISOCHRON_LINE_OPEN || session != line->session || line->expected != 0) {
    begin(line, session, now_us);
    line->state = ISOCHRON_LINE_OPEN;
    line->peer_room = room;
    line->opened = 1;
  }
  line->say_opened = 1;
}

static void take_packet(isochron_line* line, uint32_t now_us) {
  const uint8_t* frame = line->frame;
  size_t size = unstuff(line->frame, line->frame_used), body;
  uint32_t check;
  uint16_t session;
  int kind;
  if (size < HEAD + CHECK || size > ISOCHRON_LINE_PACKET_MAX) {
    ++line->damaged;
    miss(line, now_us);
    return;
  }
  body = size - CHECK;
  check = (uint32_t)get16(frame + body) | ((uint32_t)get16(frame + body + 2) << 16);
  if (check != crc32_of(frame, body)) {
    ++line->damaged;
    miss(line, now_us);
    return;
  }
  kind = frame[0] & KIND_MASK;
  session = get16(frame + 1);
  line->heard_at = now_us;
  if (kind == KIND_OPEN) take_open(line, session, get16(frame + 3), now_us);
  if (session != line->session) return;
  if (kind == KIND_OPENED && line->state == ISOCHRON_LINE_OPENING) {
    line->state = ISOCHRON_LINE_OPEN;
    line->peer_room = get16(frame + 3);
    line->resend_at = now_us + line->patience;
  } else if (kind == KIND_CLOSE) {
    line->state = ISOCHRON_LINE_CLOSED;
  } else if (kind == KIND_DATA && line->state == ISOCHRON_LINE_OPEN) {
    take_ack(line, get16(frame + 5), now_us);
    if ((frame[0] & LOST) != 0 && line->out_sent > 0) go_back(line);
    take_data(line, get16(frame + 3), frame + HEAD, (uint16_t)(body - HEAD), now_us);
  }
}

void isochron_line_take(isochron_line* line, const uint8_t* bytes, size_t size, uint32_t now_us) {
  size_t i;
  for (i = 0; i < size; ++i) {
    if (bytes[i] != 0) {
      if (line->frame_used < sizeof line->frame) line->frame[line->frame_used++] = bytes[i];
    } else if (line->frame_used > 0) {
      take_packet(line, now_us);
      line->frame_used = 0;
    }
  }
}

static size_t packet(isochron_line* line, int kind, uint16_t seq, uint16_t data, uint8_t* wire, uint32_t now_us) {
  uint8_t bytes[ISOCHRON_LINE_PACKET_MAX];
  uint32_t check;
  uint16_t i;
  size_t used;
  if (line->say_lost) kind |= LOST;
  bytes[0] = (uint8_t)kind;
  put16(bytes + 1, line->session);
  put16(bytes + 3, seq);
  put16(bytes + 5, line->expected);
  for (i = 0; i < data; ++i) bytes[HEAD + i] = line->out[(uint16_t)(seq + i) & (line->room_out - 1U)];
  check = crc32_of(bytes, HEAD + (size_t)data);
  put16(bytes + HEAD + data, (uint16_t)check);
  put16(bytes + HEAD + data + 2, (uint16_t)(check >> 16));
  wire[0] = 0;
  used = 1 + stuff(bytes, HEAD + (size_t)data + CHECK, wire + 1);
  wire[used++] = 0;
  wire[used++] = 0; /* one of them may get lost */
  line->sent_at = now_us;
  if (line->say_lost) line->refused_at = now_us;
  line->ack_due = line->say_lost = 0;
  return used;
}

/* Bytes that may be sent now. */
static uint16_t unsent(const isochron_line* line) {
  uint16_t may = line->out_used < line->peer_room ? line->out_used : line->peer_room;
  if (may > line->piece * PIECES_ON_THE_WAY) may = (uint16_t)(line->piece * PIECES_ON_THE_WAY);
  return may > line->out_sent ? (uint16_t)(may - line->out_sent) : 0;
}

size_t isochron_line_next(isochron_line* line, uint8_t* wire, uint32_t now_us) {
  uint16_t size, seq;
  if (line->state == ISOCHRON_LINE_OPENING && past(now_us, line->resend_at)) {
    line->resend_at = now_us + 2 * line->timeout;
    return packet(line, KIND_OPEN, line->room_in, 0, wire, now_us);
  }
  if (line->state != ISOCHRON_LINE_OPEN) return 0;
  if (line->say_opened) {
    line->say_opened = 0;
    return packet(line, KIND_OPENED, line->room_in, 0, wire, now_us);
  }
  if (line->out_sent > 0 && past(now_us, line->resend_at)) {
    go_back(line);
    if (line->patience < line->timeout) line->patience *= 2;
  }
  size = unsent(line);
  if (size > 0) {
    if (size > line->piece) size = line->piece;
    if (line->out_sent == 0) line->resend_at = now_us + line->patience;
    seq = (uint16_t)(line->acked + line->out_sent);
    line->out_sent = (uint16_t)(line->out_sent + size);
    if (!line->timing) {
      line->timing = 1;
      line->timed = (uint16_t)(seq + size);
      line->timed_at = now_us;
    }
    return packet(line, KIND_DATA, seq, size, wire, now_us);
  }
  if (line->ack_due == ACK_NOW || (line->ack_due == ACK_SOON && past(now_us, line->ack_at)) ||
      past(now_us, line->sent_at + ALIVE_EVERY_US)) {
    return packet(line, KIND_DATA, (uint16_t)(line->acked + line->out_sent), 0, wire, now_us);
  }
  return 0;
}

static uint32_t until(uint32_t time, uint32_t now, uint32_t most) {
  uint32_t left = past(now, time) ? 0 : time - now;
  return left < most ? left : most;
}

uint32_t isochron_line_wake(const isochron_line* line, uint32_t now_us) {
  uint32_t wait = ALIVE_EVERY_US;
  if (line->state == ISOCHRON_LINE_OPENING) return until(line->resend_at, now_us, wait);
  if (line->state != ISOCHRON_LINE_OPEN) return wait;
  if (line->say_opened || line->ack_due == ACK_NOW || unsent(line) > 0) return 0;
  if (line->ack_due == ACK_SOON) wait = until(line->ack_at, now_us, wait);
  if (line->out_sent > 0) wait = until(line->resend_at, now_us, wait);
  return until(line->sent_at + ALIVE_EVERY_US, now_us, wait);
}

size_t isochron_line_write(isochron_line* line, const uint8_t* bytes, size_t size) {
  size_t room = (size_t)(line->room_out - line->out_used), i;
  if (line->state != ISOCHRON_LINE_OPEN) return 0;
  if (size > room) size = room;
  for (i = 0; i < size; ++i) line->out[(uint16_t)(line->acked + line->out_used + i) & (line->room_out - 1U)] = bytes[i];
  line->out_used = (uint16_t)(line->out_used + size);
  return size;
}

size_t isochron_line_read(isochron_line* line, uint8_t* bytes, size_t size) {
  size_t i;
  if (size > line->in_used) size = line->in_used;
  for (i = 0; i < size; ++i) bytes[i] = line->in[(uint16_t)(line->expected - line->in_used + i) & (line->room_in - 1U)];
  line->in_used = (uint16_t)(line->in_used - size);
  return size;
}

size_t isochron_line_close(isochron_line* line, uint8_t* wire) {
  if (line->state != ISOCHRON_LINE_OPEN) return 0;
  line->state = ISOCHRON_LINE_CLOSED;
  return packet(line, KIND_CLOSE, line->acked, 0, wire, line->sent_at);
}

int isochron_line_was_opened(isochron_line* line) {
  int opened = line->opened;
  line->opened = 0;
  return opened;
}

size_t isochron_line_pending(const isochron_line* line) {
  return line->state == ISOCHRON_LINE_OPEN ? line->out_used : 0;
}

uint32_t isochron_line_silence(const isochron_line* line, uint32_t now_us) { return now_us - line->heard_at; }
