#pragma once
// What a server sends: for each client, when something is worth saying, one burst of datagrams with the minimum, the
// notices that are not acknowledged, and the newest state of every agent in its view that changed since the last burst.
// There is one mailbox for each agent, the map's entry: a state that was overtaken is never sent.
//
// A burst is due when the minimum grew by a heartbeat, which is what the client waits for; when it asked; when notices
// wait; after `quiet` when anything changed; after `remind` in any case.
//
// Promises: no datagram is longer than its client's datagram_bytes; each is whole in itself. Entries go out as they
// came in. Threads:  owner thread. Cost: O(view) for each burst; no allocation in steady state.

#include <span>
#include <vector>

#include "agents/world_map.hpp"

namespace isochron::agents {

struct DownlinkSettings {
  WallSpan quiet = std::chrono::milliseconds(2);
  WallSpan remind = std::chrono::milliseconds(20);
  WallSpan repeat_notices = std::chrono::milliseconds(10);
  std::uint32_t view_every = 4;  // bursts
};

class Downlink {
 public:
  Downlink(WorldMap& map, const DownlinkSettings& settings) : map_(map), settings_(settings) {}

  /// Adds what is due to the batch.
  void gather(WallTime now);
  /// The last word to a client whose connection ends.
  void say_gone(Profile& client);
  /// What was gathered; valid until clear().
  [[nodiscard]] std::span<const Datagram> batch();
  void clear();
  [[nodiscard]] std::uint64_t datagrams() const { return datagrams_; }

 private:
  bool due(const Profile& client, WallTime now) const;
  void burst(Profile& client, WallTime now);
  void collect(Profile& client);
  void fill_header(Profile& client);
  void add_notices(Profile& client, WallTime now, std::size_t room);
  std::size_t entries_that_fit(std::size_t from, std::size_t room, bool single) const;
  void emit(Profile& client, std::size_t from, std::size_t to);

  WorldMap& map_;
  DownlinkSettings settings_;
  wire::Down header_;
  std::vector<std::uint32_t> wanted_;  // slots whose entry goes into this burst
  std::vector<std::byte> bytes_;
  struct Piece {
    Address to;
    std::size_t at, size;
  };
  std::vector<Piece> pieces_;
  std::vector<Datagram> batch_;
  std::uint64_t datagrams_ = 0;
};

}  // namespace isochron::agents
