// The calls of the simulated system, but for those on processes.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "programs/system/system.hpp"

namespace isochron::programs {

using protocol::SystemCall;

namespace {

std::optional<Endpoint> address_in(const protocol::Call& call) {
  const std::size_t size = std::min<std::size_t>(call.address_size, sizeof call.address);
  return endpoint_of({call.address, size});
}

void put_address(const Endpoint& endpoint, int family, protocol::Call& call) {
  call.address_size = write_endpoint(endpoint, family, call.address);
}

bool is_not_what_it_must_be(const protocol::Call& call, const File& file) {
  return (call.flags & protocol::of_socket) != 0 && dynamic_cast<const Socket*>(&file) == nullptr;
}

constexpr const char* nobody_there = ", which is no host of the run; see `networks`, `outside` and docs/stacks.md";
constexpr std::size_t most_read = std::size_t{512} * 1024;

}  // namespace

CallResult System::attempt(Process& process, Task& task, SimTime now) {
  protocol::Call& call = task.call;
  switch (static_cast<SystemCall>(call.call)) {
    case SystemCall::pipe:
    case SystemCall::socket:
    case SystemCall::socket_pair:
    case SystemCall::event:
    case SystemCall::timer:
    case SystemCall::poll_set:
    case SystemCall::close:
    case SystemCall::duplicate:
      return open_call(process, task, now);
    case SystemCall::timer_set:
    case SystemCall::timer_get:
      return timer(process, task);
    case SystemCall::poll_add:
    case SystemCall::poll_wait:
      return poll_set(process, task, now);
    case SystemCall::poll:
      return poll(process, task, now);
    case SystemCall::read:
      return read(process, task, now);
    case SystemCall::write:
      return write(process, task, now);
    case SystemCall::available: {
      const auto of = file(process, call.descriptor);
      if (!of) return -EBADF;
      const auto* stream = dynamic_cast<const StreamSocket*>(of.get());
      if (stream != nullptr && stream->listening()) return -EINVAL;
      const bool has_bytes = stream != nullptr || dynamic_cast<const Socket*>(of.get()) != nullptr ||
                             dynamic_cast<const PipeEnd*>(of.get()) != nullptr;
      return has_bytes ? static_cast<std::int64_t>(of->available(now)) : -ENOTTY;
    }
    case SystemCall::bind:
    case SystemCall::listen:
    case SystemCall::connect:
    case SystemCall::accept:
    case SystemCall::shutdown:
    case SystemCall::name:
    case SystemCall::option:
    case SystemCall::error:
      return socket_call(process, task, now);
    case SystemCall::look_up:
      return look_up(process, task);
    case SystemCall::fork:
      return fork(process, task, now);
    case SystemCall::forked:
      return forked(process, task, now);
    case SystemCall::wait_child:
      return wait_child(process, task);
    case SystemCall::kill:
      return kill(process, task, now);
    case SystemCall::wait_signal:
      return std::nullopt;
    case SystemCall::parent:
      return process.parent;
    case SystemCall::print:
      house_.print(process.program, task.payload, now);
      return static_cast<std::int64_t>(task.payload.size());
    case SystemCall::semaphore:
    case SystemCall::semaphore_take:
    case SystemCall::semaphore_give:
    case SystemCall::semaphore_count:
      return semaphore(task, now);
    case SystemCall::refused:
      house_.refuse(process.program, now,
                    std::string(reinterpret_cast<const char*>(task.payload.data()),
                                std::min<std::size_t>(task.payload.size(), 400)));
      return 0;
    case SystemCall::none:
      break;
  }
  return -ENOSYS;
}

std::shared_ptr<Socket> System::make_socket(Process& process, int family, int type) {
  const Socket::Where where{&network_, process.host, &names_};
  const bool inet = family == AF_INET || family == AF_INET6;
  if (type == SOCK_DGRAM && (inet || family == AF_UNIX))
    return std::make_shared<DatagramSocket>(files_, where, family, type);
  if ((type == SOCK_STREAM && inet) || ((type == SOCK_STREAM || type == SOCK_SEQPACKET) && family == AF_UNIX))
    return std::make_shared<StreamSocket>(files_, where, family, type);
  return nullptr;
}

CallResult System::open_call(Process& process, Task& task, SimTime now) {
  const protocol::Call& call = task.call;
  const int family = static_cast<int>(call.a), type = static_cast<int>(call.b);
  switch (static_cast<SystemCall>(call.call)) {
    case SystemCall::pipe: {
      const auto pipe = std::make_shared<PipeEnd::Pipe>();
      open(process, call.descriptor, std::make_shared<PipeEnd>(files_, pipe, false), now);
      open(process, call.second, std::make_shared<PipeEnd>(files_, pipe, true), now);
      return 0;
    }
    case SystemCall::socket: {
      auto socket = make_socket(process, family, type);
      if (!socket) return -EAFNOSUPPORT;
      open(process, call.descriptor, std::move(socket), now);
      return 0;
    }
    case SystemCall::socket_pair: {
      const auto one = make_socket(process, family, type), other = make_socket(process, family, type);
      if (!one || family != AF_UNIX) return -EOPNOTSUPP;
      if (type == SOCK_DGRAM) {
        DatagramSocket::tie(static_cast<DatagramSocket&>(*one), static_cast<DatagramSocket&>(*other));
      } else {
        StreamSocket::tie(static_cast<StreamSocket&>(*one), static_cast<StreamSocket&>(*other));
      }
      open(process, call.descriptor, one, now);
      open(process, call.second, other, now);
      return 0;
    }
    case SystemCall::event:
      open(process, call.descriptor,
           std::make_shared<EventFile>(files_, static_cast<std::uint64_t>(call.a), call.b != 0), now);
      return 0;
    case SystemCall::timer:
      open(process, call.descriptor, std::make_shared<TimerFile>(files_), now);
      return 0;
    case SystemCall::poll_set:
      open(process, call.descriptor, std::make_shared<PollSet>(files_), now);
      return 0;
    case SystemCall::duplicate: {
      auto of = file(process, call.descriptor);
      if (!of) return -EBADF;
      if (call.second != call.descriptor) open(process, call.second, std::move(of), now);
      return call.second;
    }
    default:
      if (!file(process, call.descriptor)) return -EBADF;
      close(process, call.descriptor, now);
      return 0;
  }
}

CallResult System::timer(Process& process, Task& task) {
  auto* timer = dynamic_cast<TimerFile*>(file(process, task.call.descriptor).get());
  if (timer == nullptr) return -EINVAL;
  task.answer.call.a = timer->next() == SimTime::never() ? -1 : timer->next().ns();
  task.answer.call.b = timer->interval().ns();
  if (static_cast<SystemCall>(task.call.call) == SystemCall::timer_get) return 0;
  timer->set(task.call.a < 0 ? SimTime::never() : SimTime::from_ns(task.call.a),
             SimSpan::from_ns(std::max<std::int64_t>(0, task.call.b)));
  return 0;
}

CallResult System::read(Process& process, Task& task, SimTime now) {
  const auto of = file(process, task.call.descriptor);
  if (!of) return -EBADF;
  if (is_not_what_it_must_be(task.call, *of)) return -ENOTSOCK;
  task.answer.payload.resize(
      std::min<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(task.call.a, 0)), most_read));
  ReadInto into{task.answer.payload,
                (task.call.flags & MSG_PEEK) != 0,
                {},
                false,
                0,
                0,
                now,
                (task.call.flags & protocol::does_not_wait) == 0};
  const CallResult result = of->read(into, now);
  task.answer.payload.resize(into.used);
  if (!result) {
    task.files.push_back(of);
    return result;
  }
  if (into.has_from) {
    const auto* socket = dynamic_cast<const Socket*>(of.get());
    put_address(into.from, socket != nullptr ? socket->family() : AF_UNIX, task.answer.call);
  }
  task.answer.call.second = static_cast<std::int32_t>(into.flags);
  task.answer.call.a = into.stamp.ns();
  if (*result > 0 && (task.call.flags & MSG_TRUNC) == 0) return static_cast<std::int64_t>(into.used);
  return result;
}

