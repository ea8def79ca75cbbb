/* The program's side of docs/node_protocol.md. */
#include "client/node/isochron_node_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/node/isochron_message.h"

enum { HELLO = 1, START, MESSAGE, FILL, FINISH, PORTS = 16, FILLED, EVENT, READY, FAILED, TYPES };
#define MAX_PORTS 1024
#define LARGEST_FRAME ((256u << 20) + 4096u)

typedef struct bytes {
  unsigned char* data;
  size_t size, room;
} bytes;

typedef struct port {
  char* name;
  char* type;
  isochron_message_type* layout;
  isochron_heard heard;
  isochron_output info;
  bytes latest; /* inputs: as the node sees it */
  int64_t latest_ns;
  int has_latest;
} port;

struct isochron_node {
  int fd;
  bytes in, out;
  size_t in_begin;
  char **keys, **values;
  uint32_t parameters;
  bytes asked; /* keys that were asked for, as they stand in the ports frame */
  uint32_t asked_count;
  port inputs[MAX_PORTS], outputs[MAX_PORTS];
  uint32_t input_count, output_count;
  int sends_events;
  int declared;    /* the ports were told */
  int32_t due;     /* output that is being filled; -1 = none */
  int answer;      /* something waits for a ready */
  int64_t next_ns; /* of the message that is being filled */
  int64_t period_ns;
  bytes filling; /* what room() gave */
  int put;       /* the message that is due is in `filling` */
  char* why;     /* it failed */
  char *type, *about;
};

/* ---- bytes ---- */

static void out_of_memory(void) {
  fputs("isochron node: no memory\n", stderr);
  exit(1);
}

static void make_room(bytes* b, size_t more) {
  if (b->size + more <= b->room) return;
  size_t room = b->room ? b->room : 4096;
  while (room < b->size + more) room *= 2;
  unsigned char* data = realloc(b->data, room);
  if (!data) out_of_memory();
  b->data = data;
  b->room = room;
}

static void append(bytes* b, const void* data, size_t size) {
  make_room(b, size);
  if (size) memcpy(b->data + b->size, data, size);
  b->size += size;
}
static void append_u8(bytes* b, uint8_t v) { append(b, &v, 1); }
static void append_u32(bytes* b, uint32_t v) { append(b, &v, 4); }
static void append_i64(bytes* b, int64_t v) { append(b, &v, 8); }
static void append_text(bytes* b, const char* text) {
  append_u32(b, (uint32_t)strlen(text));
  append(b, text, strlen(text));
}
static size_t begin_frame(bytes* b, uint8_t kind) {
  size_t at = b->size;
  append_u32(b, 0);
  append_u8(b, kind);
  return at;
}
static void end_frame(bytes* b, size_t at) {
  uint32_t size = (uint32_t)(b->size - at - 4);
  memcpy(b->data + at, &size, 4);
}

