#include "client/keyed.hpp"

#include "protocol/keyed.h"

namespace isochron::client {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

const std::uint8_t* octets(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace

std::uint64_t siphash(const Key16& key, std::span<const std::byte> bytes) {
  return isochron_siphash(octets(key), octets(bytes), bytes.size());
}

Hash32 prove(std::span<const std::byte> key, std::string_view purpose, std::span<const std::byte> what) {
  isochron_blake2b hash;
  isochron_blake2b_begin(&hash, octets(key), key.size());
  const auto length = static_cast<std::uint8_t>(purpose.size());
  isochron_blake2b_add(&hash, &length, 1);
  isochron_blake2b_add(&hash, purpose.data(), purpose.size());
  isochron_blake2b_add(&hash, what.data(), what.size());
  Hash32 result;
  isochron_blake2b_finish(&hash, reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && isochron_same(octets(a), octets(b), a.size()) != 0;
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
