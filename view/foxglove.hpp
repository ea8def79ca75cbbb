#pragma once
// The Foxglove WebSocket protocol, server's side, so that Foxglove and Lichtblick show a run while it goes on: they are
// told the channels with their schemas, subscribe to some, and get those records as they are (CDR with ros2msg).
//
// Promises: a client that does not read loses records, the oldest first, and nobody waits for it.

#include <memory>

#include "view/live_source.hpp"

namespace isochron::view {

inline constexpr const char* foxglove_protocols[] = {"foxglove.sdk.v1", "foxglove.websocket.v1"};

std::unique_ptr<Session> open_foxglove(LiveSource& live, std::shared_ptr<Peer> peer);

}  // namespace isochron::view
