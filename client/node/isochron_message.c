#include "client/node/isochron_message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 4
#define DEEPEST 32

typedef struct leaf {
  size_t offset, size;
  int is_time; /* an int64_t of nanoseconds in memory; seconds and nanoseconds in CDR */
} leaf;

struct isochron_message_type {
  leaf* leaves;
  size_t count, room;
  size_t size, align, cdr_size;
  int number; /* alone, without a message around it */
  int flat;
};

static size_t size_of_primitive(const char* name) {
  static const struct {
    const char* name;
    size_t size;
  } all[] = {{"bool", 1},  {"byte", 1},   {"char", 1},  {"int8", 1},   {"uint8", 1},   {"int16", 2},  {"uint16", 2},
             {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}, {"float32", 4}, {"float64", 8}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (strcmp(name, all[i].name) == 0) return all[i].size;
  }
  return 0;
}

static size_t align_up(size_t at, size_t size) { return (at + size - 1) / size * size; }

static void add_leaf(isochron_message_type* type, size_t size, int is_time) {
  if (type->count == type->room) {
    type->room = type->room ? 2 * type->room : 16;
    leaf* more = realloc(type->leaves, type->room * sizeof(leaf));
    if (!more) abort();
    type->leaves = more;
  }
  type->size = align_up(type->size, size);
  type->leaves[type->count++] = (leaf){type->size, size, is_time};
  type->size += size;
  if (size > type->align) type->align = size;
}

/* One line of the text without comment, as two words; NULL: the end. */
static const char* next_line(const char* at, char first[256], char second[256]) {
  for (;;) {
    if (*at == 0) return NULL;
    size_t length = strcspn(at, "\n");
    char line[512];
    size_t kept = length < sizeof line - 1 ? length : sizeof line - 1;
    memcpy(line, at, kept);
    line[kept] = 0;
    line[strcspn(line, "#")] = 0;
    at += length + (at[length] == '\n');
    first[0] = second[0] = 0;
    if (sscanf(line, "%255s %255s", first, second) >= 1) return at;
  }
}

/* The fields of the message called `name` in the text; "" = the outer one. */
static const char* section(const char* text, const char* name) {
  char first[256], second[256];
  const char* at = next_line(text, first, second); /* the type's own name */
  if (name[0] == 0) return at;
  while (at && (at = next_line(at, first, second))) {
    if (strcmp(first, "MSG:") == 0 && strcmp(second, name) == 0) return at;
  }
  return NULL;
}

static void add_fields(isochron_message_type* type, const char* text, const char* name, int depth);

static void add_part(isochron_message_type* type, const char* text, const char* name, int depth) {
  isochron_message_type part = {0};
  part.align = 1;
  part.flat = 1;
  add_fields(&part, text, name, depth + 1);
  part.size = align_up(part.size, part.align);
  type->flat = type->flat && part.flat;
  const size_t at = align_up(type->size, part.align);
  for (size_t i = 0; i < part.count; ++i) {
    add_leaf(type, part.leaves[i].size, part.leaves[i].is_time);
    type->leaves[type->count - 1].offset = at + part.leaves[i].offset;
  }
  type->size = at + part.size;
  if (part.align > type->align) type->align = part.align;
  free(part.leaves);
}

static void add_fields(isochron_message_type* type, const char* text, const char* name, int depth) {
  char first[256], second[256];
  const char* at = depth > DEEPEST ? NULL : section(text, name);
  if (!at) type->flat = 0;
  while (at && type->flat && (at = next_line(at, first, second))) {
    if (strncmp(first, "====", 4) == 0 || strcmp(first, "MSG:") == 0) return;
    if (strchr(second, '=')) continue; /* a constant */
    size_t count = 1;
    char* bracket = strchr(first, '[');
    if (bracket) {
      count = strtoull(bracket + 1, NULL, 10);
      *bracket = 0;
    }
    if (count == 0 || count > (1u << 28) || strncmp(first, "string", 6) == 0) {
      type->flat = 0;
      return;
    }
    const size_t size = size_of_primitive(first);
    const int is_time = strcmp(first, "builtin_interfaces/Time") == 0;
    for (size_t i = 0; i < count && type->flat; ++i) {
      if (size || is_time) {
        add_leaf(type, size ? size : 8, is_time);
      } else {
        add_part(type, text, first, depth);
      }
    }
  }
}

isochron_message_type* isochron_message_parse(const char* text) {
  char first[256], second[256];
  isochron_message_type* type = calloc(1, sizeof *type);
  if (!type) abort();
  type->align = 1;
  type->flat = 1;
  const char* rest = next_line(text, first, second);
  char third[256], fourth[256];
  if (rest && size_of_primitive(first) && !next_line(rest, third, fourth)) {
    type->number = 1;
    add_leaf(type, size_of_primitive(first), 0);
    type->cdr_size = type->size;
    return type;
  }
  add_fields(type, text, "", 0);
  type->size = align_up(type->size, type->align);
  size_t cdr = 0;
  for (size_t i = 0; i < type->count; ++i) {
    cdr = align_up(cdr, type->leaves[i].is_time ? 4 : type->leaves[i].size) + type->leaves[i].size;
  }
  type->cdr_size = HEADER + cdr;
  return type;
}

void isochron_message_free(isochron_message_type* type) {
  if (type) free(type->leaves);
  free(type);
}

size_t isochron_message_size(const isochron_message_type* type) { return type->flat ? type->size : 0; }
size_t isochron_message_cdr_size(const isochron_message_type* type) { return type->flat ? type->cdr_size : 0; }

void isochron_message_encode(const isochron_message_type* type, const void* message, void* cdr) {
  const unsigned char* from = message;
  unsigned char* to = cdr;
  memset(to, 0, type->cdr_size);
  if (!type->number) to[1] = 1;
  unsigned char* body = to + (type->number ? 0 : HEADER);
  size_t at = 0;
  for (size_t i = 0; i < type->count; ++i) {
    const leaf* l = &type->leaves[i];
    at = align_up(at, l->is_time ? 4 : l->size);
    if (l->is_time) {
      int64_t ns;
      memcpy(&ns, from + l->offset, 8);
      const int64_t seconds = ns / 1000000000 - (ns % 1000000000 < 0);
      const int32_t whole = (int32_t)seconds;
      const uint32_t rest = (uint32_t)(ns - seconds * 1000000000);
      memcpy(body + at, &whole, 4);
      memcpy(body + at + 4, &rest, 4);
    } else {
      memcpy(body + at, from + l->offset, l->size);
    }
    at += l->size;
  }
}

void isochron_message_decode(const isochron_message_type* type, const void* cdr, void* message) {
  const unsigned char* body = (const unsigned char*)cdr + (type->number ? 0 : HEADER);
  unsigned char* to = message;
  memset(to, 0, type->size);
  size_t at = 0;
  for (size_t i = 0; i < type->count; ++i) {
    const leaf* l = &type->leaves[i];
    at = align_up(at, l->is_time ? 4 : l->size);
    if (l->is_time) {
      int32_t seconds;
      uint32_t rest;
      memcpy(&seconds, body + at, 4);
      memcpy(&rest, body + at + 4, 4);
      const int64_t ns = (int64_t)seconds * 1000000000 + rest;
      memcpy(to + l->offset, &ns, 8);
    } else {
      memcpy(to + l->offset, body + at, l->size);
    }
    at += l->size;
  }
}