static char* copy_text(const char* text, size_t size) {
  char* copy = malloc(size + 1);
  if (!copy) out_of_memory();
  memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

/* ---- the socket ---- */

static int flush_out(isochron_node* node) {
  size_t sent = 0;
  while (sent < node->out.size) {
    ssize_t n = write(node->fd, node->out.data + sent, node->out.size - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    sent += (size_t)n;
  }
  node->out.size = 0;
  return 1;
}

/* The next frame: kind and body. 0: the host is gone. */
static int read_frame(isochron_node* node, unsigned char** frame, uint32_t* size) {
  for (;;) {
    size_t there = node->in.size - node->in_begin;
    uint32_t wanted = 0;
    if (there >= 4) {
      memcpy(&wanted, node->in.data + node->in_begin, 4);
      if (wanted == 0 || wanted > LARGEST_FRAME) return 0;
      if (there >= 4 + (size_t)wanted) {
        *frame = node->in.data + node->in_begin + 4;
        *size = wanted;
        node->in_begin += 4 + (size_t)wanted;
        return 1;
      }
    }
    memmove(node->in.data, node->in.data + node->in_begin, there);
    node->in.size = there;
    node->in_begin = 0;
    make_room(&node->in, wanted > 65536 ? wanted + 4 : 65536);
    ssize_t n = read(node->fd, node->in.data + node->in.size, node->in.room - node->in.size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    node->in.size += (size_t)n;
  }
}

/* ---- what a node may ask of its host ---- */

static void host_fail(isochron_node* node, const char* why) {
  if (!node->why) node->why = copy_text(why, strlen(why));
}

static int32_t host_input(isochron_node* node, const char* name, const char* type, isochron_heard heard) {
  if (node->declared || node->input_count == MAX_PORTS) {
    host_fail(node, "an input was declared too late, or there are too many");
    return -1;
  }
  port* in = &node->inputs[node->input_count];
  in->name = copy_text(name, strlen(name));
  in->type = copy_text(type, strlen(type));
  in->layout = isochron_message_parse(type);
  in->heard = heard;
  return (int32_t)node->input_count++;
}

static int32_t host_output(isochron_node* node, const isochron_output* output) {
  if (node->declared || node->output_count == MAX_PORTS) {
    host_fail(node, "an output was declared too late, or there are too many");
    return -1;
  }
  port* out = &node->outputs[node->output_count];
  out->name = copy_text(output->name, strlen(output->name));
  out->type = copy_text(output->type, strlen(output->type));
  out->layout = isochron_message_parse(output->type);
  out->info = *output;
  if (output->kind == ISOCHRON_EVENT) node->sends_events = 1;
  return (int32_t)node->output_count++;
}

static const char* host_parameter(isochron_node* node, const char* name) {
  append_text(&node->asked, name);
  append_text(&node->asked, "");
  ++node->asked_count;
  for (uint32_t i = 0; i < node->parameters; ++i) {
    if (strcmp(node->keys[i], name) == 0) return node->values[i];
  }
  return NULL;
}

static const void* host_latest(isochron_node* node, int32_t input, size_t* size, int64_t* time_ns) {
  if (input < 0 || (uint32_t)input >= node->input_count || !node->inputs[input].has_latest) return NULL;
  if (size) *size = node->inputs[input].latest.size;
  if (time_ns) *time_ns = node->inputs[input].latest_ns;
  return node->inputs[input].latest.data;
}

static void* host_room(isochron_node* node, size_t size) {
  node->filling.size = 0;
  make_room(&node->filling, size);
  node->filling.size = size;
  return node->filling.data;
}

/* The payload of a message: CDR of what the node gave. */
static void append_payload(isochron_node* node, const port* out, const void* message, size_t size) {
  size_t wanted = isochron_message_cdr_size(out->layout);
  if (wanted == 0) { /* of any size: CDR already */
    append(&node->out, message, size);
    return;
  }
  if (size != isochron_message_size(out->layout)) {
    host_fail(node, "a message has another size than its type");
    return;
  }
  make_room(&node->out, wanted);
  isochron_message_encode(out->layout, message, node->out.data + node->out.size);
  node->out.size += wanted;
}

static void host_send(isochron_node* node, int32_t output, int64_t time_ns, const void* message, size_t size) {
  if (output < 0 || (uint32_t)output >= node->output_count || node->outputs[output].info.kind != ISOCHRON_EVENT) {
    host_fail(node, "send() names no event output");
    return;
  }
  size_t frame = begin_frame(&node->out, EVENT);
  append_u32(&node->out, (uint32_t)output);
  append_i64(&node->out, time_ns);
  append_payload(node, &node->outputs[output], message, size);
  end_frame(&node->out, frame);
}

static void host_next_at(isochron_node* node, int32_t output, int64_t time_ns) {
  if (output != node->due) host_fail(node, "next_at() was called while another message is filled");
  node->next_ns = time_ns;
}

static void host_set_period(isochron_node* node, int32_t output, int64_t period_ns) {
  if (output != node->due) host_fail(node, "set_period() was called while another message is filled");
  node->period_ns = period_ns;
}

const isochron_host* isochron_program_host(void) {
  static const isochron_host host = {ISOCHRON_NODE_ABI, sizeof(isochron_host), host_input, host_output,
                                     host_parameter,    host_latest,           host_room,  host_send,
                                     host_next_at,      host_set_period,       host_fail};
  return &host;
}

/* ---- answers ---- */

static void say_ready(isochron_node* node) { end_frame(&node->out, begin_frame(&node->out, READY)); }

static int say_failure(isochron_node* node) {
  size_t frame = begin_frame(&node->out, FAILED);
  append_text(&node->out, node->why);
  end_frame(&node->out, frame);
  flush_out(node);
  return 0;
}

static void say_ports(isochron_node* node, const char* type, const char* about) {
  size_t frame = begin_frame(&node->out, PORTS);
  append_text(&node->out, type);
  append_text(&node->out, about);
  append_u32(&node->out, node->input_count);
  for (uint32_t i = 0; i < node->input_count; ++i) {
    append_text(&node->out, node->inputs[i].name);
    append_text(&node->out, node->inputs[i].type);
  }
  append_u32(&node->out, node->output_count);
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const port* out = &node->outputs[i];
    append_text(&node->out, out->name);
    append_text(&node->out, out->type);
    append_u8(&node->out, (uint8_t)out->info.kind);
    append_u8(&node->out, out->info.varies != 0);
    append_i64(&node->out, out->info.period_ns);
    append_i64(&node->out, out->info.first_ns);
    append_i64(&node->out, out->info.lookahead_ns);
    append_u32(&node->out, out->info.capacity);
  }
  append_u32(&node->out, node->asked_count);
  append(&node->out, node->asked.data, node->asked.size);
  end_frame(&node->out, frame);
  node->declared = 1;
}

static void say_filled(isochron_node* node) {
  const port* out = &node->outputs[node->due];
  size_t frame = begin_frame(&node->out, FILLED);
  append_u32(&node->out, (uint32_t)node->due);
  append_i64(&node->out, node->next_ns);
  append_i64(&node->out, node->period_ns);
  append_payload(node, out, node->filling.data, node->filling.size);
  end_frame(&node->out, frame);
  node->due = -1;
}

/* ---- attaching ---- */

static int take_hello(isochron_node* node) {
  unsigned char* frame;
  uint32_t size, at = 5, length;
  if (!read_frame(node, &frame, &size) || size < 9 || frame[0] != HELLO) return 0;
  memcpy(&length, frame + at, 4), at += 4;
  if (length > size - at) return 0;
  node->type = copy_text((const char*)frame + at, length), at += length;
  if (size - at < 4) return 0;
  memcpy(&node->parameters, frame + at, 4), at += 4;
  if (node->parameters > size) return 0;
  node->keys = calloc(node->parameters + 1, sizeof(char*));
  node->values = calloc(node->parameters + 1, sizeof(char*));
  if (!node->keys || !node->values) out_of_memory();
  for (uint32_t i = 0; i < node->parameters; ++i) {
    for (int value = 0; value < 2; ++value) {
      if (size - at < 4) return 0;
      memcpy(&length, frame + at, 4), at += 4;
      if (length > size - at) return 0;
      *(value ? &node->values[i] : &node->keys[i]) = copy_text((const char*)frame + at, length), at += length;
    }
  }
  return 1;
}

static isochron_node* connect_to_host(void) {
  const char* fd = getenv("ISOCHRON_NODE_FD");
  if (!fd) {
    fputs("This program is a node: name it in a scenario (`run: [program]`) and start that with `isochron run`.\n",
          stderr);
    return NULL;
  }
  isochron_node* node = calloc(1, sizeof *node);
  if (!node) out_of_memory();
  node->fd = atoi(fd);
  node->due = -1;
  if (take_hello(node)) return node;
  isochron_detach(node);
  return NULL;
}

static void say_types(isochron_node* node, const isochron_node_list* types) {
  size_t frame = begin_frame(&node->out, TYPES);
  append_u32(&node->out, types->count);
  for (uint32_t i = 0; i < types->count; ++i) {
    append_text(&node->out, types->types[i].name);
    append_text(&node->out, types->types[i].about ? types->types[i].about : "");
  }
  end_frame(&node->out, frame);
  flush_out(node);
}

isochron_node* isochron_attach(const char* type, const char* about) {
  isochron_node* node = connect_to_host();
  if (!node) return NULL;
  if (strcmp(node->type, "?") == 0) {
    const isochron_node_type only = {type, about, NULL, NULL, NULL, NULL};
    const isochron_node_list list = {ISOCHRON_NODE_ABI, 1, &only};
    say_types(node, &list);
    isochron_detach(node);
    exit(0);
  }
  free(node->type);
  node->type = copy_text(type, strlen(type));
  node->about = copy_text(about, strlen(about));
  return node;
}

void isochron_detach(isochron_node* node) {
  if (!node) return;
  for (uint32_t i = 0; i < node->parameters && node->keys && node->values; ++i) {
    free(node->keys[i]);
    free(node->values[i]);
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    free(node->inputs[i].name);
    free(node->inputs[i].type);
    free(node->inputs[i].latest.data);
    isochron_message_free(node->inputs[i].layout);
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    free(node->outputs[i].name);
    free(node->outputs[i].type);
    isochron_message_free(node->outputs[i].layout);
  }
  free(node->keys);
  free(node->values);
  free(node->in.data);
  free(node->out.data);
  free(node->asked.data);
  free(node->filling.data);
  free(node->why);
  free(node->type);
  free(node->about);
  close(node->fd);
  free(node);
}

/* ---- the loop ---- */

void isochron_put(isochron_node* node, const void* message, size_t size) {
  memcpy(host_room(node, size), message, size);
  node->put = 1;
}

/* Answers what the last call of isochron_next() brought. */
static int answer(isochron_node* node) {
  if (!node->declared) say_ports(node, node->type, node->about ? node->about : "");
  if (node->due >= 0 && !node->put) host_fail(node, "the message that was due was not put");
  if (node->why) return say_failure(node);
  if (node->due >= 0) say_filled(node);
  if (node->answer) say_ready(node);
  node->answer = 0;
  node->put = 0;
  if (node->why) return say_failure(node);
  return 1;
}

static int take_message(isochron_node* node, const unsigned char* frame, uint32_t size, isochron_happening* what) {
  uint32_t input;
  if (size < 13) return 0;
  memcpy(&input, frame + 1, 4);
  if (input >= node->input_count) return 0;
  port* in = &node->inputs[input];
  memcpy(&in->latest_ns, frame + 5, 8);
  const size_t cdr = isochron_message_cdr_size(in->layout);
  in->latest.size = 0;
  if (cdr == 0) {
    append(&in->latest, frame + 13, size - 13);
  } else {
    if (size - 13 < cdr) return 0;
    const size_t own = isochron_message_size(in->layout);
    make_room(&in->latest, own);
    isochron_message_decode(in->layout, frame + 13, in->latest.data);
    in->latest.size = own;
  }
  in->has_latest = 1;
  *what = (isochron_happening){ISOCHRON_MESSAGE, (int32_t)input, in->latest_ns, in->latest.data, in->latest.size};
  node->answer = node->sends_events;
  return 1;
}

int isochron_next(isochron_node* node, isochron_happening* what) {
  unsigned char* frame;
  uint32_t size;
  if (!answer(node) || (node->out.size > 0 && !flush_out(node))) return 0;
  if (!read_frame(node, &frame, &size)) return 0;
  if (frame[0] == MESSAGE) return take_message(node, frame, size, what);
  if (frame[0] == FILL && size >= 13) {
    uint32_t output;
    memcpy(&output, frame + 1, 4);
    if (output >= node->output_count) return 0;
    node->due = (int32_t)output;
    node->next_ns = INT64_MIN;
    node->period_ns = 0;
    *what = (isochron_happening){ISOCHRON_DUE, node->due, 0, NULL, 0};
    memcpy(&what->time_ns, frame + 5, 8);
    return 1;
  }
  if ((frame[0] != START && frame[0] != FINISH) || size < 9) return 0;
  *what = (isochron_happening){frame[0] == START ? ISOCHRON_STARTED : ISOCHRON_FINISHED, -1, 0, NULL, 0};
  memcpy(&what->time_ns, frame + 1, 8);
  node->answer = 1;
  return 1;
}

/* ---- callbacks on top of the loop ---- */

static void fill_by_callback(isochron_node* node, void* self, const isochron_happening* what) {
  const port* out = &node->outputs[what->port];
  const size_t size = isochron_message_cdr_size(out->layout) ? isochron_message_size(out->layout) : 0;
  void* message = host_room(node, size);
  if (size) memset(message, 0, size);
  out->info.fill(self, what->port, message, size, what->time_ns);
  node->put = 1;
}

static void call(isochron_node* node, const isochron_node_type* type, void* self, const isochron_happening* what) {
  if (what->kind == ISOCHRON_STARTED && type->start) type->start(self, what->time_ns);
  if (what->kind == ISOCHRON_FINISHED && type->finish) type->finish(self, what->time_ns);
  if (what->kind == ISOCHRON_DUE) fill_by_callback(node, self, what);
  if (what->kind == ISOCHRON_MESSAGE && node->inputs[what->port].heard) {
    node->inputs[what->port].heard(self, what->port, what->data, what->size, what->time_ns);
  }
}

static const isochron_node_type* type_called(isochron_node* node, const isochron_node_list* types) {
  for (uint32_t i = 0; i < types->count; ++i) {
    if (strcmp(types->types[i].name, node->type) == 0) return &types->types[i];
  }
  if (node->type[0] == 0 && types->count == 1) return types->types;
  host_fail(node, node->type[0] == 0 ? "the program has several node types: say which with `type`"
                                     : "the program has no such node type");
  say_failure(node);
  return NULL;
}

int isochron_node_main(const isochron_node_list* types) {
  isochron_node* node = connect_to_host();
  if (!node) return 2;
  if (strcmp(node->type, "?") == 0) {
    say_types(node, types);
    isochron_detach(node);
    return 0;
  }
  const isochron_node_type* type = type_called(node, types);
  void* self = type ? type->create(isochron_program_host(), node) : NULL;
  if (type && (!self || node->why)) {
    host_fail(node, "the node could not be made");
    say_failure(node);
  }
  int code = self && !node->why ? 0 : 1;
  if (code == 0) {
    free(node->type);
    node->type = copy_text(type->name, strlen(type->name));
    node->about = copy_text(type->about ? type->about : "", type->about ? strlen(type->about) : 0);
    isochron_happening what;
    while (isochron_next(node, &what)) call(node, type, self, &what);
    code = node->why ? 1 : 0;
  }
  if (self && type->destroy) type->destroy(self);
  isochron_detach(node);
  return code;
}
