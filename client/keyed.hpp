#pragma once
// Proofs and seals of a target (protocol/keyed.h), as the library for C++ uses them. A board that has nothing but libc still
// proves who it is, and checks who it talks to.
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

/// The first 8 bytes of SipHash-2-4-128.
[[nodiscard]] std::uint64_t siphash(const Key16& key, std::span<const std::byte> bytes);

/// What a peer that holds `key` shows for `what`; `purpose` keeps the uses apart. As link::Key::prove().
[[nodiscard]] Hash32 prove(std::span<const std::byte> key, std::string_view purpose, std::span<const std::byte> what);

[[nodiscard]] bool same(std::span<const std::byte> a, std::span<const std::byte> b);

/// 32 or 64 hexadecimal digits, white space around them allowed. Bytes written; 0 = it is no key.
[[nodiscard]] std::size_t parse_key(std::string_view text, Hash32& key);

}  // namespace isochron::client
