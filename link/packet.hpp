#pragma once
// One packet between two members of a federation: a head of 72 bytes, little endian, then the body, then a proof if
// the members share a key.
//
//     magic u32 │ version u16 │ kind u16 │ federation u64 │ from u32 │ to u32 │ session u64 │ heard u64 │ number u64 │
//     ack u64 │ turn u64 │ size u32 │ stream u32
//
// Threads: any; no state. Fails: a sentence; nothing is read beyond the packet.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "link/auth.hpp"

namespace isochron::link {

enum class PacketKind : std::uint16_t { knock = 1, data = 2, bye = 3, refuse = 4 };

struct Packet {
  PacketKind kind = PacketKind::knock;
  std::uint64_t federation = 0;  // a number for its name and what it runs
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t session = 0;  // the sender's, drawn anew for each run
  std::uint64_t heard = 0;    // the receiver's session as the sender knows it; 0 = not yet
  std::uint64_t number = 0;   // data: counts from 1
  std::uint64_t ack = 0;      // everything up to this number has come
  std::uint64_t turn = 0;     // counts every packet that the sender's session sent, repeated data too
  std::uint32_t stream = 0;   // data over a lossless carrier: counts from 1; numbers begin anew with each
  std::span<const std::byte> body;
};

inline constexpr std::uint16_t packet_version = 3;
inline constexpr std::size_t packet_head = 72;
inline constexpr std::size_t packet_proof = 16;
inline constexpr std::size_t largest_body = std::size_t{1} << 20U;

/// Replaces what is in `out`.
void write_packet(std::vector<std::byte>& out, const Packet& packet, const std::optional<Key>& key);

/// The body lies in `bytes`.
Result<Packet, std::string> read_packet(std::span<const std::byte> bytes, const std::optional<Key>& key);

}  // namespace isochron::link
