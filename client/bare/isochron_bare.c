#include "client/bare/isochron_bare.h"

#include "protocol/keyed.h"
#include "protocol/versions.h"

/* As in protocol/target_wire.hpp and protocol/program_protocol.hpp; a test attaches to a host of this build. */
enum { GREETING = 1, HELLO, WELCOME, REFUSED, PING, PONG, REQUEST, ANSWER };
enum { ASK_NONE, ASK_ATTACH, ASK_WAIT, ASK_BIND, ASK_READ, ASK_WRITE, ASK_SEND, ASK_RECEIVE, ASK_CLOCK, ASK_LOG };
enum { VERDICT_OK, VERDICT_NOTHING, VERDICT_ENDED };
enum { LENGTH = 4, NUMBER = 8, TAG = 8, NONCE = 32, NAME_MAX = 119 };

#define MAGIC 0x4c494849U
#define CONTEXT "isochron target 1 "

static size_t length_of(const char* text) {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

static void copy(uint8_t* to, const uint8_t* from, size_t size) {
  size_t i;
  for (i = 0; i < size; ++i) to[i] = from[i];
}

static uint64_t get(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  size_t i;
  for (i = 0; i < bytes; ++i) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static int fail(isochron_bare* robot, int status, const char* why) {
  robot->why = why;
  if (status == ISOCHRON_BARE_LOST) robot->gone = 1;
  return status;
}

/* ---- writing a message: what does not fit makes `used` too large, which sending refuses ---- */

static void add(isochron_bare* robot, const void* from, size_t size) {
  if (size <= ISOCHRON_BARE_MESSAGE && robot->used + size <= ISOCHRON_BARE_MESSAGE - TAG) {
    copy(robot->message + robot->used, (const uint8_t*)from, size);
    robot->used += size;
  } else {
    robot->used = ISOCHRON_BARE_MESSAGE;
  }
}

static void add_number(isochron_bare* robot, uint64_t value, size_t bytes) {
  uint8_t little[8];
  size_t i;
  for (i = 0; i < bytes; ++i) little[i] = (uint8_t)(value >> (8 * i));
  add(robot, little, bytes);
}

static void add_text(isochron_bare* robot, const char* text) {
  size_t size = text == 0 ? 0 : length_of(text);
  if (size > NAME_MAX) size = ISOCHRON_BARE_MESSAGE; /* too long a name: too large a message */
  add_number(robot, size, 1);
  add(robot, text, size);
}

static void begin(isochron_bare* robot, int kind) {
  robot->used = LENGTH + (robot->sealed ? NUMBER : 0U);
  add_number(robot, (uint64_t)kind, 1);
}

static int send_message(isochron_bare* robot) {
  uint8_t* message = robot->message;
  size_t sent = 0, i;
  uint64_t tag;
  if (robot->gone) return fail(robot, ISOCHRON_BARE_LOST, "the connection to the host is gone");
  if (robot->used >= ISOCHRON_BARE_MESSAGE) {
    return fail(robot, ISOCHRON_BARE_TOO_LARGE, "a message is too large; build with a larger ISOCHRON_BARE_MESSAGE");
  }
  if (robot->sealed) {
    ++robot->sent_number;
    for (i = 0; i < NUMBER; ++i) message[LENGTH + i] = (uint8_t)(robot->sent_number >> (8 * i));
    tag = isochron_siphash(robot->to_server, message + LENGTH, robot->used - LENGTH);
    for (i = 0; i < TAG; ++i) message[robot->used++] = (uint8_t)(tag >> (8 * i));
  }
  for (i = 0; i < LENGTH; ++i) message[i] = (uint8_t)((robot->used - LENGTH) >> (8 * i));
  while (sent < robot->used) {
    int n = robot->transport.send(robot->transport.context, message + sent, robot->used - sent);
    if (n < 0) return fail(robot, ISOCHRON_BARE_LOST, "the host cannot be reached");
    sent += (size_t)n;
  }
  return ISOCHRON_BARE_OK;
}

/* ---- reading one ---- */

typedef struct view {
  const uint8_t* at;
  size_t left;
  int ok;
} view;

static const uint8_t* take(view* from, size_t size) {
  const uint8_t* at = from->at;
  if (size > from->left) {
    from->ok = 0;
    from->left = 0;
    return at;
  }
  from->at += size;
  from->left -= size;
  return at;
}

static uint64_t take_number(view* from, size_t bytes) {
  const uint8_t* at = take(from, bytes);
  return from->ok ? get(at, bytes) : 0;
}

static int receive_bytes(isochron_bare* robot, uint8_t* to, size_t size) {
  while (size > 0) {
    int n = robot->transport.receive(robot->transport.context, to, size);
    if (n < 0) return fail(robot, ISOCHRON_BARE_LOST, "the host cannot be reached");
    to += n;
    size -= (size_t)n;
  }
  return ISOCHRON_BARE_OK;
}

/* The next message: what it is, and what it says. */
static int receive_message(isochron_bare* robot, view* body) {
  uint8_t* message = robot->message;
  const size_t around = robot->sealed ? NUMBER + TAG : 0U;
  size_t size;
  int status = receive_bytes(robot, message, LENGTH);
  if (status != ISOCHRON_BARE_OK) return status;
  size = (size_t)get(message, LENGTH);
  if (size > ISOCHRON_BARE_MESSAGE || size <= around) {
    return fail(robot, ISOCHRON_BARE_LOST,
                "the host sent more than there is room for; build with a larger ISOCHRON_BARE_MESSAGE");
  }
  status = receive_bytes(robot, message, size);
  if (status != ISOCHRON_BARE_OK) return status;
  if (robot->sealed) {
    uint8_t tag[TAG];
    const uint64_t right = isochron_siphash(robot->to_client, message, size - TAG);
    size_t i;
    for (i = 0; i < TAG; ++i) tag[i] = (uint8_t)(right >> (8 * i));
    if (!isochron_same(tag, message + size - TAG, TAG) || get(message, NUMBER) != robot->received_number + 1) {
      return fail(robot, ISOCHRON_BARE_LOST, "a message is not the host's");
    }
    ++robot->received_number;
  }
  body->at = message + (robot->sealed ? NUMBER : 0U);
  body->left = size - around;
  body->ok = 1;
  return ISOCHRON_BARE_OK;
}

/* The rest of it as a sentence. */
static const char* sentence(isochron_bare* robot, view* body) {
  size_t i, size = body->left;
  for (i = 0; i < size; ++i) robot->message[i] = body->at[i];
  robot->message[size] = 0;
  return (const char*)robot->message;
}

static int64_t own_clock(isochron_bare* robot) { return robot->transport.clock(robot->transport.context); }

/* ---- the handshake ---- */

typedef struct handshake {
  uint8_t nonces[2 * NONCE]; /* the host's, ours */
  const isochron_bare_who* who;
} handshake;

static void prove(const handshake* h, const char* purpose, uint8_t result[32]) {
  isochron_blake2b hash;
  const uint8_t length = (uint8_t)length_of(purpose);
  isochron_blake2b_begin(&hash, h->who->key, h->who->key_size);
  isochron_blake2b_add(&hash, &length, 1);
  isochron_blake2b_add(&hash, purpose, length);
  isochron_blake2b_add(&hash, h->nonces, sizeof h->nonces);
  isochron_blake2b_add(&hash, CONTEXT, sizeof CONTEXT - 1);
  isochron_blake2b_add(&hash, h->who->name, length_of(h->who->name));
  isochron_blake2b_finish(&hash, result);
}

static int greeted(isochron_bare* robot, handshake* h, int* keyed) {
  view body;
  int status = receive_message(robot, &body);
  if (status != ISOCHRON_BARE_OK) return status;
  if (take_number(&body, 1) != GREETING || take_number(&body, 4) != MAGIC || !body.ok) {
    return fail(robot, ISOCHRON_BARE_LOST, "the peer there is not an Isochron host");
  }
  if (take_number(&body, 2) != ISOCHRON_TARGET_VERSION) {
    return fail(robot, ISOCHRON_BARE_LOST, "host and target speak different versions; build both from one Isochron");
  }
  *keyed = take_number(&body, 1) != 0;
  copy(h->nonces, take(&body, NONCE), body.ok ? NONCE : 0);
  if (!body.ok) return fail(robot, ISOCHRON_BARE_LOST, "the host's greeting cannot be read");
  if (*keyed && h->who->key == 0) return fail(robot, ISOCHRON_BARE_LOST, "the host asks for a key");
  if (!*keyed && h->who->key != 0) {
    return fail(robot, ISOCHRON_BARE_LOST,
                "the host does not prove that it holds our key; give it the same one with --key");
  }
  return ISOCHRON_BARE_OK;
}

static int say_hello(isochron_bare* robot, handshake* h, int keyed) {
  uint8_t proof[32] = {0};
  size_t i;
  for (i = 0; i < NONCE; ++i) h->nonces[NONCE + i] = keyed ? h->who->nonce[i] : 0;
  if (keyed) prove(h, "isochron client", proof);
  begin(robot, HELLO);
  add_number(robot, MAGIC, 4);
  add_number(robot, ISOCHRON_TARGET_VERSION, 2);
  add_number(robot, 0, 8); /* its first link, and its only one */
  add_text(robot, h->who->name);
  add(robot, h->nonces + NONCE, NONCE);
  add(robot, proof, sizeof proof);
  return send_message(robot);
}

static int welcomed(isochron_bare* robot, handshake* h, int keyed) {
  view body;
  uint8_t proof[32], kind;
  int status = receive_message(robot, &body);
  if (status != ISOCHRON_BARE_OK) return status;
  kind = (uint8_t)take_number(&body, 1);
  if (kind == REFUSED) return fail(robot, ISOCHRON_BARE_LOST, sentence(robot, &body));
  (void)take_number(&body, 8); /* the session, for further links */
  robot->held = take_number(&body, 1) != 0;
  copy(proof, take(&body, sizeof proof), body.ok ? sizeof proof : 0);
  if (kind != WELCOME || !body.ok) return fail(robot, ISOCHRON_BARE_LOST, "the host's welcome cannot be read");
  if (keyed) {
    uint8_t right[32];
    prove(h, "isochron server", right);
    if (!isochron_same(proof, right, sizeof right))
      return fail(robot, ISOCHRON_BARE_LOST, "the host does not hold our key");
    prove(h, "isochron to server", right);
    copy(robot->to_server, right, sizeof robot->to_server);
    prove(h, "isochron to client", right);
    copy(robot->to_client, right, sizeof robot->to_client);
    robot->sealed = 1;
  }
  return ISOCHRON_BARE_OK;
}

/* ---- requests ---- */

typedef struct answer {
  uint32_t index;
  int64_t time, number;
  view payload;
} answer;

static void begin_request(isochron_bare* robot, int what, uint32_t index, int64_t time, int64_t number,
                          const char* name, const char* type) {
  begin(robot, REQUEST);
  add_number(robot, (uint64_t)what, 1);
  add_number(robot, index, 4);
  add_number(robot, (uint64_t)time, 8);
  add_number(robot, (uint64_t)number, 8);
  add_number(robot, (uint64_t)robot->received, 8);
  add_number(robot, (uint64_t)own_clock(robot), 8);
  add_text(robot, name);
  add_text(robot, type);
}

static int read_answer(isochron_bare* robot, view* body, answer* to) {
  static const int8_t status_of[] = {ISOCHRON_BARE_OK,           ISOCHRON_BARE_NOTHING,      ISOCHRON_BARE_ENDED,
                                     ISOCHRON_BARE_UNKNOWN_NAME, ISOCHRON_BARE_WRONG_TYPE,   ISOCHRON_BARE_TOO_LARGE,
                                     ISOCHRON_BARE_REFUSED,      ISOCHRON_BARE_WRONG_VERSION};
  const size_t verdict = (size_t)take_number(body, 1);
  to->index = (uint32_t)take_number(body, 4);
  to->time = (int64_t)take_number(body, 8);
  to->number = (int64_t)take_number(body, 8);
  (void)take(body, 8); /* when a message was sent, a reading taken */
  (void)take(body, (size_t)take_number(body, 1));
  (void)take(body, (size_t)take_number(body, 1));
  to->payload = *body;
  if (!body->ok || verdict >= sizeof status_of) {
    return fail(robot, ISOCHRON_BARE_LOST, "the host said something that cannot be read");
  }
  robot->answered = to->time;
  if (verdict > VERDICT_ENDED) return fail(robot, status_of[verdict], sentence(robot, body));
  robot->over = verdict == VERDICT_ENDED;
  return status_of[verdict];
}

/* Sends the request in hand and waits for its answer; pings on the way are answered. */
static int ask(isochron_bare* robot, answer* to) {
  int status = send_message(robot);
  while (status == ISOCHRON_BARE_OK) {
    view body;
    uint8_t kind;
    status = receive_message(robot, &body);
    if (status != ISOCHRON_BARE_OK) break;
    kind = (uint8_t)take_number(&body, 1);
    if (kind == PING) {
      const uint64_t number = take_number(&body, 4);
      begin(robot, PONG);
      add_number(robot, number, 4);
      add_number(robot, (uint64_t)own_clock(robot), 8);
      status = send_message(robot);
    } else if (kind == REFUSED) {
      status = fail(robot, ISOCHRON_BARE_LOST, sentence(robot, &body));
    } else if (kind == ANSWER) {
      robot->received = own_clock(robot);
      return read_answer(robot, &body, to);
    } else {
      status = fail(robot, ISOCHRON_BARE_LOST, "the host said something that cannot be read");
    }
  }
  return status;
}

int isochron_bare_attach(isochron_bare* robot, const isochron_bare_transport* transport, const isochron_bare_who* who) {
  handshake h;
  answer came;
  int keyed = 0, status;
  robot->transport = *transport;
  robot->why = "";
  robot->held = 1;
  robot->sealed = robot->gone = robot->over = 0;
  robot->received = robot->answered = 0;
  robot->sent_number = robot->received_number = 0;
  h.who = who;
  if (who->key != 0 && who->nonce == 0) return fail(robot, ISOCHRON_BARE_REFUSED, "with a key a nonce is needed");
  status = greeted(robot, &h, &keyed);
  if (status == ISOCHRON_BARE_OK) status = say_hello(robot, &h, keyed);
  if (status == ISOCHRON_BARE_OK) status = welcomed(robot, &h, keyed);
  if (status != ISOCHRON_BARE_OK) return status;
  robot->received = own_clock(robot);
  begin_request(robot, ASK_ATTACH, 0, 0, ISOCHRON_PROGRAM_VERSION, 0, 0);
  return ask(robot, &came);
}

void isochron_bare_leave(isochron_bare* robot) {
  if (robot->gone) return;
  begin_request(robot, ASK_NONE, 0, 0, 0, 0, 0);
  (void)send_message(robot);
  robot->gone = 1;
}

static int wait_for(isochron_bare* robot, int64_t until, int64_t number, int64_t* now) {
  answer came;
  int status;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_WAIT, 0, until, number, 0, 0);
  status = ask(robot, &came);
  if (status >= 0 && now != 0) *now = came.time;
  return status;
}

int isochron_bare_wait(isochron_bare* robot, int64_t period_ns, int64_t* now) {
  return wait_for(robot, 0, period_ns, now);
}

int isochron_bare_wait_until(isochron_bare* robot, int64_t until_ns, int64_t* now) {
  return wait_for(robot, until_ns, -1, now);
}

int isochron_bare_bind(isochron_bare* robot, const char* name, const char* type, size_t size, uint32_t* variable) {
  answer came;
  int status;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_BIND, 0, 0, 0, name, type);
  status = ask(robot, &came);
  if (status != ISOCHRON_BARE_OK) return status;
  if (came.number < 0 || (uint64_t)came.number != size) {
    return fail(robot, ISOCHRON_BARE_WRONG_TYPE, "the variable has another size here than in the scenario");
  }
  *variable = came.index;
  return status;
}

