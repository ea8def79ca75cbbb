#include "protocol/keyed.h"

/* The fractional parts of the square roots of the first primes, as in SHA-512. */
static const uint64_t start_values[8] = {0x6a09e667f3bcc908U, 0xbb67ae8584caa73bU, 0x3c6ef372fe94f82bU,
                                         0xa54ff53a5f1d36f1U, 0x510e527fade682d1U, 0x9b05688c2b3e6c1fU,
                                         0x1f83d9abfb41bd6bU, 0x5be0cd19137e2179U};
/* Which word of the message goes where in each round. */
static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
/* Which words of the state are mixed together: columns, then diagonals. */
static const uint8_t mixed[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                    {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};

static uint64_t turned_right(uint64_t word, unsigned bits) { return (word >> bits) | (word << (64U - bits)); }

static uint64_t word_at(const uint8_t* from, size_t bytes) {
  uint64_t word = 0;
  size_t i;
  for (i = 0; i < bytes; ++i) word |= (uint64_t)from[i] << (8 * i);
  return word;
}

static void compress(isochron_blake2b* hash, int last) {
  uint64_t v[16], m[16];
  unsigned round, i;
  hash->total += hash->filled;
  for (i = 0; i < 16; ++i) m[i] = word_at(hash->block + 8 * i, 8);
  for (i = 0; i < 8; ++i) {
    v[i] = hash->state[i];
    v[i + 8] = start_values[i];
  }
  v[12] ^= hash->total;
  if (last) v[14] = ~v[14];
  for (round = 0; round < 12; ++round) {
    const uint8_t* s = order[round % 10];
    for (i = 0; i < 8; ++i) {
      uint64_t *a = v + mixed[i][0], *b = v + mixed[i][1], *c = v + mixed[i][2], *d = v + mixed[i][3];
      *a += *b + m[s[2 * i]];
      *d = turned_right(*d ^ *a, 32);
      *c += *d;
      *b = turned_right(*b ^ *c, 24);
      *a += *b + m[s[2 * i + 1]];
      *d = turned_right(*d ^ *a, 16);
      *c += *d;
      *b = turned_right(*b ^ *c, 63);
    }
  }
  for (i = 0; i < 8; ++i) hash->state[i] ^= v[i] ^ v[i + 8];
}

void isochron_blake2b_begin(isochron_blake2b* hash, const uint8_t* key, size_t key_size) {
  size_t i;
  for (i = 0; i < 8; ++i) hash->state[i] = start_values[i];
  hash->state[0] ^= 0x01010000U ^ ((uint64_t)key_size << 8) ^ 32U;
  for (i = 0; i < sizeof hash->block; ++i) hash->block[i] = i < key_size ? key[i] : 0;
  hash->total = 0;
  hash->filled = key_size == 0 ? 0 : sizeof hash->block; /* the key stands in a block of its own */
}

void isochron_blake2b_add(isochron_blake2b* hash, const void* bytes, size_t size) {
  const uint8_t* from = (const uint8_t*)bytes;
  size_t i;
  for (i = 0; i < size; ++i) {
    if (hash->filled == sizeof hash->block) { /* only now is it known not to be the last */
      compress(hash, 0);
      hash->filled = 0;
    }
    hash->block[hash->filled++] = from[i];
  }
}

void isochron_blake2b_finish(isochron_blake2b* hash, uint8_t result[32]) {
  size_t i;
  for (i = hash->filled; i < sizeof hash->block; ++i) hash->block[i] = 0;
  compress(hash, 1);
  for (i = 0; i < 32; ++i) result[i] = (uint8_t)(hash->state[i / 8] >> (8 * (i % 8)));
}

static void sip_rounds(uint64_t v[4], int rounds) {
  for (; rounds > 0; --rounds) {
    v[0] += v[1];
    v[1] = turned_right(v[1], 51) ^ v[0];
    v[0] = turned_right(v[0], 32);
    v[2] += v[3];
    v[3] = turned_right(v[3], 48) ^ v[2];
    v[0] += v[3];
    v[3] = turned_right(v[3], 43) ^ v[0];
    v[2] += v[1];
    v[1] = turned_right(v[1], 47) ^ v[2];
    v[2] = turned_right(v[2], 32);
  }
}

static void sip_take(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  sip_rounds(v, 2);
  v[0] ^= word;
}

uint64_t isochron_siphash(const uint8_t key[16], const uint8_t* bytes, size_t size) {
  const uint64_t k0 = word_at(key, 8), k1 = word_at(key + 8, 8);
  const size_t whole = size / 8 * 8;
  size_t at;
  uint64_t v[4];
  v[0] = k0 ^ 0x736f6d6570736575U;
  v[1] = k1 ^ 0x646f72616e646f6dU ^ 0xeeU;
  v[2] = k0 ^ 0x6c7967656e657261U;
  v[3] = k1 ^ 0x7465646279746573U;
  for (at = 0; at < whole; at += 8) sip_take(v, word_at(bytes + at, 8));
  sip_take(v, word_at(bytes + whole, size - whole) | ((uint64_t)size << 56));
  v[2] ^= 0xeeU;
  sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

int isochron_same(const uint8_t* a, const uint8_t* b, size_t size) {
  unsigned different = 0;
  size_t i;
  for (i = 0; i < size; ++i) different |= (unsigned)(a[i] ^ b[i]);
  return different == 0;
}
