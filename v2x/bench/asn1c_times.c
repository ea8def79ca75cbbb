/* What asn1c's generated code takes for the same octets: a program of its own, run by the benchmark.
 *   asn1c_times BSM_HEX MAP_HEX  ->  ns for: BSM decode, BSM encode, MAP decode */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "BSM.h"
#include "Frame.h"
#include "MAP.h"

static unsigned char octets[4096];

static size_t read_hex(const char* text) {
  size_t n = strlen(text) / 2;
  for (size_t i = 0; i < n; ++i) {
    unsigned v = 0;
    if (sscanf(text + 2 * i, "%2x", &v) != 1) exit(2);
    octets[i] = (unsigned char)v;
  }
  return n;
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void* decode_frame(asn_TYPE_descriptor_t* type, size_t size) {
  Frame_t* frame = NULL;
  void* message = NULL;
  if (uper_decode_complete(NULL, &asn_DEF_Frame, (void**)&frame, octets, size).code != RC_OK) exit(3);
  if (uper_decode_complete(NULL, type, &message, frame->value.buf, frame->value.size).code != RC_OK) exit(4);
  ASN_STRUCT_FREE(asn_DEF_Frame, frame);
  return message;
}

static double decode_ns(asn_TYPE_descriptor_t* type, size_t size) {
  double least = 1e18;
  for (int round = 0; round < 100; ++round) {
    const double start = now_ns();
    for (int i = 0; i < 50; ++i) ASN_STRUCT_FREE(*type, decode_frame(type, size));
    const double took = (now_ns() - start) / 50;
    if (took < least) least = took;
  }
  return least;
}

static double encode_ns(asn_TYPE_descriptor_t* type, size_t size) {
  void* message = decode_frame(type, size);
  static unsigned char body[4096];
  static unsigned char out[4096];
  double least = 1e18;
  for (int round = 0; round < 100; ++round) {
    const double start = now_ns();
    for (int i = 0; i < 50; ++i) {
      const asn_enc_rval_t r = uper_encode_to_buffer(type, message, body, sizeof body);
      Frame_t frame;
      memset(&frame, 0, sizeof frame);
      frame.messageId = 20;
      frame.value.buf = body;
      frame.value.size = (int)((r.encoded + 7) / 8);
      if (uper_encode_to_buffer(&asn_DEF_Frame, &frame, out, sizeof out).encoded < 0) exit(5);
    }
    const double took = (now_ns() - start) / 50;
    if (took < least) least = took;
  }
  ASN_STRUCT_FREE(*type, message);
  return least;
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const size_t bsm = read_hex(argv[1]);
  const double bsm_decode = decode_ns(&asn_DEF_BSM, bsm);
  const double bsm_encode = encode_ns(&asn_DEF_BSM, bsm);
  const size_t map = read_hex(argv[2]);
  printf("%.1f %.1f %.1f\n", bsm_decode, bsm_encode, decode_ns(&asn_DEF_MAP, map));
  return 0;
}