int isochron_bare_read(isochron_bare* robot, uint32_t variable, void* data, size_t size) {
  answer came;
  int status;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_READ, variable, 0, 0, 0, 0);
  status = ask(robot, &came);
  if (status != ISOCHRON_BARE_OK) return status;
  if (came.payload.left != size)
    return fail(robot, ISOCHRON_BARE_WRONG_TYPE, "a reading has another size than was asked for");
  copy((uint8_t*)data, came.payload.at, size);
  return status;
}

int isochron_bare_write(isochron_bare* robot, uint32_t variable, const void* data, size_t size) {
  answer came;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_WRITE, variable, 0, 0, 0, 0);
  add(robot, data, size);
  return ask(robot, &came);
}

int isochron_bare_send(isochron_bare* robot, const char* to, const char* type, const void* data, size_t size) {
  answer came;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_SEND, 0, 0, 0, to, type);
  add(robot, data, size);
  return ask(robot, &came);
}

int isochron_bare_receive(isochron_bare* robot, const char* from, const char* type, void* data, size_t capacity,
                          size_t* size, int64_t until_ns) {
  answer came;
  int status;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_RECEIVE, 0, until_ns, (int64_t)capacity, from, type);
  status = ask(robot, &came);
  if (status != ISOCHRON_BARE_OK) return status;
  if (came.payload.left > capacity) return fail(robot, ISOCHRON_BARE_TOO_LARGE, "a message is larger than its room");
  copy((uint8_t*)data, came.payload.at, came.payload.left);
  *size = came.payload.left;
  return status;
}

int64_t isochron_bare_now(isochron_bare* robot) {
  answer came;
  if (robot->held || robot->over) {
    const uint64_t since = (uint64_t)own_clock(robot) - (uint64_t)robot->received;
    const uint64_t now = (uint64_t)robot->answered + (robot->over ? 0 : since);
    return now > (uint64_t)INT64_MAX ? robot->answered : (int64_t)now; /* a host may say any number */
  }
  begin_request(robot, ASK_CLOCK, 0, 0, 0, 0, 0);
  return ask(robot, &came) < 0 ? robot->answered : came.time;
}

int isochron_bare_log(isochron_bare* robot, const char* text) {
  answer came;
  if (robot->over) return ISOCHRON_BARE_ENDED;
  begin_request(robot, ASK_LOG, 0, 0, 0, 0, 0);
  add(robot, text, length_of(text));
  return ask(robot, &came);
}
