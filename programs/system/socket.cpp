// What all sockets have, and datagrams.

#include "programs/system/socket.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace isochron::programs {

Socket::Socket(FileHouse& house, Where where, int family, int type)
    : File(house), where_(where), family_(family), type_(type) {
  local_.family = family;
}

Socket::~Socket() { leave_names(); }

void Socket::leave_names() {
  std::erase(where_.host->sockets, this);
  if (is_unix()) std::erase_if(*where_.names, [this](const auto& entry) { return entry.second == this; });
}

std::string Socket::describe() const {
  const std::string kind = is_unix() ? "" : type_ == SOCK_DGRAM ? "udp " : "tcp ";
  std::string text = kind + to_string(local_);
  if (peer() != nullptr && !is_unix()) text += " to " + to_string(peer_);
  return text;
}

CallResult Socket::bind(const Endpoint& to) {
  if (bound_) return -EINVAL;
  if (is_unix()) {
    if (to.family != AF_UNIX) return -EINVAL;
    local_.path = to.path;
    if (to.path.empty()) local_.path = std::string(1, '\0') + "isochron" + std::to_string(where_.names->size());
    if (local_.path[0] == 0 && where_.names->contains(local_.path)) return -EADDRINUSE;
    (*where_.names)[local_.path] = this;
    bound_ = true;
    return 0;
  }
  if (to.family != AF_INET && to.family != AF_INET6) return -EAFNOSUPPORT;
  if (to.ip != 0 && !is_multicast(to.ip) && !where_.host->has(to.ip) &&
      !where_.network->is_broadcast(*where_.host, to.ip)) {
    return -EADDRNOTAVAIL;
  }
  if (to.port == 0) return -bind_freely(to.ip);
  for (const Socket* other : where_.host->sockets) {
    if (other->type_ != type_ || other->local_.port != to.port || other->is_unix()) continue;
    if (other->family_ != family_) continue;  // servers have one of each
    if (other->local_.ip != to.ip && other->local_.ip != 0 && to.ip != 0) continue;
    const auto* stream = dynamic_cast<const StreamSocket*>(other);
    if (reuse_ && other->reuse_ && (stream == nullptr || !stream->listening())) continue;
    return -EADDRINUSE;
  }
  local_.ip = to.ip;
  local_.port = to.port;
  bound_ = true;
  where_.host->sockets.push_back(this);
  return 0;
}

int Socket::bind_freely(std::uint32_t ip) {
  Host& host = *where_.host;
  for (int tries = 0; tries < 28232; ++tries) {
    const std::uint16_t port = host.next_port;
    host.next_port = port >= 60999 ? 32768 : static_cast<std::uint16_t>(port + 1);
    const auto taken = [&](const Socket* other) { return other->local_.port == port && other->type_ == type_; };
    if (std::any_of(host.sockets.begin(), host.sockets.end(), taken)) continue;
    local_.ip = ip;
    local_.port = port;
    bound_ = true;
    host.sockets.push_back(this);
    return 0;
  }
  return EADDRINUSE;
}

std::vector<Socket*> Socket::bound_at(Host& host, const Endpoint& to, bool group) const {
  std::vector<Socket*> found;
  for (Socket* socket : host.sockets) {
    if (socket->type_ != type_ || socket->is_unix() || socket->local_.port != to.port) continue;
    const std::uint32_t ip = socket->local_.ip;
    if (group ? (ip == 0 || ip == to.ip) && (!is_multicast(to.ip) || socket->joined(to.ip)) : ip == 0 || ip == to.ip) {
      found.push_back(socket);
    }
  }
  // Who has a socket of each family is asked by that of the caller's.
  std::stable_partition(found.begin(), found.end(), [&](const Socket* s) { return s->family_ == family_; });
  return found;
}

