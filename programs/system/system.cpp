// Who waits for what, and descriptors; calls.cpp and processes.cpp have what is done.

#include "programs/system/system.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "core/ensure.hpp"

namespace isochron::programs {

using protocol::SystemCall;

const char* System::name_of(SystemCall call) {
  constexpr const char* names[] = {"nothing",
                                   "pipe",
                                   "socket",
                                   "socketpair",
                                   "eventfd",
                                   "timerfd",
                                   "timerfd_settime",
                                   "timerfd_gettime",
                                   "epoll_create",
                                   "epoll_ctl",
                                   "epoll_wait",
                                   "poll",
                                   "bind",
                                   "listen",
                                   "connect",
                                   "accept",
                                   "read",
                                   "write",
                                   "shutdown",
                                   "close",
                                   "dup",
                                   "getsockname",
                                   "setsockopt",
                                   "getsockopt",
                                   "ioctl",
                                   "getaddrinfo",
                                   "fork",
                                   "fork",
                                   "wait",
                                   "kill",
                                   "sleep",
                                   "getppid",
                                   "write",
                                   "sem_open",
                                   "sem_wait",
                                   "sem_post",
                                   "sem_getvalue",
                                   "exec"};
  const auto index = static_cast<std::size_t>(call);
  return index < std::size(names) ? names[index] : "something unknown";
}

bool System::may_wait(const protocol::Call& call) {
  if ((call.flags & protocol::does_not_wait) != 0) return false;
  switch (static_cast<SystemCall>(call.call)) {
    case SystemCall::read:
    case SystemCall::write:
    case SystemCall::poll:
    case SystemCall::poll_wait:
    case SystemCall::accept:
    case SystemCall::connect:
    case SystemCall::wait_child:
    case SystemCall::wait_signal:
    case SystemCall::semaphore_take:
      return true;
    default:
      return false;
  }
}

void System::add(std::uint32_t program, const std::string& robot) {
  auto process = std::make_unique<Process>();
  process->program = program;
  process->number = next_number_++;
  process->parent = 1;
  process->host = &network_.host(robot);
  processes_[program] = std::move(process);
}

std::shared_ptr<Socket> System::open_socket(const std::string& robot, int type) {
  const Socket::Where where{&network_, &network_.host(robot), &names_};
  std::shared_ptr<Socket> socket;
  if (type == SOCK_DGRAM) {
    socket = std::make_shared<DatagramSocket>(files_, where, AF_INET, type);
  } else {
    socket = std::make_shared<StreamSocket>(files_, where, AF_INET, type);
  }
  ++socket->opens;
  return socket;
}

std::optional<Endpoint> System::endpoint(const std::string& from, const std::string& to, std::uint16_t port) {
  const auto ip = from == to ? loopback : network_.look_up(network_.host(from), to);
  return ip ? std::optional(Endpoint{AF_INET, *ip, port, ""}) : std::nullopt;
}

bool System::is_bound(const std::string& robot, std::uint16_t port) {
  const auto& sockets = network_.host(robot).sockets;
  return std::any_of(sockets.begin(), sockets.end(), [port](const Socket* socket) {
    return socket->type() == SOCK_DGRAM && socket->family() != AF_UNIX && socket->local().port == port;
  });
}

System::Process* System::process_numbered(std::uint32_t number) {
  for (auto& [program, process] : processes_) {
    if (process->number == number && !process->waited_for) return process.get();
  }
  return nullptr;
}

std::shared_ptr<File> System::file(const Process& process, int descriptor) const {
  const auto found = process.descriptors.find(descriptor);
  return found == process.descriptors.end() ? nullptr : found->second;
}

void System::open(Process& process, int descriptor, std::shared_ptr<File> file, SimTime now) {
  close(process, descriptor, now);
  ++file->opens;
  process.descriptors[descriptor] = std::move(file);
}

void System::close(Process& process, int descriptor, SimTime now) {
  const auto found = process.descriptors.find(descriptor);
  if (found == process.descriptors.end()) return;
  const std::shared_ptr<File> file = std::move(found->second);
  process.descriptors.erase(found);
  if (--file->opens > 0) return;
  file->closed(now);
  for (File* set : std::exchange(file->watched_by, {})) static_cast<PollSet*>(set)->forget(*file);
}

void System::changed(File& file, SimTime at) {
  for (const File::Waiter& waiter : file.waiters) house_.look_again(waiter.program, waiter.link, at);
  for (File* set : file.watched_by) {
    static_cast<PollSet*>(set)->note(file, at);
    changed(*set, at);
  }
}

std::optional<System::Suspend> System::act(std::uint32_t program, std::uint32_t link, SimTime at,
                                           const protocol::Call& call, std::span<const std::byte> payload) {
  Process& process = *processes_.at(program);
  Task& task = process.tasks[link];
  task.call = call;
  task.payload.assign(payload.begin(), payload.end());
  task.written = 0;
  task.answer.call = call;
  task.answer.call.address_size = 0;
  task.answer.payload.clear();
  task.interrupted = false;
  return go_on(process, link, at);
}

std::optional<System::Suspend> System::wake(std::uint32_t program, std::uint32_t link, SimTime at) {
  Process& process = *processes_.at(program);
  stop_waiting(process, link);
  return go_on(process, link, at);
}

std::optional<System::Suspend> System::go_on(Process& process, std::uint32_t link, SimTime at) {
  Task& task = process.tasks[link];
  task.files.clear();
  CallResult result = attempt(process, task, at);
  if (!result && (task.interrupted || process.signalled))
    result = task.written > 0 ? static_cast<std::int64_t>(task.written) : -EINTR;
  if (!result && (!may_wait(task.call) || task.call.until <= at.ns())) result = when_limit_passed(task);
  if (result) {
    finish(process, link, *result);
    return std::nullopt;
  }
  SimTime until = task.call.until == INT64_MAX ? SimTime::never() : SimTime::from_ns(task.call.until);
  for (const auto& file : task.files) {
    file->waiters.push_back({process.program, link});
    until = std::min(until, file->changes(at));
  }
  task.waiting = true;
  return Suspend{std::max(until, at)};
}

void System::finish(Process& process, std::uint32_t link, std::int64_t result) {
  Task& task = process.tasks[link];
  process.signalled = false;
  task.files.clear();
  task.waiting = false;
  task.answer.call.result = result;
  task.answer.call.size = static_cast<std::uint32_t>(task.answer.payload.size());
}

void System::stop_waiting(Process& process, std::uint32_t link) {
  Task& task = process.tasks[link];
  for (const auto& file : task.files) {
    std::erase(file->waiters, File::Waiter{process.program, link});
  }
  task.files.clear();
  task.waiting = false;
}

// Of a call that may not wait longer.
std::int64_t System::when_limit_passed(const Task& task) const {
  if (task.written > 0) return static_cast<std::int64_t>(task.written);
  switch (static_cast<SystemCall>(task.call.call)) {
    case SystemCall::poll:
    case SystemCall::poll_wait:
    case SystemCall::wait_signal:
    case SystemCall::wait_child:
      return 0;
    case SystemCall::connect:
      return -EINPROGRESS;
    default:
      return -EAGAIN;
  }
}

bool System::waits(std::uint32_t program, std::uint32_t link) const {
  const auto found = processes_.find(program);
  return found != processes_.end() && link < found->second->tasks.size() && found->second->tasks[link].waiting;
}

const System::Answer& System::answer(std::uint32_t program, std::uint32_t link) const {
  return processes_.at(program)->tasks[link].answer;
}

void System::executes(std::uint32_t program, SimTime at, const std::function<bool(int)>& is_open) {
  Process& process = *processes_.at(program);
  std::vector<int> gone;
  for (const auto& [descriptor, file] : process.descriptors) {
    if (!is_open(descriptor)) gone.push_back(descriptor);
  }
  for (const int descriptor : gone) close(process, descriptor, at);
}

std::string System::describe(std::uint32_t program) const {
  const auto found = processes_.find(program);
  if (found == processes_.end()) return "";
  Process& process = *found->second;
  for (std::uint32_t link = 0; link < process.tasks.size(); ++link) {
    const Task& task = process.tasks[link];
    if (!task.waiting) continue;
    std::string text = std::string("waits in ") + name_of(static_cast<SystemCall>(task.call.call));
    for (const auto& file : task.files) {
      const auto is = [&](const auto& entry) { return entry.second == file; };
      const auto at = std::find_if(process.descriptors.begin(), process.descriptors.end(), is);
      text += at == process.descriptors.end() ? "" : " for descriptor " + std::to_string(at->first);
      text += " (" + file->describe() + ")";
      if (const auto* set = dynamic_cast<const PollSet*>(file.get())) text += " of " + set->describe_watched();
    }
    return text;
  }
  return "";
}

}  // namespace isochron::programs
