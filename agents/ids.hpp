#pragma once
// How agents and clients are named on the wire: a client by its connection number, drawn at random when it joins; an
// agent by its client's number and its own. People use names; the two never mix.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isochron::agents {

using Connection = std::uint64_t;

struct AgentKey {
  Connection connection = 0;
  std::uint32_t agent = 0;
  friend constexpr auto operator<=>(const AgentKey&, const AgentKey&) = default;
};
struct AgentKeyHash {
  [[nodiscard]] std::size_t operator()(const AgentKey& key) const noexcept {
    std::uint64_t x = (key.connection ^ (std::uint64_t{key.agent} << 21)) * 0x9e3779b97f4a7c15;
    return x ^ (x >> 29);
  }
};

/// What stands for a state's type in an envelope: a hash of its type URL (FNV-1a).
[[nodiscard]] constexpr std::uint32_t type_number(std::string_view type_url) {
  std::uint32_t hash = 2166136261U;
  for (const char c : type_url) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return hash;
}

inline constexpr std::uint32_t protocol_version = 2;
/// Longer ones are cut on their way through some networks. Between processes of one machine nothing is, and what a
/// datagram costs there hardly depends on its size: fewer and larger ones are cheaper.
inline constexpr std::size_t largest_datagram = 1200, largest_local_datagram = 8000;
/// Connection number in the clear, then link's seal around the message.
inline constexpr std::size_t connection_bytes = 8;

}  // namespace isochron::agents