CallResult Socket::option(int level, int name, std::int64_t value) {
  if (level == SOL_SOCKET && (name == SO_REUSEADDR || name == SO_REUSEPORT)) reuse_ = reuse_ || value != 0;
  if (level == IPPROTO_IP && name == IP_MULTICAST_LOOP) loops_ = value != 0;
  if (level == IPPROTO_IP && name == IP_ADD_MEMBERSHIP) groups_.insert(static_cast<std::uint32_t>(value));
  if (level == IPPROTO_IP && name == IP_DROP_MEMBERSHIP) groups_.erase(static_cast<std::uint32_t>(value));
  return 0;
}

// ---- datagrams

void DatagramSocket::tie(DatagramSocket& a, DatagramSocket& b) {
  a.other_ = &b;
  b.other_ = &a;
  a.peer_.family = b.peer_.family = AF_UNIX;
}

short DatagramSocket::ready(SimTime now) {
  short found = 0;
  if (read_shut_ || error_ != 0 || (!inbox_.empty() && inbox_.front().arrives <= now)) found |= POLLIN;
  if (error_ != 0) found |= POLLERR;
  if (other_ == nullptr || other_->has_room()) found |= POLLOUT;
  if (read_shut_) found |= POLLRDHUP;
  if (read_shut_ && write_shut_) found |= POLLHUP;
  return found;
}

SimTime DatagramSocket::changes(SimTime now) {
  for (const Datagram& datagram : inbox_) {
    if (datagram.arrives > now) return datagram.arrives;
  }
  return SimTime::never();
}

std::size_t DatagramSocket::available(SimTime now) {
  return inbox_.empty() || inbox_.front().arrives > now ? 0 : inbox_.front().bytes.size();
}

CallResult DatagramSocket::read(ReadInto& into, SimTime now) {
  if (error_ != 0) return -std::exchange(error_, 0);
  if (inbox_.empty() || inbox_.front().arrives > now) return read_shut_ && into.waits ? CallResult(0) : std::nullopt;
  const Datagram& first = inbox_.front();
  into.used = std::min(into.room.size(), first.bytes.size());
  std::copy_n(first.bytes.begin(), into.used, into.room.begin());
  into.from = first.from;
  into.has_from = true;
  into.stamp = first.arrives;
  if (into.used < first.bytes.size()) into.flags |= MSG_TRUNC;
  const auto size = static_cast<std::int64_t>(first.bytes.size());
  if (!into.peek) {
    held_ -= first.bytes.size();
    inbox_.pop_front();
    if (other_ != nullptr) house_.changed(*other_, now);
  }
  return size;
}

void DatagramSocket::deliver(Datagram datagram) {
  if (held_ + datagram.bytes.size() > capacity) return;  // lost, as the kernel does
  held_ += datagram.bytes.size();
  const SimTime arrives = datagram.arrives;
  const auto after =
      std::find_if(inbox_.rbegin(), inbox_.rend(), [&](const Datagram& d) { return d.arrives <= arrives; });
  inbox_.insert(after.base(), std::move(datagram));
  changed(arrives);
}

CallResult DatagramSocket::connect(const Endpoint& to, SimTime, bool) {
  peer_ = to;
  if (to.family == AF_UNSPEC) {
    peer_ = {};
    return 0;
  }
  if (is_unix()) return where_.names->contains(to.path) ? 0 : -ECONNREFUSED;
  Host* host = where_.network->find(*where_.host, to.ip);
  if (host == nullptr && !is_multicast(to.ip) && !where_.network->is_broadcast(*where_.host, to.ip)) {
    peer_ = {};
    return -ENETUNREACH;
  }
  if (!bound_) bind_freely(0);
  if (local_.ip == 0) {
    local_.ip = host == nullptr      ? Network::address_towards(*where_.host, *where_.host)
                : is_loopback(to.ip) ? loopback
                                     : Network::address_towards(*where_.host, *host);
  }
  return 0;
}