CallResult System::write(Process& process, Task& task, SimTime now) {
  const auto of = file(process, task.call.descriptor);
  if (!of) return -EBADF;
  if (is_not_what_it_must_be(task.call, *of)) return -ENOTSOCK;
  std::optional<Endpoint> to;
  if (task.call.address_size > 0 && !(to = address_in(task.call))) return -EINVAL;
  if (to) {
    if (const auto outside = go_outside(process, "sends to ", *to, now)) return outside;
  }
  for (;;) {
    const auto rest = std::span<const std::byte>(task.payload).subspan(task.written);
    const CallResult result = of->write(rest, to ? &*to : nullptr, now);
    if (to && result && *result == -ENETUNREACH) refuse_once(process, "sends to " + to_string(*to) + nobody_there, now);
    if (result && *result < 0) return task.written > 0 ? static_cast<std::int64_t>(task.written) : *result;
    if (!result) {
      task.files.push_back(of);
      return std::nullopt;
    }
    task.written += static_cast<std::size_t>(*result);
    if (task.written >= task.payload.size()) return static_cast<std::int64_t>(task.written);
  }
}

CallResult System::poll(Process& process, Task& task, SimTime now) {
  const std::size_t count = task.payload.size() / sizeof(protocol::PollOne);
  std::vector<protocol::PollOne> set(count);
  if (count > 0) std::memcpy(set.data(), task.payload.data(), count * sizeof set[0]);
  std::int64_t found = 0;
  for (protocol::PollOne& one : set) {
    one.found = 0;
    if (one.descriptor < 0) continue;
    const auto of = file(process, one.descriptor);
    one.found =
        of ? static_cast<std::int16_t>(of->ready(now) & (one.events | POLLERR | POLLHUP)) : std::int16_t{POLLNVAL};
    if (one.found != 0) ++found;
    if (of) task.files.push_back(of);
  }
  task.answer.payload.resize(count * sizeof set[0]);
  if (count > 0) std::memcpy(task.answer.payload.data(), set.data(), count * sizeof set[0]);
  return found > 0 ? CallResult(found) : std::nullopt;
}

