#pragma once
// What nodes of ROS 2 tell each other about themselves on the topic ros_discovery_info: which nodes a participant has,
// and which readers and writers are theirs. DDS itself knows nothing of nodes.
//
// Humble and before have identities of 24 bytes there, Iron and later 16. Both are read; which is written is a choice.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace isochron::ros2 {

using Identity = std::array<std::uint8_t, 16>;

struct NodeInfo {
  std::string space, name;
  std::vector<Identity> readers, writers;
};
struct ParticipantInfo {
  Identity identity{};
  std::vector<NodeInfo> nodes;
};

enum class IdentitySize : std::uint8_t { humble = 24, iron = 16 };

inline constexpr const char* discovery_topic = "ros_discovery_info";
inline constexpr const char* discovery_type = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

std::vector<std::byte> to_cdr(const ParticipantInfo& info, IdentitySize size);
/// Nothing: it is no such message.
std::optional<ParticipantInfo> participant_from_cdr(std::span<const std::byte> cdr);

}  // namespace isochron::ros2
