#pragma once
// Sealed datagrams as clients send them, for tests.

#include <cstring>
#include <vector>

#include "agents/handler.hpp"
#include "agents/wire.pb.h"

namespace isochron::agents {

inline constexpr std::array<std::byte, 16> a_key{std::byte{7}};

class TestSender {
 public:
  explicit TestSender(Connection connection, const std::array<std::byte, 16>& key = a_key)
      : connection_(connection), sealer_(key) {}
  std::vector<std::byte> seal(std::string_view payload) {
    std::vector<std::byte> bytes(connection_bytes + link::seal_bytes + payload.size());
    std::memcpy(bytes.data(), &connection_, connection_bytes);
    std::memcpy(bytes.data() + connection_bytes + link::seal_head_bytes, payload.data(), payload.size());
    sealer_.seal(std::span(bytes).subspan(connection_bytes));
    return bytes;
  }
  std::vector<std::byte> seal(const wire::Up& up) { return seal(up.SerializeAsString()); }
  /// One agent at a time and place.
  wire::Up up(std::uint32_t agent, std::int64_t ns, double x = 0) {
    wire::Up up;
    up.set_progress_ns(ns);
    wire::AgentMessage& entry = *up.add_agents();
    entry.set_connection(connection_);
    entry.set_agent(agent);
    entry.set_sequence(++sequence_);
    entry.set_sim_time_ns(ns);
    entry.set_x(static_cast<float>(x));
    entry.set_type(5);
    entry.mutable_state()->set_type_url("/anything");
    entry.mutable_state()->set_value("what only clients read");
    return up;
  }

 private:
  Connection connection_;
  link::Sealer sealer_;
  std::uint64_t sequence_ = 0;
};

}  // namespace isochron::agents
