#include "link/packet.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace isochron::link {
namespace {

static_assert(std::endian::native == std::endian::little, "the head is copied as it lies in memory");

constexpr std::uint32_t magic = 0x50'4f'53'49;  // "ISOP"

struct Head {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t kind;
  std::uint64_t federation;
  std::uint32_t from, to;
  std::uint64_t session, heard, number, ack, turn;
  std::uint32_t size, stream;
};
static_assert(sizeof(Head) == packet_head);

std::span<const std::byte> proof_of(const Key& key, std::span<const std::byte> what, Proof& room) {
  room = key.prove("isochron packet", what);
  return std::span<const std::byte>(room).first(packet_proof);
}

/// Takes the same time wherever the first difference is.
bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::byte differs{};
  for (std::size_t i = 0; i < packet_proof; ++i) differs |= a[i] ^ b[i];
  return differs == std::byte{};
}

}  // namespace

void write_packet(std::vector<std::byte>& out, const Packet& p, const std::optional<Key>& key) {
  ENSURE(p.body.size() <= largest_body, "a packet of more than 1 MB");
  const Head head{magic,        packet_version, static_cast<std::uint16_t>(p.kind),
                  p.federation, p.from,         p.to,
                  p.session,    p.heard,        p.number,
                  p.ack,        p.turn,         static_cast<std::uint32_t>(p.body.size()),
                  p.stream};
  out.resize(packet_head + p.body.size());
  std::memcpy(out.data(), &head, packet_head);
  if (!p.body.empty()) std::memcpy(out.data() + packet_head, p.body.data(), p.body.size());
  if (!key) return;
  Proof room;
  const auto proof = proof_of(*key, out, room);
  out.insert(out.end(), proof.begin(), proof.end());
}

Result<Packet, std::string> read_packet(std::span<const std::byte> bytes, const std::optional<Key>& key) {
  Head head{};
  constexpr std::size_t since_ever = 8;  // magic, version and kind are where they were in every version
  if (bytes.size() < since_ever) return fail(std::string("a packet that is too short"));
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), packet_head));
  if (head.magic != magic) return fail(std::string("not a packet of ours"));
  if (head.version != packet_version) {
    return fail("a packet of version " + std::to_string(head.version) + "; this is version " +
                std::to_string(packet_version));
  }
  if (bytes.size() < packet_head) return fail(std::string("a packet that is too short"));
  const std::size_t whole = packet_head + std::size_t{head.size};
  if (head.size > largest_body || bytes.size() != whole + (key ? packet_proof : 0)) {
    const bool sealed = !key && bytes.size() == whole + packet_proof;
    return fail(std::string(sealed                         ? "a packet with a proof, but no key was given here"
                            : key && bytes.size() == whole ? "a packet without proof of the key"
                                                           : "a packet whose length is wrong"));
  }
  if (key) {
    Proof room;
    if (!equal(proof_of(*key, bytes.first(whole), room), bytes.subspan(whole))) {
      return fail(std::string("a packet sealed with another key"));
    }
  }
  if (head.kind < 1 || head.kind > 4) return fail(std::string("a packet of an unknown kind"));
  return Packet{static_cast<PacketKind>(head.kind),
                head.federation,
                head.from,
                head.to,
                head.session,
                head.heard,
                head.number,
                head.ack,
                head.turn,
                head.stream,
                bytes.subspan(packet_head, head.size)};
}

}  // namespace isochron::link
