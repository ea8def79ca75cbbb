#include "client/keyed.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace isochron::client {
namespace {

// The fractional parts of the square roots of the first primes, as in SHA-512.
constexpr std::array<std::uint64_t, 8> start_values{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                                    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                                    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
// Which word of the message goes where in each round.
constexpr std::array<std::array<std::uint8_t, 16>, 10> order{{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                                              {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                                              {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                                              {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                                              {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                                              {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                                              {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                                              {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                                              {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                                              {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}}};

std::uint64_t word_at(const std::byte* from, std::size_t bytes = 8) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return word;
}

void mix(std::array<std::uint64_t, 16>& v, int a, int b, int c, int d, std::uint64_t x, std::uint64_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

void sip_round(std::array<std::uint64_t, 4>& v) {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[2] = std::rotl(v[2], 32);
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Blake2b::Blake2b(std::span<const std::byte> key) : state_(start_values) {
  state_[0] ^= 0x01010000 ^ (key.size() << 8) ^ sizeof(Hash32);
  if (key.empty()) return;
  std::copy(key.begin(), key.end(), block_.begin());
  filled_ = block_.size();  // the key stands in a block of its own
}

void Blake2b::compress(bool last) {
  total_ += filled_;
  std::array<std::uint64_t, 16> v, m;
  for (std::size_t i = 0; i < 16; ++i) m[i] = word_at(block_.data() + 8 * i);
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(start_values.begin(), start_values.end(), v.begin() + 8);
  v[12] ^= total_;
  if (last) v[14] = ~v[14];
  for (std::size_t round = 0; round < 12; ++round) {
    const auto& s = order[round % 10];
    for (int i = 0; i < 4; ++i) mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
    for (int i = 0; i < 4; ++i)
      mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (filled_ == block_.size()) {  // only now is it known not to be the last
      compress(false);
      filled_ = 0;
    }
    const std::size_t n = std::min(bytes.size(), block_.size() - filled_);
    std::memcpy(block_.data() + filled_, bytes.data(), n);
    filled_ += n;
    bytes = bytes.subspan(n);
  }
}

Hash32 Blake2b::finish() {
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::byte{0});
  compress(true);
  Hash32 hash;
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<std::byte>(state_[i / 8] >> (8 * (i % 8)));
  return hash;
}

std::uint64_t siphash(const Key16& key, std::span<const std::byte> bytes) {
  const std::uint64_t k0 = word_at(key.data()), k1 = word_at(key.data() + 8);
  std::array<std::uint64_t, 4> v{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261,
                                 k1 ^ 0x7465646279746573};
  const auto take = [&v](std::uint64_t word) {
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
  };
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) take(word_at(bytes.data() + at));
  take(word_at(bytes.data() + whole, bytes.size() - whole) | (static_cast<std::uint64_t>(bytes.size()) << 56));
  v[2] ^= 0xee;
  for (int i = 0; i < 4; ++i) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

Hash32 prove(std::span<const std::byte> key, std::string_view purpose, std::span<const std::byte> what) {
  Blake2b hash(key);
  const auto length = static_cast<std::byte>(purpose.size());
  hash.add({&length, 1});
  hash.add(std::as_bytes(std::span(purpose)));
  hash.add(what);
  return hash.finish();
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= std::to_integer<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

std::size_t parse_key(std::string_view text, Hash32& key) {
  constexpr const char* blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return 0;
  text = text.substr(first, text.find_last_not_of(blank) - first + 1);
  if (text.size() != 32 && text.size() != 64) return 0;
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    const int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return 0;
    key[i] = static_cast<std::byte>(high * 16 + low);
  }
  return text.size() / 2;
}

}  // namespace isochron::client
