// Connections: TCP, and streams between Unix sockets.

#include <sys/socket.h>

#include <algorithm>

#include "programs/system/socket.hpp"

namespace isochron::programs {

namespace {
constexpr std::size_t window = 262144;
constexpr std::size_t segment = 1448;
}  // namespace

void StreamSocket::tie(StreamSocket& a, StreamSocket& b) {
  const bool packets = a.type_ == SOCK_SEQPACKET;
  a.in_ = b.out_ = std::make_shared<Stream>(window, packets);
  a.out_ = b.in_ = std::make_shared<Stream>(window, packets);
  a.other_ = b.weak_from_this();
  b.other_ = a.weak_from_this();
  a.other_host_ = b.where_.host;
  b.other_host_ = a.where_.host;
  a.established_ = b.established_ = SimTime::zero();
  a.told_ = b.told_ = true;
  if (a.peer_.family == AF_UNSPEC) a.peer_ = b.local_;
  if (b.peer_.family == AF_UNSPEC) b.peer_ = a.local_;
}

CallResult StreamSocket::listen(int backlog) {
  if (in_) return -EINVAL;
  if (!bound_) {
    if (is_unix()) return -EINVAL;
    if (const int error = bind_freely(0)) return -error;
  }
  listening_ = true;
  backlog_ = static_cast<std::size_t>(std::clamp(backlog, 1, 4096));
  return 0;
}

StreamSocket* StreamSocket::find_listener(const Endpoint& to, Host*& host) {
  if (is_unix()) {
    host = where_.host;
    const auto found = where_.names->find(to.path);
    auto* listener = found == where_.names->end() ? nullptr : dynamic_cast<StreamSocket*>(found->second);
    return listener != nullptr && listener->listening_ ? listener : nullptr;
  }
  host = where_.network->find(*where_.host, to.ip);
  if (host == nullptr) return nullptr;
  const Endpoint target{to.family, to.ip == 0 ? loopback : to.ip, to.port, ""};
  for (Socket* socket : bound_at(*host, target, false)) {
    auto* listener = dynamic_cast<StreamSocket*>(socket);
    if (listener != nullptr && listener->listening_) return listener;
  }
  return nullptr;
}

// Nobody who does not wait is told at once, however near the other is.
static CallResult begun(bool waits) { return waits ? std::nullopt : CallResult(-EINPROGRESS); }

// The first call asks; later ones look whether the answer is there.
CallResult StreamSocket::connect(const Endpoint& to, SimTime now, bool waits) {
  if (listening_) return -EINVAL;
  if (refused_ != SimTime::never()) {
    if (now < refused_) return waits ? std::nullopt : CallResult(-EALREADY);
    refused_ = SimTime::never();
    return -std::exchange(refusal_, 0);
  }
  if (std::exchange(failed_, false)) return -ECONNABORTED;
  if (told_) return -EISCONN;
  if (in_ && established_ > now) return waits ? std::nullopt : CallResult(-EALREADY);
  if (in_) {
    told_ = true;
    return 0;
  }
  Host* host = nullptr;
  StreamSocket* listener = find_listener(to, host);
  if (host == nullptr) return -ENETUNREACH;
  if (is_unix() && listener == nullptr) return -ECONNREFUSED;
  if (is_unix() && listener->queue_.size() >= listener->backlog_ + 1) return std::nullopt;
  const SimTime there = carry(*host, 0, now);
  const SimTime back = there == SimTime::never() ? there : there + where_.network->latency(*host, *where_.host);
  peer_ = to;
  if (!is_unix() && peer_.ip == 0) peer_.ip = loopback;
  if (!bound_ && !is_unix()) {
    if (const int error = bind_freely(0)) return -error;
  }
  if (!is_unix() && local_.ip == 0) {
    local_.ip = is_loopback(peer_.ip) ? loopback : Network::address_towards(*where_.host, *host);
  }
  if (listener == nullptr || listener->queue_.size() > listener->backlog_) {
    refused_ = back;
    refusal_ = ECONNREFUSED;
    changed(back);
    return waits && refused_ <= now ? connect(to, now, waits) : begun(waits);
  }
  auto accepted = std::make_shared<StreamSocket>(house_, listener->where_, listener->family_, type_);
  accepted->local_ = listener->local_;
  if (!is_unix()) accepted->local_.ip = peer_.ip;
  accepted->peer_ = local_;
  tie(*this, *accepted);
  established_ = back;
  told_ = false;
  accepted->established_ = there;
  listener->queue_.emplace_back(there, accepted);
  house_.changed(*listener, there);
  changed(back);
  told_ = is_unix() || (waits && established_ <= now);
  return told_ ? CallResult(0) : begun(waits);
}

std::shared_ptr<StreamSocket> StreamSocket::accept(SimTime now) {
  if (queue_.empty() || queue_.front().first > now) return nullptr;
  auto first = queue_.front().second;
  queue_.pop_front();
  changed(now);  // who waits to connect
  return first;
}

int StreamSocket::broken(SimTime now) const {
  if (reset_ <= now) return !is_unix() && in_->end_came(now) ? EPIPE : ECONNRESET;
  return error_;
}

short StreamSocket::ready(SimTime now) {
  if (listening_) return !queue_.empty() && queue_.front().first <= now ? POLLIN : 0;
  if (refused_ != SimTime::never()) return refused_ <= now ? POLLIN | POLLOUT | POLLERR | POLLHUP : 0;
  if (!in_) return failed_ || read_shut_ ? POLLIN | POLLRDHUP | POLLOUT | POLLHUP : POLLOUT | POLLHUP;
  if (established_ > now) return 0;
  short found = 0;
  const bool no_more = in_->end_came(now) || read_shut_;
  if (in_->has_piece(now) || no_more) found |= POLLIN;
  if (no_more) found |= POLLRDHUP;
  if (write_shut_ || out_->room(now) >= std::min<std::size_t>(out_->capacity() / 3, 65536)) found |= POLLOUT;
  if (broken(now) != 0) found |= POLLIN | POLLOUT | POLLERR | POLLHUP;
  if (no_more && write_shut_) found |= POLLHUP;
  if (is_unix() && other_.expired()) found |= POLLIN | POLLHUP;
  return found;
}

SimTime StreamSocket::next_queued(SimTime now) const {
  for (const auto& [at, socket] : queue_) {
    if (at > now) return at;
  }
  return SimTime::never();
}

SimTime StreamSocket::changes(SimTime now) {
  if (listening_) return next_queued(now);
  if (refused_ != SimTime::never()) return refused_ > now ? refused_ : SimTime::never();
  if (!in_) return SimTime::never();
  SimTime next = std::min(in_->next_arrival(now), out_->next_room(now));
  if (established_ > now) next = std::min(next, established_);
  if (reset_ > now) next = std::min(next, reset_);
  return next;
}

int StreamSocket::take_error(SimTime now) {
  if (refused_ <= now) {
    refused_ = SimTime::never();
    failed_ = true;
    return std::exchange(refusal_, 0);
  }
  if (reset_ <= now) {
    const int error = broken(now);
    reset_ = SimTime::never();
    error_ = 0;
    dead_ = true;
    read_shut_ = write_shut_ = true;
    return error;
  }
  return std::exchange(error_, 0);
}

CallResult StreamSocket::read(ReadInto& into, SimTime now) {
  if (listening_) return -ENOTCONN;
  if (refused_ != SimTime::never()) return refused_ <= now ? CallResult(-take_error(now)) : std::nullopt;
  if (!in_) return failed_ || read_shut_ ? 0 : is_unix() && type_ == SOCK_STREAM ? -EINVAL : -ENOTCONN;
  if (established_ > now) return std::nullopt;
  if (into.room.empty()) return 0;
  if (type_ == SOCK_SEQPACKET && broken(now) != 0) return -take_error(now);
  if (in_->has_piece(now)) {
    const SimTime back = other_host_ == where_.host ? now : now + where_.network->latency(*where_.host, *other_host_);
    into.used = in_->take(into.room, now, back, into.peek);
    into.stamp = now;
    if (!into.peek) tell_peer(back);
    return static_cast<std::int64_t>(into.used);
  }
  if (!is_unix() && in_->ended(now)) return 0;  // an end that came before it was broken off
  if (const int error = broken(now)) {
    take_error(now);
    return -error;
  }
  return in_->ended(now) || read_shut_ ? CallResult(0) : std::nullopt;
}

void StreamSocket::tell_peer(SimTime at) {
  if (const auto other = other_.lock()) house_.changed(*other, at);
}

CallResult StreamSocket::write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) {
  if (to != nullptr && is_unix() && type_ == SOCK_STREAM) return out_ ? -EISCONN : -EOPNOTSUPP;
  if (refused_ != SimTime::never()) return refused_ <= now ? CallResult(-take_error(now)) : std::nullopt;
  if (!out_) return is_unix() ? -ENOTCONN : -EPIPE;
  if (established_ > now) return std::nullopt;
  if (is_unix() && type_ == SOCK_STREAM && (write_shut_ || broken(now) != 0)) return -EPIPE;
  if (const int error = broken(now)) {
    take_error(now);
    return -error;
  }
  if (write_shut_) return -EPIPE;
  const auto other = std::static_pointer_cast<StreamSocket>(other_.lock());
  if (!other || other->opens == 0) {
    const bool accepted_later = other && other->in_ && other.use_count() > 1;  // it waits in a queue
    if (!accepted_later) {
      if (is_unix()) return -EPIPE;
      reset_ = std::min(reset_, carry(*other_host_, 0, now) + where_.network->latency(*other_host_, *where_.host));
      changed(reset_);
      return static_cast<std::int64_t>(bytes.size());
    }
  }
  if (other && !is_unix() && other->read_shut_ && other->write_shut_) {  // who wants nothing more breaks it off
    other->reset_ = std::min(other->reset_, carry(*other_host_, bytes.size(), now));
    reset_ = std::min(reset_, other->reset_ + where_.network->latency(*other_host_, *where_.host));
    tell_peer(other->reset_);
    changed(reset_);
    return static_cast<std::int64_t>(bytes.size());
  }
  const std::size_t room = out_->room(now);
  if (room == 0 || (type_ == SOCK_SEQPACKET && room < bytes.size())) return std::nullopt;
  const std::size_t size = std::min(room, bytes.size());
  const bool pieces = type_ != SOCK_SEQPACKET && where_.network->is_rated(*where_.host, *other_host_);
  SimTime first = SimTime::never();
  for (std::size_t at = 0; at < size;) {
    const std::size_t part = pieces ? std::min(segment, size - at) : size;
    const SimTime arrives = carry(*other_host_, part, now);
    first = std::min(first, arrives);
    out_->put(bytes.subspan(at, part), arrives);
    at += part;
  }
  if (size > 0) tell_peer(first);
  return static_cast<std::int64_t>(size);
}

