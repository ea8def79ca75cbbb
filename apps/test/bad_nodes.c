/* Nodes that misbehave, for flows_test.py: what a Bad one does at 50 ms is its parameter `does`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/isochron_node.h"

#define PAIR "example_msgs/msg/Pair\nfloat64 a\nfloat64 b\n"

typedef struct pair {
  double a, b;
} pair;

typedef struct bad {
  const isochron_host* host;
  isochron_node* node;
  char does[32];
} bad;

static void fill(void* self, int32_t output, void* message, size_t size, int64_t time_ns) {
  bad* b = self;
  pair* out = message;
  (void)size;
  out->a = (double)time_ns;
  if (strcmp(b->does, "forget") != 0) out->b = 1;
  if (strcmp(b->does, "print") == 0) {
    printf("{at %lld}", (long long)time_ns);
    fflush(stdout);
  }
  if (time_ns < 50000000) return;
  if (strcmp(b->does, "crash") == 0) *(volatile int*)8 = 1;
  if (strcmp(b->does, "fail") == 0) b->host->fail(b->node, "it does not want to");
  if (strcmp(b->does, "rush") == 0) b->host->next_at(b->node, output, time_ns - 1);
  if (strcmp(b->does, "past") == 0) b->host->send(b->node, 1, time_ns + 4000000, out, sizeof *out);
  if (strcmp(b->does, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(b->does, "stop") == 0) kill(getpid(), SIGSTOP);
  while (strcmp(b->does, "hang") == 0) pause();
}

static void* create(const isochron_host* host, isochron_node* node) {
  bad* b = calloc(1, sizeof *b);
  const char* does = host->parameter(node, "does");
  if (!b) return NULL;
  b->host = host;
  b->node = node;
  snprintf(b->does, sizeof b->does, "%s", does ? does : "");
  const isochron_output out = {.name = "out", .type = PAIR, .period_ns = 10000000, .capacity = 1, .fill = fill};
  host->output(node, &out);
  const isochron_output alarm = {.name = "alarm", .type = PAIR, .kind = ISOCHRON_EVENT, .lookahead_ns = 5000000};
  host->output(node, &alarm);
  return b;
}

static void* create_ear(const isochron_host* host, isochron_node* node) {
  host->input(node, "in", PAIR, NULL);
  return calloc(1, 1);
}

const isochron_node_list* isochron_node_types(void) {
  static const isochron_node_type types[] = {{"Bad", "misbehaves as `does` says", create, NULL, NULL, free},
                                             {"Ear", "hears it", create_ear, NULL, NULL, free}};
  static const isochron_node_list list = {ISOCHRON_NODE_ABI, 2, types};
  return &list;
}