CallResult DatagramSocket::send_unix(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) {
  if (to != nullptr && to->family != AF_UNIX) return -EINVAL;
  if (write_shut_) return -EPIPE;
  DatagramSocket* target = other_;
  if (to != nullptr || (target == nullptr && peer() != nullptr)) {
    const auto found = where_.names->find((to != nullptr ? *to : peer_).path);
    target = found == where_.names->end() ? nullptr : dynamic_cast<DatagramSocket*>(found->second);
    if (target == nullptr && to == nullptr) {  // it is told now that nobody is there, and what was sent before is lost
      peer_ = {};
      inbox_.clear();
      held_ = 0;
      changed(now);
    }
    if (target == nullptr) return -ECONNREFUSED;
  }
  if (target == nullptr) return -ENOTCONN;
  if (target->read_shut_) return -EPIPE;
  if (!target->has_room()) return std::nullopt;
  target->deliver({now, local_, {bytes.begin(), bytes.end()}});
  return static_cast<std::int64_t>(bytes.size());
}

CallResult DatagramSocket::write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) {
  if (is_unix()) return send_unix(bytes, to, now);
  if (error_ != 0) return -std::exchange(error_, 0);
  if (bytes.size() > 65507) return -EMSGSIZE;
  if (to == nullptr) to = peer();
  if (to == nullptr) return -EDESTADDRREQ;
  if (write_shut_) return -EPIPE;
  if (!bound_) bind_freely(0);
  Host& here = *where_.host;
  const bool group = is_multicast(to->ip) || where_.network->is_broadcast(here, to->ip);
  Host* one = group ? nullptr : where_.network->find(here, to->ip);
  if (!group && one == nullptr) return -ENETUNREACH;
  const std::vector<Host*> hosts = group ? where_.network->around(here) : std::vector<Host*>{one};
  bool heard = group;
  for (Host* host : hosts) {
    const std::vector<Socket*> sockets = bound_at(*host, *to, group);
    if (!group && sockets.empty()) break;
    if (group && host == &here && !loops_) continue;
    const auto arrives = where_.network->carry(here, *host, bytes.size(), now, false);
    heard = true;
    if (!arrives) continue;
    Endpoint from = local_;
    if (from.ip == 0) from.ip = is_loopback(to->ip) ? loopback : Network::address_towards(here, *host);
    // One of them has a message that is for one: who is connected to the sender, then who was bound last.
    const auto rank = [this](const DatagramSocket& s) {
      return (s.peer() != nullptr ? 2 : 0) + (s.family() == family_ ? 1 : 0);
    };
    DatagramSocket* best = nullptr;
    for (Socket* socket : sockets) {
      auto* target = static_cast<DatagramSocket*>(socket);
      const Endpoint* wanted = target->peer();
      if (wanted != nullptr && (wanted->port != from.port || (wanted->ip != from.ip && !is_multicast(wanted->ip))))
        continue;
      if (group) target->deliver({*arrives, from, {bytes.begin(), bytes.end()}});
      if (best == nullptr || rank(*target) >= rank(*best)) best = target;
    }
    if (!group && best != nullptr) best->deliver({*arrives, from, {bytes.begin(), bytes.end()}});
  }
  if (!heard && peer() != nullptr && one == &here) error_ = ECONNREFUSED;  // as the kernel tells it: next time
  return static_cast<std::int64_t>(bytes.size());
}

CallResult DatagramSocket::shutdown(int how, SimTime now) {
  // Also of one that is told that it is not connected.
  if (how != SHUT_WR) read_shut_ = true;
  if (how != SHUT_RD) write_shut_ = true;
  changed(now);
  return peer() == nullptr && !is_unix() ? -ENOTCONN : 0;
}

void DatagramSocket::closed(SimTime now) {
  leave_names();
  if (other_ == nullptr) return;
  DatagramSocket* other = std::exchange(other_, nullptr);
  other->other_ = nullptr;
  house_.changed(*other, now);
}

}  // namespace isochron::programs