void StreamSocket::end_output(SimTime now) {
  if (!out_ || std::exchange(write_shut_, true)) return;
  const SimTime arrives = carry(*other_host_, 0, now);
  out_->end(arrives);
  tell_peer(arrives);
}

CallResult StreamSocket::shutdown(int how, SimTime now) {
  if (listening_) {
    if (how == SHUT_WR && !is_unix()) return 0;
    stop_listening(now);
    changed(now);
    return 0;
  }
  if (!in_ && !is_unix() && refused_ == SimTime::never()) {  // it counts all the same
    if (how != SHUT_WR) read_shut_ = true;
    if (how != SHUT_RD) write_shut_ = true;
  }
  if (!in_ || established_ > now || (!is_unix() && (dead_ || broken(now) != 0))) return -ENOTCONN;
  if (how != SHUT_RD) end_output(now);
  if (how != SHUT_WR) read_shut_ = true;
  // Within a machine it is known at the other end that nobody reads.
  if (const auto other = std::static_pointer_cast<StreamSocket>(other_.lock()); other && is_unix() && read_shut_) {
    other->write_shut_ = true;
    house_.changed(*other, now);
  }
  changed(now);
  return 0;
}

void StreamSocket::closed(SimTime now) {
  leave_names();
  stop_listening(now);
  if (!in_) return;
  // Who leaves without reading all breaks it off; within a machine that is an end, too.
  const bool unread = !in_->empty();
  if (unread) reset_peer(now);
  if (!unread || is_unix()) end_output(now);
  write_shut_ = true;
}

void StreamSocket::reset_peer(SimTime now) {
  const auto other = std::static_pointer_cast<StreamSocket>(other_.lock());
  if (!other) return;
  const SimTime at = carry(*other_host_, 0, now);
  other->reset_ = std::min(other->reset_, at);
  house_.changed(*other, at);
}

// Who waits to be accepted is turned away.
void StreamSocket::stop_listening(SimTime now) {
  for (auto& [at, socket] : queue_) {
    socket->reset_peer(now);
    if (is_unix()) socket->end_output(now);
  }
  queue_.clear();
  listening_ = false;
}

}  // namespace isochron::programs
