// Children and signals.

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "programs/system/system.hpp"

namespace isochron::programs {

namespace {
constexpr std::size_t processes_most = 512;  // of one run at a time
}

CallResult System::fork(Process& process, Task& task, SimTime now) {
  const auto living =
      std::count_if(processes_.begin(), processes_.end(), [](const auto& p) { return !p.second->over; });
  if (static_cast<std::size_t>(living) >= processes_most) {
    house_.refuse(process.program, now,
                  "starts one more process where the run has " + std::to_string(processes_most) + " already");
    return -EAGAIN;
  }
  process.prepared = next_number_++;
  const std::int64_t descriptor = house_.prepare_child(process.program, process.prepared, now);
  if (descriptor < 0) return descriptor;
  task.answer.call.a = descriptor;
  task.answer.call.b = process.prepared;
  return 0;
}

CallResult System::forked(Process& process, Task& task, SimTime now) {
  const auto program = house_.adopt_child(process.program, task.call.a, now);
  if (!program) return -EAGAIN;
  auto child = std::make_unique<Process>();
  child->program = *program;
  child->number = process.prepared;
  child->parent = process.number;
  child->real = task.call.a;
  child->host = process.host;
  child->descriptors = process.descriptors;
  for (auto& [descriptor, file] : child->descriptors) ++file->opens;
  process.children.push_back(*program);
  processes_[*program] = std::move(child);
  return process.prepared;
}

void System::ended(std::uint32_t program, SimTime at) {
  const auto found = processes_.find(program);
  if (found == processes_.end() || found->second->over) return;
  Process& process = *found->second;
  process.over = true;
  for (std::uint32_t link = 0; link < process.tasks.size(); ++link) stop_waiting(process, link);
  while (!process.descriptors.empty()) close(process, process.descriptors.begin()->first, at);
  for (const std::uint32_t child : process.children) processes_.at(child)->parent = 1;
  Process* parent = process_numbered(process.parent);
  if (parent == nullptr || parent->over) return;
  // Whoever waits for a child looks again, whatever becomes of the signal.
  for (std::uint32_t link = 0; link < parent->tasks.size(); ++link) {
    const Task& task = parent->tasks[link];
    if (task.waiting && static_cast<protocol::SystemCall>(task.call.call) == protocol::SystemCall::wait_child) {
      house_.look_again(parent->program, link, at);
    }
  }
  deliver(*parent, SIGCHLD, at);
}

CallResult System::wait_child(Process& process, Task& task) {
  bool any = false;
  for (const std::uint32_t program : process.children) {
    Process& child = *processes_.at(program);
    if (child.waited_for || (task.call.a > 0 && child.number != static_cast<std::uint32_t>(task.call.a))) continue;
    any = true;
    if (!child.over) continue;
    if ((task.call.flags & WNOWAIT) == 0) child.waited_for = true;
    task.answer.call.a = child.real;
    return child.number;
  }
  return any ? std::nullopt : CallResult(-ECHILD);
}

CallResult System::kill(Process& process, const Task& task, SimTime now) {
  const auto signal = static_cast<int>(task.call.b);
  if (signal < 0 || signal > 64) return -EINVAL;
  const std::int64_t to = task.call.a;
  if (to > 0) {
    Process* target = process_numbered(static_cast<std::uint32_t>(to));
    if (target == nullptr) return -ESRCH;
    if (!target->over) deliver(*target, signal, now);
    return 0;
  }
  // Groups are not kept: a group is the process of its number and those that came from it.
  const auto leader = to == 0 ? process.number : static_cast<std::uint32_t>(-to);
  std::vector<Process*> targets;
  for (auto& [program, other] : processes_) {
    for (Process* up = other.get(); up != nullptr; up = process_numbered(up->parent)) {
      if (up->number != leader) continue;
      if (!other->over && other.get() != &process) targets.push_back(other.get());
      break;
    }
  }
  if (targets.empty()) return -ESRCH;
  for (Process* target : targets) deliver(*target, signal, now);
  return 0;
}

// A signal comes between two calls, or ends the one that the process waits in.
void System::deliver(Process& to, int signal, SimTime now) {
  if (signal == 0) return;
  const House::Taken taken = house_.takes(to.program, signal);
  if (taken == House::Taken::ignores) return;
  for (std::uint32_t link = 0; link < to.tasks.size(); ++link) {
    if (!to.tasks[link].waiting) continue;
    to.tasks[link].interrupted = true;
    house_.send_signal(to.program, signal, link);
    return house_.look_again(to.program, link, now);
  }
  if (taken == House::Taken::handles) {
    to.signalled = true;
    return house_.send_signal(to.program, signal, any_link);
  }
  house_.kill_process(to.program, signal);
}

}  // namespace isochron::programs
