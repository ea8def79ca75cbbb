#include "agents/handler.hpp"

#include <algorithm>
#include <cmath>

#include "agents/wire.pb.h"
#include "core/limits.hpp"

namespace isochron::agents {

const char* to_string(Drop drop) {
  static constexpr std::array<const char*, drop_kinds> words{"oversized", "truncated", "unknown",   "forged",
                                                             "repeated",  "too old",   "malformed", "too often",
                                                             "stale",     "bad entry"};
  return words[static_cast<std::size_t>(drop)];
}

void Counts::add(const Counts& other) {
  datagrams += other.datagrams;
  entries += other.entries;
  for (std::size_t i = 0; i < dropped.size(); ++i) dropped[i] += other.dropped[i];
}

Connection connection_of(std::span<const std::byte> datagram) {
  if (datagram.size() < connection_bytes) return 0;
  Connection connection = 0;
  for (std::size_t i = 0; i < connection_bytes; ++i) connection |= std::to_integer<Connection>(datagram[i]) << (8 * i);
  return connection;
}

void Handler::add(Connection connection, const std::array<std::byte, 16>& key, std::size_t longest) {
  sessions_.insert_or_assign(connection, Session{link::Opener(key), longest, limits_.datagrams_per_s / 10});
}

Result<Handler::Passed, Drop> Handler::take(std::span<const std::byte> datagram, WallTime now, wire::RawUp& up) {
  auto passed = open(datagram, now, up);
  if (passed) {
    ++counts_.datagrams;
  } else {
    ++counts_.dropped[static_cast<std::size_t>(passed.error())];
  }
  return passed;
}

Result<Handler::Passed, Drop> Handler::open(std::span<const std::byte> datagram, WallTime now, wire::RawUp& up) {
  if (datagram.size() < connection_bytes + link::seal_bytes) return fail(Drop::truncated);
  const Connection connection = connection_of(datagram);
  const auto found = sessions_.find(connection);
  const std::size_t longest = found == sessions_.end() ? largest_datagram : found->second.longest;
  if (datagram.size() > longest) return fail(Drop::oversized);
  if (found == sessions_.end()) return fail(Drop::unknown);
  Session& session = found->second;
  const std::uint64_t before = session.opener.window().highest();
  const auto opened = session.opener.open(datagram.subspan(connection_bytes));
  if (!opened) {
    switch (opened.error()) {
      case link::SealFault::too_short:
        return fail(Drop::truncated);
      case link::SealFault::forged:
        return fail(Drop::forged);
      case link::SealFault::repeated:
        return fail(Drop::repeated);
      case link::SealFault::too_old:
        return fail(Drop::too_old);
    }
  }
  if (!within_budget(session, now)) return fail(Drop::flood);
  if (!up.ParseFromArray(opened->payload.data(), static_cast<int>(opened->payload.size()))) {
    return fail(Drop::malformed);
  }
  filter(session, connection, up);
  return Passed{connection, opened->number > before};
}

bool Handler::within_budget(Session& session, WallTime now) const {
  const double most = limits_.datagrams_per_s / 10;
  if (session.filled != WallTime::before_all()) {
    session.tokens = std::min(most, session.tokens + (now - session.filled).seconds() * limits_.datagrams_per_s);
  }
  session.filled = now;
  if (session.tokens < 1) return false;
  session.tokens -= 1;
  return true;
}

bool Handler::sane(Connection connection, const wire::RawAgent& entry) const {
  return entry.connection() == connection && entry.agent() < limits_.agents && std::isfinite(entry.x()) &&
         std::isfinite(entry.y()) && std::isfinite(entry.z()) && entry.reach() >= 0 && entry.reach() < 1e6F &&
         limits::is_time(entry.sim_time_ns()) && entry.ByteSizeLong() <= limits_.entry_bytes;
}

void Handler::filter(Session& session, Connection connection, wire::RawUp& up) {
  auto& agents = *up.mutable_agents();
  int kept = 0;
  for (int i = 0; i < agents.size(); ++i) {
    wire::RawAgent& entry = agents[i];
    if (!sane(connection, entry)) {
      ++counts_.dropped[static_cast<std::size_t>(Drop::bad_entry)];
      continue;
    }
    if (entry.agent() >= session.stamps.size()) session.stamps.resize(entry.agent() + 1);
    Stamp& stamp = session.stamps[entry.agent()];
    if (stamp.type != 0 && entry.type() != stamp.type) {
      ++counts_.dropped[static_cast<std::size_t>(Drop::bad_entry)];
      continue;
    }
    if (std::pair(entry.sim_time_ns(), entry.sequence()) <= std::pair(stamp.sim_time_ns, stamp.sequence)) {
      ++counts_.dropped[static_cast<std::size_t>(Drop::stale)];
      continue;
    }
    stamp = {entry.sim_time_ns(), entry.sequence(), entry.type()};
    agents.SwapElements(kept++, i);
  }
  while (agents.size() > kept) agents.RemoveLast();  // kept for the next datagram
  counts_.entries += static_cast<std::uint64_t>(kept);
}

}  // namespace isochron::agents
