#include "link/content_hash.hpp"

#include <sodium.h>

#include <array>

namespace isochron::link {

std::string content_hash(std::span<const std::byte> content) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash;
  ::crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(content.data()), content.size());
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : hash) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace isochron::link
