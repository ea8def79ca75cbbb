// Pipes, eventfds and timerfds.

#include <algorithm>
#include <cstring>

#include "programs/system/file.hpp"

namespace isochron::programs {

namespace {
constexpr std::size_t pipe_atomic = 4096;

CallResult give_count(ReadInto& into, std::uint64_t count) {
  if (into.room.size() < sizeof count) return -EINVAL;
  std::memcpy(into.room.data(), &count, sizeof count);
  return into.used = sizeof count;
}
}  // namespace

PipeEnd::PipeEnd(FileHouse& house, std::shared_ptr<Pipe> pipe, bool writes)
    : File(house), pipe_(std::move(pipe)), writes_(writes) {
  ++(writes_ ? pipe_->writers : pipe_->readers);
  pipe_->ends.push_back(this);
}

PipeEnd::~PipeEnd() { std::erase(pipe_->ends, this); }

void PipeEnd::tell_others(SimTime now) {
  for (PipeEnd* end : pipe_->ends) {
    if (end->writes_ != writes_) end->changed(now);
  }
}

short PipeEnd::ready(SimTime now) {
  short found = 0;
  if (writes_) {
    if (pipe_->readers == 0) return POLLERR | POLLOUT;
    if (pipe_->bytes.room(now) >= pipe_atomic) found |= POLLOUT;
  } else {
    if (pipe_->bytes.has_piece(now)) found |= POLLIN;
    if (pipe_->writers == 0) found |= POLLHUP;
  }
  return found;
}

CallResult PipeEnd::read(ReadInto& into, SimTime now) {
  if (writes_) return -EBADF;
  if (into.room.empty()) return 0;
  if (!pipe_->bytes.has_piece(now)) return pipe_->writers == 0 ? CallResult(0) : std::nullopt;
  into.used = pipe_->bytes.take(into.room, now, now, false);
  tell_others(now);
  return static_cast<std::int64_t>(into.used);
}

CallResult PipeEnd::write(std::span<const std::byte> bytes, const Endpoint*, SimTime now) {
  if (!writes_) return -EBADF;
  if (pipe_->readers == 0) return -EPIPE;
  const std::size_t room = pipe_->bytes.room(now);
  if (room == 0 || (bytes.size() <= pipe_atomic && room < bytes.size())) return std::nullopt;
  const std::size_t size = std::min(room, bytes.size());
  if (size > 0) pipe_->bytes.put(bytes.first(size), now);
  tell_others(now);
  return static_cast<std::int64_t>(size);
}

void PipeEnd::closed(SimTime now) {
  if (!std::exchange(open_, false)) return;
  --(writes_ ? pipe_->writers : pipe_->readers);
  tell_others(now);
}

short EventFile::ready(SimTime) {
  return static_cast<short>((count_ > 0 ? POLLIN : 0) | (count_ < UINT64_MAX - 1 ? POLLOUT : 0));
}

CallResult EventFile::read(ReadInto& into, SimTime now) {
  if (into.room.size() < sizeof count_) return -EINVAL;
  if (count_ == 0) return std::nullopt;
  const std::uint64_t count = semaphore_ ? 1 : count_;
  const CallResult result = give_count(into, count);
  if (*result < 0) return result;
  count_ -= count;
  changed(now);
  return result;
}

CallResult EventFile::write(std::span<const std::byte> bytes, const Endpoint*, SimTime now) {
  std::uint64_t more = 0;
  if (bytes.size() < sizeof more) return -EINVAL;
  std::memcpy(&more, bytes.data(), sizeof more);
  if (more == UINT64_MAX) return -EINVAL;
  if (count_ + more < count_ || count_ + more == UINT64_MAX) return std::nullopt;
  count_ += more;
  changed(now);
  return sizeof more;
}

bool EventFile::take_one(SimTime now) {
  if (count_ == 0) return false;
  --count_;
  changed(now);
  return true;
}

void EventFile::give_one(SimTime now) {
  ++count_;
  changed(now);
}

CallResult TimerFile::read(ReadInto& into, SimTime now) {
  if (next_ > now) return std::nullopt;
  const bool repeats = interval_ > SimSpan::zero();
  const std::uint64_t count = repeats ? static_cast<std::uint64_t>((now - next_).ns() / interval_.ns()) + 1 : 1;
  const CallResult result = give_count(into, count);
  if (*result < 0) return result;
  next_ = repeats ? next_ + interval_ * static_cast<std::int64_t>(count) : SimTime::never();
  return result;
}

void TimerFile::set(SimTime next, SimSpan interval) {
  next_ = next;
  interval_ = interval;
  if (next != SimTime::never()) changed(next);
}

}  // namespace isochron::programs
