#include "programs/board/local_target.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace isochron::programs {
namespace {

constexpr long period_us = 10'000;

bool write_text(const std::string& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return written;
}

/// In the child: only what is safe after fork().
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment, pid_t parent,
                         int group) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::signal(SIGINT, SIG_IGN);  // Ctrl-C stops the host, which tells the target
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  if (group >= 0 && ::write(group, "0", 1) != 1) {
    // Not every kernel has quotas for real-time processes, and whoever started us may be one.
    const sched_param ordinary{};
    ::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    if (::write(group, "0", 1) != 1) ::_exit(126);
  }
  ::execvpe(arguments[0], arguments.data(), environment.data());
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_of(const LocalTargetSpec& spec) {
  std::vector<std::string> all;
  for (const auto& [name, value] : spec.environment) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool set = false;
    for (const auto& [own, value] : spec.environment) set = set || own == name;
    if (!set) all.push_back(text);
  }
  return all;
}

}  // namespace

Result<std::string, std::string> make_cpu_group(double part) {
  static std::atomic<int> count{0};
  const std::string name = "/isochron." + std::to_string(::getpid()) + "." + std::to_string(++count);
  const long quota = std::max(1000L, static_cast<long>(part * static_cast<double>(period_us)));
  const long period = static_cast<long>(static_cast<double>(quota) / part);
  for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    const std::string folder = root + name;
    if (::mkdir(folder.c_str(), 0755) != 0) continue;
    if (write_text(folder + "/cpu.cfs_period_us", std::to_string(period)) &&
        write_text(folder + "/cpu.cfs_quota_us", std::to_string(quota))) {
      write_text(folder + "/cpu.shares", "262144");  // its part comes before what else the machine does
      write_text(folder + "/cpu.rt_period_us", std::to_string(period));
      write_text(folder + "/cpu.rt_runtime_us", std::to_string(quota));
      return folder;
    }
    ::rmdir(folder.c_str());
  }
  const std::string folder = "/sys/fs/cgroup" + name;
  if (::mkdir(folder.c_str(), 0755) == 0) {
    if (write_text(folder + "/cpu.max", std::to_string(quota) + " " + std::to_string(period))) {
      write_text(folder + "/cpu.weight", "10000");
      return folder;
    }
    ::rmdir(folder.c_str());
  }
  return fail(std::string("no cgroup with a CPU quota can be made here: ") + std::strerror(errno) +
              "; run as root, or leave cpu_quota out");
}

Result<LocalTarget, std::string> LocalTarget::start(const LocalTargetSpec& spec) {
  LocalTarget target;
  target.name_ = spec.name;
  int group = -1;
  if (spec.cpu_quota > 0) {
    auto made = make_cpu_group(spec.cpu_quota);
    if (!made.ok()) return fail(spec.name + ": " + made.error());
    target.group_ = *made;
    group = ::open((target.group_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  }
  std::vector<std::string> run = spec.run, environment = environment_of(spec);
  const std::vector<char*> arguments = pointers(run), variables = pointers(environment);
  const pid_t parent = ::getpid();
  target.pid_ = ::fork();
  if (target.pid_ == 0) become(arguments, variables, parent, group);
  if (group >= 0) ::close(group);
  if (target.pid_ < 0) return fail(spec.name + " cannot be started: " + std::strerror(errno));
  return target;
}

LocalTarget::LocalTarget(LocalTarget&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, -1)),
      group_(std::exchange(other.group_, "")),
      how_(std::move(other.how_)),
      failed_(other.failed_) {}

LocalTarget::~LocalTarget() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  for (int i = 0; !group_.empty() && i < 50; ++i) {
    if (::rmdir(group_.c_str()) == 0 || errno == ENOENT) break;
    ::usleep(2000);  // the kernel lets go of a group some time after its last process
  }
}

std::optional<std::string> LocalTarget::ended() {
  if (pid_ < 0) return how_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  failed_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  if (WIFSIGNALED(status)) {
    how_ = "was killed by signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) == 126) {
    how_ = "could not be started with its CPU quota (exited with 126)";
  } else if (WEXITSTATUS(status) == 127) {
    how_ = "could not be started (exited with 127)";
  } else {
    how_ = "exited with " + std::to_string(WEXITSTATUS(status));
  }
  return how_;
}

}  // namespace isochron::programs
