#include "bridge/ros2/discovery.hpp"

#include <algorithm>
#include <cstring>

#include "core/cdr.hpp"
#include "core/message.hpp"

namespace isochron::ros2 {
namespace {

template <std::size_t n>
struct Gid {
  std::array<std::uint8_t, n> data{};
};
template <std::size_t n>
struct Node {
  std::string node_namespace, node_name;
  std::vector<Gid<n>> reader_gid_seq, writer_gid_seq;
};
template <std::size_t n>
struct Participant {
  Gid<n> gid;
  std::vector<Node<n>> node_entities_info_seq;
};

using Gid24 = Gid<24>;
using Node24 = Node<24>;
using Participant24 = Participant<24>;
using Gid16 = Gid<16>;
using Node16 = Node<16>;
using Participant16 = Participant<16>;
ISOCHRON_MESSAGE(Gid24, "rmw_dds_common/msg/Gid", data)
ISOCHRON_MESSAGE(Node24, "rmw_dds_common/msg/NodeEntitiesInfo", node_namespace, node_name, reader_gid_seq,
                 writer_gid_seq)
ISOCHRON_MESSAGE(Participant24, "rmw_dds_common/msg/ParticipantEntitiesInfo", gid, node_entities_info_seq)
ISOCHRON_MESSAGE(Gid16, "rmw_dds_common/msg/Gid", data)
ISOCHRON_MESSAGE(Node16, "rmw_dds_common/msg/NodeEntitiesInfo", node_namespace, node_name, reader_gid_seq,
                 writer_gid_seq)
ISOCHRON_MESSAGE(Participant16, "rmw_dds_common/msg/ParticipantEntitiesInfo", gid, node_entities_info_seq)

template <std::size_t n>
Gid<n> gid_of(const Identity& identity) {
  Gid<n> gid;
  std::ranges::copy(identity, gid.data.begin());
  return gid;
}
template <std::size_t n>
Identity identity_of(const Gid<n>& gid) {
  Identity identity;
  std::copy_n(gid.data.begin(), identity.size(), identity.begin());
  return identity;
}

template <std::size_t n>
std::vector<std::byte> write(const ParticipantInfo& info) {
  Participant<n> out{gid_of<n>(info.identity), {}};
  for (const NodeInfo& node : info.nodes) {
    Node<n> one{node.space, node.name, {}, {}};
    for (const Identity& reader : node.readers) one.reader_gid_seq.push_back(gid_of<n>(reader));
    for (const Identity& writer : node.writers) one.writer_gid_seq.push_back(gid_of<n>(writer));
    out.node_entities_info_seq.push_back(std::move(one));
  }
  return cdr_bytes(out);
}

template <std::size_t n>
std::optional<ParticipantInfo> read(std::span<const std::byte> cdr) {
  const auto message = cdr_read<Participant<n>>(cdr);
  if (!message.ok()) return std::nullopt;
  // Read with the wrong size, texts are in the wrong places: a namespace always begins with a slash.
  ParticipantInfo info{identity_of(message->gid), {}};
  for (const Node<n>& node : message->node_entities_info_seq) {
    if (!node.node_namespace.starts_with('/') || node.node_name.empty()) return std::nullopt;
    NodeInfo one{node.node_namespace, node.node_name, {}, {}};
    for (const auto& reader : node.reader_gid_seq) one.readers.push_back(identity_of(reader));
    for (const auto& writer : node.writer_gid_seq) one.writers.push_back(identity_of(writer));
    info.nodes.push_back(std::move(one));
  }
  if (cdr_size(*message) > cdr.size() || cdr_size(*message) + 3 < cdr.size()) return std::nullopt;
  return info;
}

}  // namespace

std::vector<std::byte> to_cdr(const ParticipantInfo& info, IdentitySize size) {
  return size == IdentitySize::humble ? write<24>(info) : write<16>(info);
}

std::optional<ParticipantInfo> participant_from_cdr(std::span<const std::byte> cdr) {
  auto info = read<24>(cdr);
  return info ? info : read<16>(cdr);
}

}  // namespace isochron::ros2
