#ifndef ISOCHRON_KEYED_H
#define ISOCHRON_KEYED_H
/* The target's half of link/auth.hpp without libsodium: keyed BLAKE2b for the handshake, SipHash-2-4 with 128 bits for
 * messages, for targets that have libc (client/keyed.hpp) and for those that have nothing (client/bare). A test
 * compares every result with libsodium's.
 *
 * These keep strangers out; nothing here encrypts. Proofs are compared in constant time, because that is what an
 * attacker could measure.
 *
 * Threads: owner thread. Cost: no heap. C99 without a library, and C++. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* BLAKE2b of 32 bytes, fed in pieces. The key has at most 64 bytes. */
typedef struct isochron_blake2b {
  uint64_t state[8];
  uint64_t total;
  uint8_t block[128];
  size_t filled;
} isochron_blake2b;
void isochron_blake2b_begin(isochron_blake2b* hash, const uint8_t* key, size_t key_size);
void isochron_blake2b_add(isochron_blake2b* hash, const void* bytes, size_t size);
void isochron_blake2b_finish(isochron_blake2b* hash, uint8_t result[32]);

/* The first 8 bytes of SipHash-2-4-128. */
uint64_t isochron_siphash(const uint8_t key[16], const uint8_t* bytes, size_t size);

int isochron_same(const uint8_t* a, const uint8_t* b, size_t size);

#ifdef __cplusplus
}
#endif
#endif