CallResult System::poll_set(Process& process, Task& task, SimTime now) {
  const auto of = file(process, task.call.descriptor);
  auto* set = dynamic_cast<PollSet*>(of.get());
  if (set == nullptr) return -EINVAL;
  if (static_cast<SystemCall>(task.call.call) == SystemCall::poll_add) {
    const auto watched = file(process, task.call.second);
    if (!watched) return -EPERM;
    const auto events = static_cast<std::uint32_t>(task.call.a);
    const auto data = static_cast<std::uint64_t>(task.call.b);
    if (task.call.flags == EPOLL_CTL_ADD) return set->add(task.call.second, watched, events, data, now);
    if (task.call.flags == EPOLL_CTL_MOD) return set->change(task.call.second, *watched, events, data, now);
    return set->remove(task.call.second, *watched);
  }
  const auto events = set->take(static_cast<std::size_t>(std::clamp<std::int64_t>(task.call.a, 1, 1024)), now);
  if (events.empty()) {
    task.files.push_back(of);
    return std::nullopt;
  }
  task.answer.payload.resize(events.size() * sizeof events[0]);
  std::memcpy(task.answer.payload.data(), events.data(), task.answer.payload.size());
  return static_cast<std::int64_t>(events.size());
}

CallResult System::socket_call(Process& process, Task& task, SimTime now) {
  const protocol::Call& call = task.call;
  const auto of = file(process, call.descriptor);
  auto* socket = dynamic_cast<Socket*>(of.get());
  if (socket == nullptr) return of ? -ENOTSOCK : -EBADF;
  switch (static_cast<SystemCall>(call.call)) {
    case SystemCall::bind: {
      const auto to = address_in(call);
      return to ? socket->bind(*to) : -EADDRNOTAVAIL;
    }
    case SystemCall::listen:
      return socket->listen(static_cast<int>(call.a));
    case SystemCall::connect:
      return connect(process, task, *socket, now);
    case SystemCall::accept:
      return accept(process, task, *socket, now);
    case SystemCall::shutdown:
      return socket->shutdown(static_cast<int>(call.a), now);
    case SystemCall::name:
      return name(task, *socket, now);
    case SystemCall::option:
      return socket->option(static_cast<int>(call.a), static_cast<int>(call.b), call.c);
    default:
      return socket->take_error(now);
  }
}

CallResult System::connect(Process& process, Task& task, Socket& socket, SimTime now) {
  const auto to = address_in(task.call);
  if (!to) return -EAFNOSUPPORT;
  if (const auto outside = go_outside(process, "connects to ", *to, now)) return outside;
  const bool waits = (task.call.flags & protocol::does_not_wait) == 0;
  const CallResult result = socket.connect(*to, now, waits);
  if (result && *result == -ENETUNREACH) refuse_once(process, "connects to " + to_string(*to) + nobody_there, now);
  if (!result) task.files.push_back(file(process, task.call.descriptor));
  return result;
}

