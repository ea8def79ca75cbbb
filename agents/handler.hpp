#pragma once
// What a handler does with a datagram before the world hears of it: finds whose it is, checks its seal, reads its
// envelope, and leaves out what is not new or not sane. It never looks into a state. Handlers may run on threads of
// their own, each with the sessions that are its; all that passes goes to the one writer of the world map.
//
// Promises: a datagram passes at most once, only from who holds the session's key; every entry that passes carries its
//           client's connection number, the type it began with, and a newer (sim time, sequence) than the one before.
// Threads:  owner thread. Fails: whatever the bytes are, they are counted and dropped.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "agents/ids.hpp"
#include "core/network.hpp"
#include "core/result.hpp"
#include "link/auth.hpp"

namespace isochron::agents {

namespace wire {
class RawUp;
class RawAgent;
}  // namespace wire

/// Why something was dropped; the order of Counts.
enum class Drop : std::uint8_t {
  oversized,
  truncated,
  unknown,
  forged,
  repeated,
  too_old,
  malformed,
  flood,
  stale,
  bad_entry
};
inline constexpr std::size_t drop_kinds = 10;
[[nodiscard]] const char* to_string(Drop drop);

struct Counts {
  std::uint64_t datagrams = 0, entries = 0;  // that passed
  std::array<std::uint64_t, drop_kinds> dropped{};
  [[nodiscard]] std::uint64_t of(Drop drop) const { return dropped[static_cast<std::size_t>(drop)]; }
  void add(const Counts& other);
};

struct HandlerLimits {
  double datagrams_per_s = 20'000;  // of one client, as a token bucket of a tenth of a second
  std::uint32_t agents = 4096;      // of one client
  std::size_t entry_bytes = 1000;
};

/// The connection number at the head of a datagram; 0 = too short to have one.
[[nodiscard]] Connection connection_of(std::span<const std::byte> datagram);

class Handler {
 public:
  explicit Handler(const HandlerLimits& limits = {}) : limits_(limits) {}

  void add(Connection connection, const std::array<std::byte, 16>& key, std::size_t longest = largest_datagram);
  void remove(Connection connection) { sessions_.erase(connection); }

  struct Passed {
    Connection connection;
    bool newest;  // no datagram with a higher number came before: its address may be the client's new one
  };
  /// Fills `up` with what passes.
  Result<Passed, Drop> take(std::span<const std::byte> datagram, WallTime now, wire::RawUp& up);
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Stamp {
    std::int64_t sim_time_ns = INT64_MIN;
    std::uint64_t sequence = 0;
    std::uint32_t type = 0;
  };
  struct Session {
    link::Opener opener;
    std::size_t longest;  // datagram, bytes
    double tokens;
    WallTime filled = WallTime::before_all();
    std::vector<Stamp> stamps{};
  };
  Result<Passed, Drop> open(std::span<const std::byte> datagram, WallTime now, wire::RawUp& up);
  bool within_budget(Session& session, WallTime now) const;
  bool sane(Connection connection, const wire::RawAgent& entry) const;
  void filter(Session& session, Connection connection, wire::RawUp& up);

  HandlerLimits limits_;
  std::unordered_map<Connection, Session> sessions_;
  Counts counts_;
};

}  // namespace isochron::agents
