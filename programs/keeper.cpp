#include "programs/keeper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "core/ensure.hpp"
#include "programs/process_stat.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

namespace {

constexpr char separator = '/';

/// The number of the program from which a process came, if it was started with the run's token in its environment.
std::optional<std::uint32_t> program_of(const char* pid, const std::string& run) {
  const std::string path = std::string("/proc/") + pid + "/environ";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const std::string wanted = std::string(protocol::run_environment) + "=" + run + separator;
  std::string text;
  char part[4096];
  ssize_t size = 0;
  while (text.size() < (1u << 20) && (size = read(file, part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(size));
  close(file);
  for (std::size_t at = 0; at < text.size(); at += std::strlen(text.c_str() + at) + 1) {
    const std::string_view entry = text.c_str() + at;
    if (!entry.starts_with(wanted)) continue;
    return static_cast<std::uint32_t>(std::strtoul(text.c_str() + at + wanted.size(), nullptr, 10));
  }
  return std::nullopt;
}

/// Calls `found(pid, program)` for each process of the run but this one.
template <class Found>
void for_each_of_run(const std::string& run, Found&& found) {
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid == getpid()) continue;
    if (const auto program = program_of(entry->d_name, run)) found(pid, *program);
  }
  closedir(folder);
}

/// Whether there was any; `killed` has each once, however long it takes to die.
bool sweep(const std::string& run, std::set<pid_t>& killed) {
  bool any = false;
  for_each_of_run(run, [&](pid_t pid, std::uint32_t) {
    if (kill(pid, SIGKILL) != 0) return;
    any = true;
    killed.insert(pid);
  });
  return any;
}

[[noreturn]] void keep(int line, const std::string& token) {
  setsid();
  prctl(PR_SET_NAME, "isochron-keeper");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  dup2(line, 3);
  syscall(SYS_close_range, 4u, ~0u, 0u);
  sched_param priority{};
  priority.sched_priority = 95;  // a program that spins at real-time priority must not hold it up
  sched_setscheduler(0, SCHED_FIFO, &priority);
  char word = 0;
  const ssize_t got = read(3, &word, 1);
  if (got != 1) kill_all_of_run(token);
  _exit(0);
}

}  // namespace

std::string token_of(const std::string& run, std::uint32_t program) {
  return run + separator + std::to_string(program);
}

std::vector<Relative> relatives_of_run(const std::string& run) {
  std::vector<Relative> found;
  for_each_of_run(run, [&](pid_t pid, std::uint32_t program) {
    const auto stat = stat_of(pid);
    if (stat && stat->state != 'Z') found.push_back({pid, program, stat->used + stat->by_children});
  });
  return found;
}

int kill_all_of_run(const std::string& run) {
  // What forks while we look is found by the next sweep; a fork bomb is outrun because its members die faster than one
  // sweep takes, or the bound ends it.
  std::set<pid_t> killed;
  for (int round = 0; round < 50 && sweep(run, killed); ++round) usleep(1000);
  return static_cast<int>(killed.size());
}

Keeper::Keeper(std::string token) {
  int line[2];
  ENSURE(pipe2(line, O_CLOEXEC) == 0, "no descriptors left");
  pid_ = fork();
  ENSURE(pid_ >= 0, "no process can be started");
  if (pid_ == 0) {
    close(line[1]);
    keep(line[0], token);
  }
  close(line[0]);
  line_ = line[1];
}

Keeper::~Keeper() {
  const char done = 'q';
  [[maybe_unused]] const ssize_t told = write(line_, &done, 1);
  close(line_);
  waitpid(pid_, nullptr, 0);
}

}  // namespace isochron::programs
