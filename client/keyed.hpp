#pragma once
// The target's half of link/auth.hpp without libsodium: keyed BLAKE2b for the handshake, SipHash-2-4 with 128 bits for
// messages. A board that has nothing but libc still proves who it is, and checks who it talks to. A test compares
// every result with libsodium's.
//
// These keep strangers out; nothing here encrypts. Comparing is done in constant time, because that is what an attacker
// could measure.
//
// Threads: owner thread. Cost: no heap; ~1 ns a byte.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace isochron::client {

using Hash32 = std::array<std::byte, 32>;
using Key16 = std::array<std::byte, 16>;

/// BLAKE2b of 32 bytes, fed in pieces.
class Blake2b {
 public:
  /// The key has at most 64 bytes.
  explicit Blake2b(std::span<const std::byte> key);
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] Hash32 finish();

 private:
  void compress(bool last);
  std::array<std::uint64_t, 8> state_;
  std::array<std::byte, 128> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

/// The first 8 bytes of SipHash-2-4-128.
[[nodiscard]] std::uint64_t siphash(const Key16& key, std::span<const std::byte> bytes);

/// What a peer that holds `key` shows for `what`; `purpose` keeps the uses apart. As link::Key::prove().
[[nodiscard]] Hash32 prove(std::span<const std::byte> key, std::string_view purpose, std::span<const std::byte> what);

[[nodiscard]] bool same(std::span<const std::byte> a, std::span<const std::byte> b);

/// 32 or 64 hexadecimal digits, white space around them allowed. Bytes written; 0 = it is no key.
[[nodiscard]] std::size_t parse_key(std::string_view text, Hash32& key);

}  // namespace isochron::client