void System::refuse_once(const Process& process, const std::string& what, SimTime now) {
  if (refused_.emplace(process.program, what).second) house_.refuse(process.program, now, what);
}

CallResult System::go_outside(const Process& process, const char* does, const Endpoint& to, SimTime now) {
  const auto is_it = [&to](const OutsideSpec& one) { return one.ip == to.ip && one.port == to.port; };
  const auto found = to.family == AF_UNIX ? outside_.end() : std::find_if(outside_.begin(), outside_.end(), is_it);
  if (found == outside_.end()) return std::nullopt;
  const std::string what = does + found->name + " (" + to_string(to) + "), which is outside";
  if (!found->allowed) {
    refuse_once(process, what + "; mode repeatable lets no program out", now);
    return -ENETUNREACH;
  }
  refuse_once(process, what + " and on the wall clock: what follows from it does not repeat", now);
  return -EREMOTE;
}

CallResult System::accept(Process& process, Task& task, Socket& socket, SimTime now) {
  auto* listener = dynamic_cast<StreamSocket*>(&socket);
  if (listener == nullptr) return -EOPNOTSUPP;
  if (!listener->listening()) return -EINVAL;
  auto connection = listener->accept(now);
  if (!connection) {
    task.files.push_back(file(process, task.call.descriptor));
    return std::nullopt;
  }
  if (const Endpoint* peer = connection->peer()) put_address(*peer, connection->family(), task.answer.call);
  open(process, task.call.second, std::move(connection), now);
  return task.call.second;
}

CallResult System::name(Task& task, const Socket& socket, SimTime now) {
  if (task.call.a == 0) {
    put_address(socket.local(), socket.family(), task.answer.call);
    return 0;
  }
  const auto* stream = dynamic_cast<const StreamSocket*>(&socket);
  if (socket.peer() == nullptr || (stream != nullptr && !stream->connected(now))) return -ENOTCONN;
  put_address(*socket.peer(), socket.family(), task.answer.call);
  return 0;
}

CallResult System::semaphore(Task& task, SimTime now) {
  const auto kind = static_cast<SystemCall>(task.call.call);
  if (kind == SystemCall::semaphore) {
    const std::string name(reinterpret_cast<const char*>(task.payload.data()), task.payload.size());
    const auto found = name.empty() ? semaphore_names_.end() : semaphore_names_.find(name);
    if (found != semaphore_names_.end()) {
      if ((task.call.flags & O_CREAT) != 0 && (task.call.flags & O_EXCL) != 0) return -EEXIST;
      return static_cast<std::int64_t>(found->second) + 1;
    }
    if (!name.empty() && (task.call.flags & O_CREAT) == 0) return -ENOENT;
    semaphores_.push_back(std::make_shared<EventFile>(files_, static_cast<std::uint64_t>(task.call.a), true));
    if (!name.empty()) semaphore_names_[name] = semaphores_.size() - 1;
    return static_cast<std::int64_t>(semaphores_.size());
  }
  if (task.call.a < 1 || static_cast<std::size_t>(task.call.a) > semaphores_.size()) return -EINVAL;
  const auto& one = semaphores_[static_cast<std::size_t>(task.call.a) - 1];
  if (kind == SystemCall::semaphore_count) return static_cast<std::int64_t>(one->count());
  if (kind == SystemCall::semaphore_give) return one->give_one(now), 0;
  if (one->take_one(now)) return 0;
  task.files.push_back(one);
  return std::nullopt;
}

CallResult System::look_up(Process& process, Task& task) {
  const std::string host(reinterpret_cast<const char*>(task.payload.data()), task.payload.size());
  auto ip = host.empty() ? std::optional(Network::address_towards(*process.host, *process.host))
                         : network_.look_up(*process.host, host);
  const auto is_named = [&host](const OutsideSpec& one) { return one.name.substr(0, one.name.rfind(':')) == host; };
  const auto outside = std::find_if(outside_.begin(), outside_.end(), is_named);
  if (!ip && outside != outside_.end()) ip = outside->ip;
  if (!ip) return -ENOENT;
  put_address({AF_INET, *ip, 0, ""}, AF_INET, task.answer.call);
  return 0;
}

}  // namespace isochron::programs
